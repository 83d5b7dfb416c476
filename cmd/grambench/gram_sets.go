package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/cmd/grambench/internal/matrixio"
	"github.com/gramengine/gram/engine"
)

// setsReport is the report of the command gram on sets of points.
type setsReport struct {
	Points corpusLine `json:"points"`
	Sets   int        `json:"sets"`
	P      int        `json:"coordinates"` // those that aren't 0 for all points
	Rows   []gramRow  `json:"rows"`
}

func (r *setsReport) writeText(w io.Writer) {
	fmt.Fprintln(w, setsLine(r.Points, r.Sets, r.P))
	for _, row := range r.Rows {
		row.writeText(w)
	}
}

// gramOfSets computes the matrix of a kernel of sets of points.
func (f *flags) gramOfSets(ctx context.Context, e *env, kernel engine.Hyperbolic, out, format string) error {
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
	begin := time.Now()
	x, bytes, err := f.normals(ctx, p, corpus, sets, nil)
	if err != nil {
		return err
	}
	report.P = x.P()
	g, err := engine.NewHyperbolic(ctx, kernel, x, engine.Options{Workers: f.workers, MemoryBytes: int64(f.memory), Progress: p.computing})
	if err != nil {
		return err
	}
	warnUnproven(e.stderr, g.Kernel(), x.P())
	row := gramRow{File: out, Format: format, Kernel: g.Kernel().String(), ISA: string(asm.Generic), Method: "matrix", Documents: x.Len()}
	header.Comment = fmt.Sprintf("%s of %s", row.Kernel, filepath.Base(corpus.Source))
	if err := f.writeGramOfSets(ctx, p, g, bytes, header, &row); err != nil {
		return err
	}
	row.Seconds = time.Since(begin).Seconds()
	row.PeakBytes = peakBytes()
	report.Rows = []gramRow{row}
	p.clear()
	return writeReport(e.stdout, f.timed(report), f.json)
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
