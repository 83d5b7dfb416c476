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

type code int32

// These codes are defined in gram.h.
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

// arguments has the layout of struct arguments in gram.c. Each function uses only some fields.
type arguments struct {
	options text
	result  *uintptr // address for the handle of the new object
	x, y    *documents
	texts   *stringList
	object  uintptr
	name    text // name of a file, source or array; or contents of a file
	i, k    int64
	numbers span[int64]
	floats  span[float32]
	doubles span[float64]
	view    *view
}

// call is the state of a call in progress.
type call struct {
	ctx     context.Context
	in      *request
	entries []*entry   // objects in use, released after the call
	mu      sync.Mutex // guards the fields below, and is held during a callback
	ended   bool       // true after the call, when callbacks are forbidden

	last        gram.Progress
	repeatTimer *time.Timer // timer that reports last again
}

// function implements a C function. It returns the new object, or nil if no object is created.
type function func(c *call, a *arguments) (object, error)

// withOptions returns a function that decodes the options and then calls f.
func withOptions[O any](f func(c *call, a *arguments, o *O) (object, error)) function {
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
	"gram_free":           withOptions(free),
	"gram_read":           withOptions(read),
	"gram_corpus":         withOptions(newCorpus),
	"gram_gram":           withOptions(computeKernel),
	"gram_neighbours":     withOptions(findNeighbours),
	"gram_duplicates":     withOptions(findDuplicates),
	"gram_train":          withOptions(train),
	"gram_cross_validate": withOptions(crossValidate),
	"gram_search":         withOptions(search),
	"gram_predict":        withOptions(predict),
	"gram_explain":        withOptions(explain),
	"gram_pca":            withOptions(computeComponents),
	"gram_project":        withOptions(project),
	"gram_index":          withOptions(newIndex),
	"gram_index_add":      withOptions(addToIndex),
	"gram_index_remove":   withOptions(removeFromIndex),
	"gram_index_query":    withOptions(queryIndex),
	"gram_index_refit":    withOptions(refitIndex),
	"gram_load":           withOptions(load),
	"gram_load_bytes":     withOptions(loadBytes),
	"gram_save":           withOptions(save),
	"gram_array":          withOptions(viewOf),
}

// run calls f and returns its return code. If f panics, the code is codeInternal.
func run(in *request, f function, a *arguments) code {
	c := &call{in: in}
	o, err := c.recoverPanic(f, a)
	if err == nil && o != nil {
		*a.result = objects.add(o)
	}
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	objects.release(c.entries)
	collect()
	return in.setError(err)
}

// panicError is the error for a panic in the library.
type panicError struct {
	value any
	stack []byte
}

func (p *panicError) Error() string { return fmt.Sprintf("gram: a fault: %v\n\n%s", p.value, p.stack) }

// recoverPanic calls f on a new goroutine, and converts a panic to an error. On the calling
// goroutine, which is locked to the caller's thread, each wait would cost a thread switch. This
// would double the time for computing a Gram matrix of two documents.
func (c *call) recoverPanic(f function, a *arguments) (o object, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer c.watch()()
		defer func() {
			if v := recover(); v != nil {
				o, err = nil, &panicError{v, debug.Stack()}
			}
		}()
		o, err = f(c, a)
	}()
	<-done
	return o, err
}

// repeatInterval is the interval after which the last progress is reported again.
const repeatInterval = 800 * time.Millisecond

// pollInterval is the interval for polling *cancel.
const pollInterval = 20 * time.Millisecond

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
			case <-time.After(pollInterval):
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

// setError copies the error message to the caller's buffer, and returns the code.
func (r *request) setError(err error) code {
	if err == nil {
		return codeOK
	}
	if r.error != nil && r.errorSize > 0 {
		to := unsafe.Slice(r.error, r.errorSize)
		to[copy(to, truncate(withKeys(err.Error()), int(r.errorSize)-1))] = 0
	}
	return codeOf(err)
}

// truncate shortens text to at most the given number of bytes, at a character boundary.
func truncate(text string, most int) string {
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
	case is(new(*panicError), new(*corpus.PanicError)):
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

// acquire returns the entry for a handle. The object stays alive until the call ends.
func (c *call) acquire(handle uintptr) (*entry, error) {
	objects.mu.Lock()
	defer objects.mu.Unlock()
	e, ok := objects.entries[handle]
	if !ok {
		return nil, objects.unknownHandle(handle)
	}
	e.refCount++
	c.entries = append(c.entries, e)
	return e, nil
}

// callBack runs callback unless the call has ended. Callbacks run one at a time.
func (c *call) callBack(callback func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		callback()
	}
}

// progress reports p to the caller. It repeats the report at intervals of repeatInterval until the
// next report or the end of the call.
func (c *call) progress(p gram.Progress) {
	if c.in.progress == nil {
		return
	}
	c.callBack(func() {
		if c.last = p; c.repeatTimer == nil {
			c.repeatTimer = time.AfterFunc(repeatInterval, func() { c.callBack(c.repeat) })
		}
		c.repeat()
	})
}

// repeat reports c.last and restarts the timer.
func (c *call) repeat() {
	c.in.toProgress(append([]byte(c.last.Stage), 0), c.last.Done, c.last.Total)
	c.repeatTimer.Reset(repeatInterval)
}

func (c *call) warn(warning string) {
	c.callBack(func() {
		if c.in.warn != nil {
			c.in.toWarn(append([]byte(withKeys(warning)), 0))
		}
	})
}
