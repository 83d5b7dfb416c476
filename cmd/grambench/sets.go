package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// What -sets may be, besides a file.
const (
	setsByQID   = "qid"
	setsByLabel = "label"
)

// setsFlag declares what says which points belong together.
func (f *flags) setsFlag() {
	f.set.StringVar(&f.sets, "sets", "", "compare sets of points instead of documents; `SETS`: qid, label or a file say which points belong together")
	f.readsFiles("-sets", func() string { return f.sets }, func() []string {
		if f.sets == setsByQID || f.sets == setsByLabel {
			return nil
		}
		return []string{f.sets}
	})
}

// ofSets reports whether sets of points were asked for, by the flag or by a kernel.
func (f *flags) ofSets() bool {
	return f.sets != "" || slices.ContainsFunc(f.kernels, engine.IsHyperbolic)
}

// checkSets holds flags and kernels of sets of points together; it returns one kernel at least.
func (f *flags) checkSets() ([]engine.Hyperbolic, error) {
	specs := []string(f.kernels)
	if len(specs) == 0 {
		specs = []string{engine.SetKernels()[0].Name}
	}
	var kernels []engine.Hyperbolic
	for _, spec := range specs {
		switch {
		case f.sets == "" && engine.IsHyperbolic(spec):
			return nil, usagef("-kernel %s compares sets of points, expected -sets to say which points belong together", spec)
		case !engine.IsHyperbolic(spec):
			return nil, usagef("-sets with the kernel %s, expected hyperbolic, the kernel of sets of points", spec)
		}
		h, err := engine.ParseHyperbolic(spec)
		if err != nil {
			return nil, usageError{err}
		}
		kernels = append(kernels, h)
	}
	switch {
	case f.embed != "":
		return nil, usagef("-embed %s with -sets: points are taken as they are", f.embed)
	case f.minDF > 0 || f.maxDF > 0:
		return nil, usagef("-min-df and -max-df with -sets: points are taken as they are")
	case f.backend == string(cudaBackend):
		return nil, usagef("-backend cuda with -sets: sets are compared by the processor, expected cpu")
	case f.isa != "" && asm.ISA(f.isa) != asm.Generic:
		return nil, usagef("-isa %s with -sets: sets are compared in float64, without vector instructions, expected generic", f.isa)
	}
	return kernels, nil
}

// setsOf returns which points belong together.
func (f *flags) setsOf(ctx context.Context, c *sparse.Corpus) (*sparse.Sets, error) {
	switch f.sets {
	case setsByQID:
		return c.SetsByGroup()
	case setsByLabel:
		return c.SetsByLabel()
	}
	s, err := sparse.ReadSets(ctx, f.sets, c.Documents.Rows(), sparse.Options{MaxLineBytes: int(f.maxLine)})
	if err != nil {
		return nil, nameFlags(err)
	}
	return s, nil
}

// normals estimates the distributions of sets of points, and says what they and the points take. columns are the coordinates; nil for those that aren't 0 for all.
func (f *flags) normals(ctx context.Context, p *progress, c *sparse.Corpus, sets *sparse.Sets, columns []uint32) (x *engine.Normals, bytes int64, err error) {
	what := fmt.Sprintf("distributions of %s", counted(len(sets.Names), "set", "sets"))
	bytes = c.Documents.Bytes() + runtimeBytes + int64(len(sets.Names))*8*int64(newCorpusLine(c).Terms)
	if err := f.fits(what, bytes); err != nil {
		return nil, 0, err
	}
	p.stage("estimating " + what)
	if columns != nil {
		x, err = engine.FitNormalsIn(ctx, c.Documents, sets.Of, len(sets.Names), columns)
	} else {
		x, err = engine.FitNormals(ctx, c.Documents, sets.Of, len(sets.Names))
	}
	if spread := (*engine.SpreadError)(nil); errors.As(err, &spread) {
		where := ""
		if columns != nil {
			where = " in the coordinates that the model learnt from"
		}
		return nil, 0, fmt.Errorf("set %s of %s has %s, expected two different ones at least%s: without a spread there is no distribution", sets.Names[spread.Set],
			c.Source, counted(spread.Points, "point", "points"), where)
	}
	return x, bytes, err
}

// corpusOfSets returns sets of points as a corpus with their distributions for documents, one a set, as engine.Normals.Vectors has them, and the number of coordinates.
// terms are those of a model that learnt from such a corpus, nil for none.
func (f *flags) corpusOfSets(ctx context.Context, p *progress, c *sparse.Corpus, terms []uint32) (*sparse.Corpus, int, error) {
	sets, err := f.setsOf(ctx, c)
	if err != nil {
		return nil, 0, err
	}
	var columns []uint32
	sigma := uint32(c.Documents.Cols)
	if terms != nil {
		columns, sigma = terms[:len(terms)-1], terms[len(terms)-1]
	}
	x, _, err := f.normals(ctx, p, c, sets, columns)
	if err != nil {
		return nil, 0, err
	}
	out := &sparse.Corpus{Source: c.Source, Classes: sets.Classes, Names: make([]string, len(sets.Names)), Labels: sparse.Labels{Offsets: []int64{0}}}
	if out.Documents, err = x.Vectors(sigma); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", c.Source, err)
	}
	for i, class := range sets.Class {
		out.Names[i] = "set " + sets.Names[i]
		if class >= 0 {
			out.Labels.Add(class)
		} else {
			out.Labels.Add()
		}
	}
	return out, x.P(), nil
}

// warnUnproven warns of a kernel that isn't known to be positive definite on points of so many coordinates.
func warnUnproven(stderr io.Writer, h engine.Hyperbolic, coordinates int) {
	if known := h.PropertiesFor(coordinates); known.Definite != engine.Positive {
		fmt.Fprintf(stderr, "grambench: warning: %s on points of %s is not proven to be positive definite: it is %s\n", h,
			counted(coordinates, "coordinate", "coordinates"), known.Condition)
	}
}

// setsLine says what sets there are.
func setsLine(points corpusLine, sets, coordinates int) string {
	return fmt.Sprintf("%s: %s in %s, %s", points.Source, counted(points.Documents, "point", "points"), counted(sets, "set", "sets"),
		counted(coordinates, "coordinate", "coordinates"))
}
