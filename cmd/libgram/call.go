//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"slices"
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

// The codes are defined in gram.h.
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

// arguments has the layout of struct arguments in gram.c. Each function uses some fields.
type arguments struct {
	options text
	result  *uintptr // address for the handle of the new object
	x, y    *documents
	texts   *stringList
	object  uintptr
	name    text // name of a file, source or array, or contents of a file
	i, k    int64
	numbers span[int64]
	floats  span[float32]
	doubles span[float64]
	view    *view
}

// call is the state of a call in progress.
type call struct {
	ctx   context.Context
	in    *request
	held  []*entry   // objects in use, released after the call
	mu    sync.Mutex // guards the fields below, and is held during a callback
	ended bool       // true after the call, when callbacks are forbidden

	last  gram.Progress
	again *time.Timer // timer that reports last again
}

// function implements a C function. It returns the new object, or nil if no object is created.
type function func(c *call, a *arguments) (object, error)

// with returns a function that decodes the options and then calls f.
func with[O any](f func(c *call, a *arguments, o *O) (object, error)) function {
	return func(c *call, a *arguments) (object, error) {
		o := new(O)
		if err := c.options(a.options, o); err != nil {
			return nil, err
		}
		return f(c, a, o)
	}
}

// functions maps the function names in gram.h to their implementations.
var functions = map[string]function{
	"gram_free":           with(free),
	"gram_read":           with(read),
	"gram_corpus":         with(makeCorpus),
	"gram_gram":           with(kernelValues),
	"gram_neighbours":     with(neighbours),
	"gram_duplicates":     with(duplicates),
	"gram_train":          with(train),
	"gram_cross_validate": with(crossValidate),
	"gram_search":         with(search),
	"gram_predict":        with(predict),
	"gram_explain":        with(explain),
	"gram_pca":            with(findComponents),
	"gram_project":        with(project),
	"gram_index":          with(makeIndex),
	"gram_index_add":      with(indexAdd),
	"gram_index_remove":   with(indexRemove),
	"gram_index_query":    with(indexQuery),
	"gram_index_refit":    with(indexRefit),
	"gram_load":           with(load),
	"gram_load_bytes":     with(loadBytes),
	"gram_save":           with(save),
	"gram_array":          with(viewOf),
}

// run calls f and returns its return code. If f panics, the code is codeInternal.
func run(in *request, f function, a *arguments) code {
	c := &call{in: in}
	o, err := c.guarded(f, a)
	if err == nil && o != nil {
		*a.result = objects.add(o)
	}
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

// guarded calls f on a new goroutine, and converts a panic to an error. On the calling goroutine,
// which is locked to the caller's thread, each wait would cost a thread switch. This would double
// the time for computing a Gram matrix of two documents.
func (c *call) guarded(f function, a *arguments) (o object, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer c.watch()()
		defer func() {
			if v := recover(); v != nil {
				o, err = nil, &panicked{v, debug.Stack()}
			}
		}()
		o, err = f(c, a)
	}()
	<-done
	return o, err
}

// everyTell is the interval after which the last progress is reported again.
const everyTell = 800 * time.Millisecond

// everyPoll is the interval for polling *cancel.
const everyPoll = 20 * time.Millisecond

// watch sets c.ctx, which is cancelled when *cancel becomes nonzero. After stop returns, *cancel is
// no longer read.
func (c *call) watch() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	c.ctx = ctx
	flag := c.in.cancel
	if flag == nil {
		return cancel
	}
	if atomic.LoadInt32(flag) != 0 {
		cancel()
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-time.After(everyPoll):
				if atomic.LoadInt32(flag) != 0 {
					cancel()
				}
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// answer copies the error message to the caller's buffer, and returns the code.
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

// cut truncates text at a character boundary. most is the maximum length in bytes.
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
	is := func(targets ...any) bool {
		return slices.ContainsFunc(targets, func(target any) bool { return errors.As(err, target) })
	}
	switch {
	case is(new(*panicked), new(*corpus.PanicError)):
		return codeInternal
	case errors.Is(err, context.Canceled):
		return codeCancelled
	case is(new(*corpus.MemoryError)):
		return codeMemory
	case is(new(*fs.PathError), new(*os.LinkError), new(*os.SyscallError), new(syscall.Errno)):
		return codeFile
	}
	return codeInvalid
}

// take returns the entry for a handle. The object stays alive until the call ends.
func (c *call) take(handle uintptr) (*entry, error) {
	objects.mu.Lock()
	defer objects.mu.Unlock()
	e, ok := objects.of[handle]
	if !ok {
		return nil, objects.unknown(handle)
	}
	e.users++
	c.held = append(c.held, e)
	return e, nil
}

// tell runs callback unless the call has ended. Callbacks run one at a time.
func (c *call) tell(callback func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		callback()
	}
}

// progress reports p to the caller. It repeats the report at intervals of everyTell until progress
// is called again.
func (c *call) progress(p gram.Progress) {
	if c.in.progress == nil {
		return
	}
	c.tell(func() {
		if c.last = p; c.again == nil {
			c.again = time.AfterFunc(everyTell, func() { c.tell(c.repeat) })
		}
		c.repeat()
	})
}

// repeat reports c.last and restarts the timer.
func (c *call) repeat() {
	c.in.toProgress(append([]byte(c.last.Stage), 0), c.last.Done, c.last.Total)
	c.again.Reset(everyTell)
}

func (c *call) warn(warning string) {
	c.tell(func() {
		if c.in.warn != nil {
			c.in.toWarn(append([]byte(withKeys(warning)), 0))
		}
	})
}
