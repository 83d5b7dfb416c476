package matrices

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/sparse"
)

// setsReport is the report of the command gram on sets of points.
type setsReport struct {
	Points source.Line `json:"points"`
	Sets   int         `json:"sets"`
	P      int         `json:"coordinates"` // those that aren't 0 for all points
	Rows   []gramRow   `json:"rows"`
}

func (r *setsReport) WriteText(w io.Writer) {
	fmt.Fprintln(w, source.SetsLine(r.Points, r.Sets, r.P))
	for _, row := range r.Rows {
		row.WriteText(w)
	}
}

// runSets computes the matrix of a kernel of sets of points.
func (g *gram) runSets(ctx context.Context, e *cli.Env, p *cli.Progress, corpus *sparse.Corpus) error {
	sets, err := g.SetsOf(ctx, corpus)
	if err != nil {
		return err
	}
	r := &setsReport{Points: source.NewLine(corpus), Sets: len(sets.Names)}
	header := matrixio.Header{Rows: len(sets.Names)}
	if g.format == "libsvm" {
		if header.Labels, err = setLabels(sets, e); err != nil {
			return err
		}
	}
	begin := time.Now()
	x, bytes, err := g.Normals(ctx, p, corpus, sets, nil)
	if err != nil {
		return err
	}
	r.P = x.P()
	k, err := engine.NewHyperbolic(ctx, g.ofSet, x, g.Options("", p))
	if err != nil {
		return err
	}
	source.WarnUnproven(e, k.Kernel(), x.P())
	row := gramRow{
		File:      g.out,
		Format:    g.format,
		Kernel:    k.Kernel().String(),
		ISA:       string(asm.Generic),
		Method:    "matrix",
		Documents: x.Len(),
	}
	header.Comment = fmt.Sprintf("%s of %s", row.Kernel, filepath.Base(corpus.Source))
	if err := g.writeSets(ctx, p, k, bytes, header, &row); err != nil {
		return err
	}
	p.Clear()
	r.Rows = row.done(begin)
	return g.Report(e, g.f, r)
}

// stripeOfSets is how many rows are computed before they are written, where memory doesn't hold the
// matrix.
const stripeOfSets = 256

// writeSets computes and writes the matrix, whole or stripe by stripe, beside the bytes that are
// held.
func (g *gram) writeSets(
	ctx context.Context, p *cli.Progress, k *engine.HyperbolicGram, held int64, h matrixio.Header, row *gramRow,
) error {
	n := k.Len()
	if budget := g.Budget(); k.GramBytes() > wholeBytes || budget > 0 && held+k.GramBytes() > budget {
		row.Method = "stripes"
		if err := g.Fits("a Gram matrix of "+report.Counted(n, "set", "sets"),
			held+4*stripeOfSets*int64(n)); err != nil {
			return err
		}
	}
	return row.save(ctx, h, func(writeRow func([]float32) error) error {
		p.Stage("computing " + row.Kernel)
		if row.Method == "matrix" {
			m, err := k.Gram(ctx)
			if err != nil {
				return err
			}
			return writeRows(n, m.Row, writeRow, func(int) {})
		}
		stripe := engine.NewDense(min(stripeOfSets, n), n)
		for first := 0; first < n; first += stripe.Rows {
			part := &engine.Dense{Rows: min(stripe.Rows, n-first), Cols: n, Data: stripe.Data}
			part.Data = part.Data[:part.Rows*n]
			if err := k.Rows(ctx, first, part); err != nil {
				return err
			}
			if err := writeRows(part.Rows, part.Row, writeRow, func(int) {}); err != nil {
				return err
			}
			p.Update(int64(first+part.Rows), int64(n))
		}
		return nil
	})
}

// setLabels returns the class of each set as a number, as numericLabels does for documents.
func setLabels(s *sparse.Sets, e *cli.Env) ([]string, error) {
	c := &sparse.Corpus{Documents: &sparse.CSR{Offsets: make([]int64, len(s.Names)+1)}, Classes: s.Classes}
	for i, class := range s.Class {
		c.Names = append(c.Names, "set "+strconv.Quote(s.Names[i]))
		if class >= 0 {
			c.Labels.Add(class)
		} else {
			c.Labels.Add()
		}
	}
	return numericLabels(c, e)
}
