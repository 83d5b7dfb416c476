//go:build cgo

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/gramengine/gram"
)

// object is the Go value behind a handle.
type object interface {
	kind() string
	about() any                    // value that is encoded as the array "json"
	arrays() map[string]arrayMaker // all other arrays, indexed by name
}

// array is a row-major array for C. Its data is a []byte, []int32, []int64, []float32 or []float64.
type array struct {
	data          any
	rows, columns int
}

func column[T any](data []T) *array { return &array{data, len(data), 1} }

// arrayMaker creates an array of an object. It returns nil if the object has no such array.
type arrayMaker func(c *call) (*array, error)

// existingArray returns an arrayMaker that returns data as one column.
func existingArray[T any](data []T) arrayMaker {
	return func(*call) (*array, error) { return column(data), nil }
}

// rowsMaker returns an arrayMaker for rows of equal length. If rows is empty, the arrayMaker
// returns nil.
func rowsMaker(rows [][]float64) arrayMaker {
	return func(*call) (*array, error) {
		if len(rows) == 0 {
			return nil, nil
		}
		return &array{slices.Concat(rows...), len(rows), len(rows[0])}, nil
	}
}

// entry is an object with its pinned arrays and its reference count.
type entry struct {
	object
	refCount int // number of calls in progress, plus 1 while the handle is valid

	mu    sync.Mutex
	views map[string]pinnedArray
	pins  runtime.Pinner
}

// registry maps handles to objects. Handles are assigned in increasing order and never reused.
type registry struct {
	mu      sync.Mutex
	last    uintptr
	entries map[uintptr]*entry
}

var objects = registry{entries: map[uintptr]*entry{}}

func (r *registry) add(o object) uintptr {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	r.entries[r.last] = &entry{object: o, refCount: 1, views: map[string]pinnedArray{}}
	return r.last
}

func (r *registry) unknownHandle(handle uintptr) error {
	if handle == 0 {
		return fmt.Errorf("gram: object handle must not be 0")
	}
	if handle <= r.last {
		return fmt.Errorf("gram: object %d was freed", handle)
	}
	return fmt.Errorf("gram: object %d does not exist", handle)
}

func (r *registry) drop(handle uintptr) error {
	r.mu.Lock()
	e, ok := r.entries[handle]
	delete(r.entries, handle)
	r.mu.Unlock()
	if !ok {
		return r.unknownHandle(handle)
	}
	return r.release([]*entry{e})
}

// release decrements the reference count of each entry. It closes entries whose count becomes 0.
func (r *registry) release(entries []*entry) (err error) {
	for _, e := range entries {
		r.mu.Lock()
		e.refCount--
		last := e.refCount == 0
		r.mu.Unlock()
		if last {
			e.pins.Unpin()
			if m, is := e.object.(*model); is {
				for _, ready := range m.prepared {
					err = cmp.Or(err, ready.Close())
				}
			}
		}
	}
	return err
}

// objectOf returns the object for a handle. It fails if the object isn't a T.
func objectOf[T object](c *call, handle uintptr) (T, error) {
	var want T
	e, err := c.acquire(handle)
	if err != nil {
		return want, err
	}
	o, ok := e.object.(T)
	if !ok {
		return want, fmt.Errorf("gram: object %d must be of type %s, got %s", handle, want.kind(), e.kind())
	}
	return o, nil
}

// view has the layout of gram_view. data is a uintptr, because the caller's struct may contain a
// dangling pointer, on which Go's write barrier could crash.
type view struct {
	data          uintptr
	rows, columns int64
	kind          int32
}

type pinnedArray struct {
	*array
	view
}

// elementCodes maps element types to their codes in gram.h.
var elementCodes = map[reflect.Kind]int32{
	reflect.Uint8: 0, reflect.Int32: 1, reflect.Int64: 2, reflect.Float32: 3, reflect.Float64: 4,
}

