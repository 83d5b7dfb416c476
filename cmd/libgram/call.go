//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
)

// code is what a function returns.
type code int32

// The codes, as in gram.h.
const (
	codeOK code = iota
	codeInvalid
	codeMemory
	codeCancelled
	codeFile
	codeInternal
)

// request is a gram_call.
type request struct {
	cancel         *int32
	progress, warn unsafe.Pointer
	user           unsafe.Pointer
	error          *byte
	errorSize      int64
}

// call is a call of a function that is under way.
type call struct {
	ctx   context.Context
	in    *request
	held  []*entry   // objects that it uses
	mu    sync.Mutex // callbacks come one at a time
	ended bool       // and none afterwards

	warnings []string
}

// function is what C calls: arguments are words, as they stand in gram.c.
type function func(c *call, arguments unsafe.Pointer) error

// with makes a function of one whose arguments are a struct.
func with[A any](f func(c *call, a *A) error) function {
	return func(c *call, arguments unsafe.Pointer) error { return f(c, (*A)(arguments)) }
}

// makes wraps a function that returns an object, and stores the object's handle, or 0 if the function fails.
func makes[A any, P interface {
	*A
	place() *uintptr
}](f func(c *call, a *A) (object, error)) func(c *call, a *A) error {
	return func(c *call, a *A) error {
		to := P(a).place()
		if to == nil {
			return errors.New("gram: NULL for the object that is returned, expected a pointer")
		}
		*to = 0
		o, err := f(c, a)
		if err == nil {
			*to = objects.add(o)
		}
		return err
	}
}

// functions are those of gram.h.
var functions = map[string]function{
	"gram_free":           with(free),
	"gram_read":           with(makes(read)),
	"gram_corpus":         with(makes(makeCorpus)),
	"gram_gram":           with(kernelValues),
	"gram_neighbours":     with(neighbours),
	"gram_duplicates":     with(duplicates),
	"gram_train":          with(makes(train)),
	"gram_cross_validate": with(makes(crossValidate)),
	"gram_search":         with(makes(search)),
	"gram_predict":        with(makes(predict)),
	"gram_explain":        with(makes(explain)),
	"gram_pca":            with(makes(findComponents)),
	"gram_project":        with(project),
	"gram_index":          with(makes(makeIndex)),
	"gram_index_add":      with(indexAdd),
	"gram_index_remove":   with(indexRemove),
	"gram_index_query":    with(makes(indexQuery)),
	"gram_index_refit":    with(indexRefit),
	"gram_load":           with(makes(load)),
	"gram_load_bytes":     with(makes(loadBytes)),
	"gram_save":           with(save),
	"gram_array":          with(viewOf),
}

// run calls a function, and makes a code and a message of its error or panic.
func run(in *request, f function, arguments unsafe.Pointer) code {
	if in == nil {
		in = &request{}
	}
	c := &call{in: in}
	stop := c.watch()
	err := c.guarded(f, arguments)
	stop()
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	objects.release(c.held)
	collect()
	return in.answer(err)
}

// panicked is a panic of the library.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("gram: a fault: %v\n\n%s", p.value, p.stack) }

// guarded calls f on a goroutine of its own. That on which C called is bound to C's thread, so that each wait for
// another goroutine would switch threads: the Gram matrix of two documents would take twice as long.
func (c *call) guarded(f function, arguments unsafe.Pointer) error {
	done := make(chan error)
	go func() {
		defer func() {
			if v := recover(); v != nil {
				done <- &panicked{v, debug.Stack()}
			}
		}()
		done <- f(c, arguments)
	}()
	return <-done
}

// everyTell is after how long without news of a stage callers hear of it again.
const everyTell = 800 * time.Millisecond

// everyPoll is how often *cancel is looked at; a test makes it shorter.
var everyPoll = 20 * time.Millisecond

// watcher ends a context once *cancel isn't 0.
type watcher struct {
	flag   *int32
	cancel context.CancelFunc

	mu    sync.Mutex
	over  bool
	timer *time.Timer
}

// watch begins to look at *cancel. After stop nothing does. A short call takes no other goroutine.
func (c *call) watch() (stop func()) {
	if c.in.cancel == nil {
		c.ctx = context.Background()
		return func() {}
	}
	w := &watcher{flag: c.in.cancel}
	c.ctx, w.cancel = context.WithCancel(context.Background())
	w.mu.Lock() // which the first poll waits for: the timer may fire before it is stored
	w.timer = time.AfterFunc(everyPoll, w.poll)
	w.mu.Unlock()
	w.poll()
	return w.stop
}

func (w *watcher) poll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.over:
	case atomic.LoadInt32(w.flag) != 0:
		w.cancel()
	default:
		w.timer.Reset(everyPoll)
	}
}

func (w *watcher) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.timer.Stop()
	w.cancel()
}

// answer writes the message of an error to the caller, and returns its code.
func (r *request) answer(err error) code {
	if err == nil {
		return codeOK
	}
	if r.error != nil && r.errorSize > 0 {
		to := unsafe.Slice(r.error, r.errorSize)
		to[copy(to, cut(withKeys(err.Error()), int(r.errorSize)-1))] = 0
	}
	return codeOf(err)
}

// cut cuts a text to so many bytes, between two characters.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

func codeOf(err error) code {
	var memory *corpus.MemoryError
	var inside *corpus.PanicError
	var own *panicked
	var path *fs.PathError
	var link *os.LinkError
	var system *os.SyscallError
	var number syscall.Errno
	switch {
	case errors.As(err, &own), errors.As(err, &inside):
		return codeInternal
	case errors.Is(err, context.Canceled):
		return codeCancelled
	case errors.As(err, &memory):
		return codeMemory
	case errors.As(err, &path), errors.As(err, &link), errors.As(err, &system), errors.As(err, &number):
		return codeFile
	}
	return codeInvalid
}

// take returns the object of a handle, until the end of the call.
func (c *call) take(handle uintptr) (*entry, error) {
	e, err := objects.take(handle)
	if err == nil {
		c.held = append(c.held, e)
	}
	return e, err
}

// tell calls a callback, one at a time, unless the call has ended: objects live longer than the call that made them.
func (c *call) tell(callback func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		callback()
	}
}

// said returns the warnings so far.
func (c *call) said() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.warnings[:len(c.warnings):len(c.warnings)]
}

// use sets the callbacks of options to those of the call, and has the call keep the warnings.
func (c *call) use(o *gram.Options) {
	if c.in.progress != nil {
		var again *time.Timer
		var last gram.Progress
		send := func() {
			c.in.toProgress(append([]byte(last.Stage), 0), last.Done, last.Total)
			again.Reset(everyTell)
		}
		o.Progress = func(p gram.Progress) {
			c.tell(func() {
				if last = p; again == nil {
					again = time.AfterFunc(everyTell, func() { c.tell(send) })
				}
				send()
			})
		}
	}
	o.Warn = func(warning string) {
		c.tell(func() {
			if c.warnings = append(c.warnings, warning); c.in.warn != nil {
				c.in.toWarn(append([]byte(withKeys(warning)), 0))
			}
		})
	}
}
