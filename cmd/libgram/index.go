//go:build cgo

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/tiles/atomicfile"
)

type index struct{ *gram.Index }

func (*index) kind() string { return "index" }
func (*index) close() error { return nil }
func (x *index) about() any { return x.Age() }

func (x *index) arrays() map[string]arrayMaker {
	return map[string]arrayMaker{"bytes": bytesOf(x)}
}

// written is an object that can be saved to a file.
type written interface {
	object
	write(c *call, w io.Writer) error
}

func (m *model) write(c *call, w io.Writer) error { return m.Write(c.ctx, w) }
func (x *index) write(c *call, w io.Writer) error { return x.Write(w) }

// bytesOf returns a maker for an array with the file's contents.
func bytesOf(o written) arrayMaker {
	return func(c *call) (*array, error) {
		var b bytes.Buffer
		err := o.write(c, &b)
		return column(b.Bytes()), err
	}
}

type indexArguments struct {
	options text
	result
	texts *stringList
}

// makeIndex implements gram_index.
func makeIndex(c *call, a *indexArguments) (object, error) {
	var o gram.IndexOptions
	if err := c.options(a.options, &o, &o.Options); err != nil {
		return nil, err
	}
	texts, err := a.texts.list("texts")
	if err != nil {
		return nil, err
	}
	x, err := gram.NewIndex(c.ctx, texts, o)
	return &index{x}, err
}

type addArguments struct {
	index   uintptr
	texts   *stringList
	numbers span[int64]
}

// indexAdd implements gram_index_add.
func indexAdd(c *call, a *addArguments) error {
	x, err := objectOf[*index](c, a.index)
	if err != nil {
		return err
	}
	texts, err := a.texts.list("texts")
	if err != nil {
		return err
	}
	out, err := a.numbers.exactly(int64(len(texts)), "out_numbers")
	if err != nil {
		return err
	}
	numbers, err := x.Add(c.ctx, texts...)
	copy(out, wideInts(numbers))
	return err
}

type removeArguments struct {
	index   uintptr
	numbers span[int64]
}

// indexRemove implements gram_index_remove.
func indexRemove(c *call, a *removeArguments) error {
	x, err := objectOf[*index](c, a.index)
	if err != nil {
		return err
	}
	list, err := a.numbers.slice("numbers")
	if err != nil {
		return err
	}
	numbers := make([]int, len(list))
	for i, n := range list {
		numbers[i] = int(n)
	}
	return x.Remove(numbers...)
}

type queryArguments struct {
	options text
	result
	index uintptr
	texts *stringList
}

// indexQuery implements gram_index_query.
func indexQuery(c *call, a *queryArguments) (object, error) {
	var o struct {
		gram.Options
		K      int
		Within *float64
	}
	if err := c.options(a.options, &o, &o.Options); err != nil {
		return nil, err
	}
	x, err := objectOf[*index](c, a.index)
	if err != nil {
		return nil, err
	}
	texts, err := a.texts.list("texts")
	if err != nil {
		return nil, err
	}
	found, err := x.Query(c.ctx, texts, gram.IndexQuery{K: o.K, Within: o.Within})
	if err != nil {
		return nil, err
	}
	offsets, documents, distances := []int64{0}, []int64(nil), []float32(nil)
	for _, list := range found {
		for _, m := range list {
			documents, distances = append(documents, int64(m.Document)), append(distances, m.C)
		}
		offsets = append(offsets, int64(len(documents)))
	}
	return &answer{name: "matches", has: map[string]arrayMaker{"offsets": made(offsets),
		"documents": made(documents), "distances": made(distances)}}, nil
}

// indexRefit implements gram_index_refit.
func indexRefit(c *call, a *struct{ index uintptr }) error {
	x, err := objectOf[*index](c, a.index)
	if err == nil {
		err = x.Refit(c.ctx)
	}
	return err
}

type loadArguments struct {
	result
	path text
}

// load implements gram_load.
func load(c *call, a *loadArguments) (object, error) {
	path, err := a.path.string("path")
	if err != nil {
		return nil, err
	}
	path = strings.Clone(path)
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("gram: %w", err)
	}
	defer f.Close()
	begin := make([]byte, len(ours))
	n, _ := io.ReadFull(f, begin)
	if string(begin[:n]) != ours { // a model of LIBSVM, or an unknown file
		m, err := gram.Load(path)
		return &model{Model: m}, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("gram: %w", err)
	}
	o, err := c.loadFrom(f)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return o, err
}

// ours is the prefix of Gram's own files.
const ours = "gram "

// loadBytes implements gram_load_bytes.
func loadBytes(c *call, a *loadArguments) (object, error) {
	b, err := a.path.bytes("bytes")
	if err != nil {
		return nil, err
	}
	return c.loadFrom(bytes.NewReader(slices.Clone(b)))
}

// loadFrom loads a model or an index.
func (c *call) loadFrom(r io.ReadSeeker) (object, error) {
	const indexes = ours + "index "
	begin := make([]byte, len(indexes))
	n, _ := io.ReadFull(r, begin)
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	if string(begin[:n]) == indexes {
		x, err := gram.ReadIndex(c.ctx, r, gram.Options{})
		return &index{x}, err
	}
	m, err := gram.LoadFrom(c.ctx, r)
	return &model{Model: m}, err
}

type saveArguments struct {
	object uintptr
	path   text
}

// save implements gram_save.
func save(c *call, a *saveArguments) error {
	path, err := a.path.string("path")
	if err != nil {
		return err
	}
	path = strings.Clone(path)
	e, err := c.take(a.object)
	if err != nil {
		return err
	}
	o, ok := e.object.(written)
	if !ok {
		return fmt.Errorf("gram: a %s can't be saved, expected a model or an index", e.kind())
	}
	f, err := atomicfile.Create(path, "")
	if err != nil {
		return fmt.Errorf("gram: %w", err)
	}
	defer f.Abort()
	if err := o.write(c, f); err != nil {
		return fmt.Errorf("gram: %s: %w", path, err)
	}
	return f.Commit()
}