// view returns the named array, which stays pinned until the object is freed.
func (e *entry) view(c *call, name string) (view, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, changes := e.object.(*index)
	before, ok := e.views[name]
	if ok && !changes {
		return before.view, nil
	}
	a, err := e.array(c, name)
	if err != nil {
		return view{}, err
	}
	if ok && bytes.Equal(before.array.data.([]byte), a.data.([]byte)) {
		return before.view, nil
	}
	var v view
	if a != nil {
		data := reflect.ValueOf(a.data)
		v = view{data.Pointer(), int64(a.rows), int64(a.columns), elementCodes[data.Type().Elem().Kind()]}
		if data.Len() > 0 {
			e.pins.Pin(data.UnsafePointer())
		}
	}
	e.views[strings.Clone(name)] = pinnedArray{a, v} // cloned, because name is in the caller's memory
	return v, nil
}

func (e *entry) array(c *call, name string) (*array, error) {
	if name == "json" {
		text, err := encode(e.about(), e.kind())
		return column(text), err
	}
	all := e.arrays()
	if make, ok := all[name]; ok {
		return make(c)
	}
	names := append(slices.Sorted(maps.Keys(all)), "json")
	return nil, fmt.Errorf("gram: unknown array %q of a %s; valid names are %s", name, e.kind(), strings.Join(names, ", "))
}

func free(_ *call, a *arguments, _ *gram.Options) (object, error) {
	if a.object == 0 {
		return nil, nil
	}
	return nil, objects.drop(a.object)
}

func viewOf(c *call, a *arguments, _ *gram.Options) (object, error) {
	name, err := a.name.string("name")
	if err != nil {
		return nil, err
	}
	e, err := c.acquire(a.object)
	if err != nil {
		return nil, err
	}
	*a.view, err = e.view(c, name)
	return nil, err
}

type text struct{ span[byte] }

// string returns the text without copying the caller's memory. what names the text in errors.
func (t text) string(what string) (string, error) {
	b, err := t.slice(what)
	return unsafe.String(unsafe.SliceData(b), len(b)), err
}

// span is a pointer to elements and the number of elements.
type span[T any] struct {
	data  *T
	count int64
}

// maxBytes is the maximum size of an array in bytes. No process has this much memory (128 TiB).
const maxBytes = 1 << 47

// slice returns the elements without copying the caller's memory. what names the span in errors.
func (s span[T]) slice(what string) ([]T, error) {
	size := unsafe.Sizeof(*new(T))
	switch {
	case s.count < 0 || s.count > maxBytes/int64(size):
		return nil, fmt.Errorf("gram: %s must have a length between 0 and %d, got %d", what, maxBytes/int64(size), s.count)
	case s.count == 0:
		return nil, nil
	case s.data == nil:
		return nil, fmt.Errorf("gram: %s must not be NULL, because its length is %d", what, s.count)
	case uintptr(unsafe.Pointer(s.data))%unsafe.Alignof(*new(T)) != 0:
		return nil, fmt.Errorf("gram: %s must be aligned to %d bytes", what, size)
	}
	return unsafe.Slice(s.data, s.count), nil
}

// sliceN is like slice, but fails unless there are n elements.
func (s span[T]) sliceN(n int64, what string) ([]T, error) {
	if s.count != n {
		return nil, fmt.Errorf("gram: %s must have length %d, got %d", what, n, s.count)
	}
	return s.slice(what)
}

// stringList has the layout of gram_strings.
type stringList struct {
	data  **byte
	sizes *int64
	count int64
}

// listN is like list, but fails unless there are n texts.
func (s *stringList) listN(n int64, what string) ([]string, error) {
	if s != nil && s.count != n {
		return nil, fmt.Errorf("gram: %s must have length %d, got %d", what, n, s.count)
	}
	return s.list(what)
}

// list returns the texts without copying the caller's memory.
func (s *stringList) list(what string) ([]string, error) {
	if s == nil {
		return nil, fmt.Errorf("gram: %s must not be NULL", what)
	}
	data, err := span[*byte]{s.data, s.count}.slice(what)
	if err != nil {
		return nil, err
	}
	sizes, err := span[int64]{s.sizes, s.count}.slice("sizes of " + what)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(data))
	for i, d := range data {
		if out[i], err = (text{span[byte]{d, sizes[i]}}).string(what); err != nil {
			return nil, fmt.Errorf("%w (element %d)", err, i)
		}
	}
	return out, nil
}
