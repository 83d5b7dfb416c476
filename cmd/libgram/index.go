//go:build cgo

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/gramengine/gram"
)

type index struct{ *gram.Index }

func (*index) kind() string { return "index" }
func (x *index) about() any { return x.Stats() }

func (x *index) arrays() map[string]arrayMaker {
	return map[string]arrayMaker{"bytes": bytesMaker(func(_ *call, w io.Writer) error { return x.Write(w) })}
}

// bytesMaker returns an arrayMaker for the output of write.
func bytesMaker(write func(c *call, w io.Writer) error) arrayMaker {
	return func(c *call) (*array, error) {
		var b bytes.Buffer
		err := write(c, &b)
		return column(b.Bytes()), err
	}
}

func newIndex(c *call, a *arguments, o *gram.IndexOptions) (object, error) {
	texts, err := a.texts.list("texts")
	if err != nil {
		return nil, err
	}
	x, err := gram.NewIndex(c.ctx, texts, *o)
	return &index{x}, err
}

func (c *call) indexArguments(a *arguments) (*index, []string, error) {
	x, err := objectOf[*index](c, a.object)
	if err != nil {
		return nil, nil, err
	}
	texts, err := a.texts.list("texts")
	return x, texts, err
}

func addToIndex(c *call, a *arguments, _ *gram.Options) (object, error) {
	x, texts, err := c.indexArguments(a)
	if err != nil {
		return nil, err
	}
	out, err := a.numbers.sliceN(int64(len(texts)), "out_numbers")
	if err != nil {
		return nil, err
	}
	numbers, err := x.Add(c.ctx, texts...)
	copy(out, convert[int64](numbers))
	return nil, err
}

func removeFromIndex(c *call, a *arguments, _ *gram.Options) (object, error) {
	x, err := objectOf[*index](c, a.object)
	if err != nil {
		return nil, err
	}
	numbers, err := a.numbers.slice("numbers")
	if err != nil {
		return nil, err
	}
	return nil, x.Remove(convert[int](numbers)...)
}

type queryOptions struct {
	gram.Options
	K      int
	Within *float64
}

func queryIndex(c *call, a *arguments, o *queryOptions) (object, error) {
	x, texts, err := c.indexArguments(a)
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
	return &result{name: "matches", makers: map[string]arrayMaker{"offsets": existingArray(offsets),
		"documents": existingArray(documents), "distances": existingArray(distances)}}, nil
}

func refitIndex(c *call, a *arguments, _ *gram.Options) (object, error) {
	x, err := objectOf[*index](c, a.object)
	if err != nil {
		return nil, err
	}
	return nil, x.Refit(c.ctx)
}

const indexMagic = "gram index "

func load(c *call, a *arguments, _ *gram.Options) (object, error) {
	path, err := a.name.string("path")
	if err != nil {
		return nil, err
	}
	path = strings.Clone(path)
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("gram: %w", err)
	}
	defer f.Close()
	o, err := c.loadFrom(f)
	if errors.Is(err, gram.ErrFormat) {
		m, err := gram.Load(path) // may be a LIBSVM model
		return &model{Model: m}, err
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return o, err
}

func loadBytes(c *call, a *arguments, _ *gram.Options) (object, error) {
	b, err := a.name.slice("bytes")
	if err != nil {
		return nil, err
	}
	return c.loadFrom(bytes.NewReader(slices.Clone(b)))
}

func (c *call) loadFrom(r io.Reader) (object, error) {
	in := bufio.NewReader(r)
	if begin, _ := in.Peek(len(indexMagic)); string(begin) == indexMagic {
		x, err := gram.ReadIndex(c.ctx, in, gram.Options{})
		return &index{x}, err
	}
	m, err := gram.LoadFrom(c.ctx, in)
	return &model{Model: m}, err
}

func save(c *call, a *arguments, _ *gram.Options) (object, error) {
	path, err := a.name.string("path")
	if err != nil {
		return nil, err
	}
	e, err := c.acquire(a.object)
	if err != nil {
		return nil, err
	}
	o, ok := e.object.(interface{ Save(path string) error })
	if !ok {
		return nil, fmt.Errorf("gram: only models and indexes can be saved, got a %s", e.kind())
	}
	return nil, o.Save(strings.Clone(path))
}
