package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/cmd/grambench/internal/matrixio"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// What -sets may be, besides a file.
const (
	setsByQID   = "qid"
	setsByLabel = "label"
)

// setsReport is the report of the command gram on sets of points.
type setsReport struct {
	Points corpusLine `json:"points"`
	Sets   int        `json:"sets"`
	P      int        `json:"coordinates"` // those that aren't 0 for all points
	Rows   []gramRow  `json:"rows"`
}

func (r *setsReport) writeText(w io.Writer) {
	fmt.Fprintf(w, "%s: %s in %s, %s\n", r.Points.Source, counted(r.Points.Documents, "point", "points"), counted(r.Sets, "set", "sets"),
		counted(r.P, "coordinate", "coordinates"))
	for _, row := range r.Rows {
		row.writeText(w)
	}
}

// checkSets holds flags and kernel of sets of points together.
func (f *flags) checkSets() (engine.Hyperbolic, error) {
	var h engine.Hyperbolic
	spec := "hyperbolic"
	switch {
	case len(f.kernels) > 1:
		return h, usagef("%d kernels, expected one: a file holds one matrix", len(f.kernels))
	case len(f.kernels) == 1:
		spec = f.kernels[0]
	}
	switch {
	case f.sets == "":
		return h, usagef("-kernel %s compares sets of points, expected -sets to say which points belong together", spec)
	case !engine.IsHyperbolic(spec):
		return h, usagef("-sets with the kernel %s, expected hyperbolic, the kernel of sets of points", spec)
	case f.embed != "":
		return h, usagef("-embed %s with -sets: points are taken as they are", f.embed)
	case f.minDF > 0 || f.maxDF > 0:
		return h, usagef("-min-df and -max-df with -sets: points are taken as they are")
	case f.isa != "" && asm.ISA(f.isa) != asm.Generic:
		return h, usagef("-isa %s with -sets: sets are compared in float64, without vector instructions, expected generic", f.isa)
	}
	h, err := engine.ParseHyperbolic(spec)
	if err != nil {
		return h, usageError{err}
	}
	return h, nil
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

// gramOfSets computes the matrix of a kernel of sets of points.
func (f *flags) gramOfSets(ctx context.Context, e *env, out, format string) error {
	h, err := f.checkSets()
	if err != nil {
		return err
	}
	if err := writable(out); err != nil {
		return err
	}
	p := newProgress(e.stderr)
	defer p.clear()
	corpus, err := f.read(ctx, e, p)
	if err != nil {
		return err
	}
	sets, err := f.setsOf(ctx, corpus)
	if err != nil {
		return err
	}
	report := &setsReport{Points: newCorpusLine(corpus), Sets: len(sets.Names)}
	header := matrixio.Header{N: len(sets.Names)}
	if format == "libsvm" {
		if header.Labels, err = setLabels(sets, e.stderr); err != nil {
			return err
		}
	}
	what := fmt.Sprintf("distributions of %s", counted(len(sets.Names), "set", "sets"))
	bytes := corpus.Documents.Bytes() + runtimeBytes + int64(len(sets.Names))*8*int64(report.Points.Terms)
	if err := f.fits(what, bytes); err != nil {
		return err
	}
	p.stage("estimating " + what)
	begin := time.Now()
	x, err := engine.FitNormals(ctx, corpus.Documents, sets.Of, len(sets.Names))
	if spread := (*engine.SpreadError)(nil); errors.As(err, &spread) {
		return fmt.Errorf("set %s of %s has %s, expected two different ones at least: without a spread there is no distribution", sets.Names[spread.Set],
			corpus.Source, counted(spread.Points, "point", "points"))
	} else if err != nil {
		return err
	}
	report.P = x.P()
	g, err := engine.NewHyperbolic(ctx, h, x, engine.Options{Workers: f.workers, MemoryBytes: int64(f.memory), Progress: p.computing})
	if err != nil {
		return err
	}
	if known := g.Kernel().PropertiesFor(x.P()); known.Definite != engine.Positive {
		fmt.Fprintf(e.stderr, "grambench: warning: %s on points of %s is not proven to be positive definite: it is %s\n", g.Kernel(),
			counted(x.P(), "coordinate", "coordinates"), known.Condition)
	}
	row := gramRow{File: out, Format: format, Kernel: g.Kernel().String(), ISA: string(asm.Generic), Method: "matrix", Documents: x.Len()}
	header.Comment = fmt.Sprintf("%s of %s", row.Kernel, filepath.Base(corpus.Source))
	if err := f.writeGramOfSets(ctx, p, g, bytes, header, &row); err != nil {
		return err
	}
	row.Seconds = time.Since(begin).Seconds()
	row.PeakBytes = peakBytes()
	report.Rows = []gramRow{row}
	p.clear()
	return writeReport(e.stdout, report, f.json)
}

// stripeOfSets is how many rows are computed before they are written, where memory doesn't hold the matrix.
const stripeOfSets = 256

// writeGramOfSets computes and writes the matrix, whole or stripe by stripe, beside the bytes that are held.
func (f *flags) writeGramOfSets(ctx context.Context, p *progress, g *engine.HyperbolicGram, held int64, h matrixio.Header, row *gramRow) error {
	n := g.Len()
	if budget := f.budget(); g.GramBytes() > wholeBytes || budget > 0 && held+g.GramBytes() > budget {
		row.Method = "stripes"
		if err := f.fits(fmt.Sprintf("a Gram matrix of %s", counted(n, "set", "sets")), held+4*stripeOfSets*int64(n)); err != nil {
			return err
		}
	}
	return row.save(ctx, h, func(writeRow func([]float32) error) error {
		p.stage("computing " + row.Kernel)
		if row.Method == "matrix" {
			m, err := g.Gram(ctx)
			if err != nil {
				return err
			}
			for i := range n {
				if err := writeRow(m.Row(i)); err != nil {
					return err
				}
			}
			return nil
		}
		stripe := engine.NewDense(min(stripeOfSets, n), n)
		for first := 0; first < n; first += stripe.Rows {
			part := &engine.Dense{Rows: min(stripe.Rows, n-first), Cols: n, Data: stripe.Data}
			part.Data = part.Data[:part.Rows*n]
			if err := g.Rows(ctx, first, part); err != nil {
				return err
			}
			for i := range part.Rows {
				if err := writeRow(part.Row(i)); err != nil {
					return err
				}
			}
			p.update(int64(first+part.Rows), int64(n))
		}
		return nil
	})
}

// setLabels returns the class of each set as a number, as numericLabels does for documents.
func setLabels(s *sparse.Sets, stderr io.Writer) ([]string, error) {
	c := &sparse.Corpus{Documents: &sparse.CSR{Offsets: make([]int64, len(s.Names)+1)}, Classes: s.Classes}
	for i, class := range s.Class {
		c.Names = append(c.Names, "set "+strconv.Quote(s.Names[i]))
		if class >= 0 {
			c.Labels.Add(class)
		} else {
			c.Labels.Add()
		}
	}
	return numericLabels(c, stderr)
}
