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

// code is a return code of the C functions.
type code int32

// The same codes as in gram.h.
const (
	codeOK code = iota
	codeInvalid
	codeMemory
	codeCancelled
	codeFile
	codeInternal
)

// request has the layout of gram_call.
type request struct {
	cancel         *int32
	progress, warn unsafe.Pointer
	user           unsafe.Pointer
	error          *byte
	errorSize      int64
}

// call is the state of a call in progress.
type call struct {
	ctx   context.Context
	in    *request
	held  []*entry   // objects in use
	mu    sync.Mutex // makes callbacks sequential
	ended bool       // set after the call, when callbacks are no longer allowed

	warnings []string
}

// function is a function for C. arguments points to a struct with the layout in gram.c.
type function func(c *call, arguments unsafe.Pointer) error

// with converts a function with typed arguments.
func with[A any](f func(c *call, a *A) error) function {
	return func(c *call, arguments unsafe.Pointer) error { return f(c, (*A)(arguments)) }
}

// makes converts a function that returns an object. It stores the object's handle, or 0 on failure.
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

// functions lists the functions of gram.h by name.
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

// run calls a function and converts its error or panic to a code and a message.
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

// panicked is the error for a panic in the library.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("gram: a fault: %v\n\n%s", p.value, p.stack) }

// guarded calls f on a new goroutine. The calling goroutine is locked to C's thread, so that each
// wait would switch threads: the Gram matrix of two documents would take twice as long.
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

// everyTell is the interval for repeating the last progress if nothing changes.
const everyTell = 800 * time.Millisecond

// everyPoll is the interval for polling *cancel; a test shortens it.
var everyPoll = 20 * time.Millisecond

// watcher cancels a context when *cancel becomes nonzero.
type watcher struct {
	flag   *int32
	cancel context.CancelFunc

	mu    sync.Mutex
	over  bool
	timer *time.Timer
}

// watch starts polling *cancel until stop is called. Short calls start no goroutine.
func (c *call) watch() (stop func()) {
	if c.in.cancel == nil {
		c.ctx = context.Background()
		return func() {}
	}
	w := &watcher{flag: c.in.cancel}
	c.ctx, w.cancel = context.WithCancel(context.Background())
	w.mu.Lock() // the timer may fire before w.timer is set
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

// answer writes the error message to the caller's buffer, and returns the code.
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

// cut shortens text to at most most bytes, between two characters.
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

// take returns the object of a handle. It stays alive until the end of the call.
func (c *call) take(handle uintptr) (*entry, error) {
	e, err := objects.take(handle)
	if err == nil {
		c.held = append(c.held, e)
	}
	return e, err
}

// tell runs a callback, one at a time, and not after the call, which objects outlive.
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

// use sets the callbacks of o to those of the call, and records warnings.
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
