package source

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/engine/normal"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/sparse"
)

// What -sets may be, besides a file.
const (
	setsByQID   = "qid"
	setsByLabel = "label"
)

// DeclareSets declares what says which points belong together.
func (d *Documents) DeclareSets(f *cli.Flags) {
	f.Group("Documents", topic)
	f.StringVar(&d.Sets, "sets", "", "compare sets of points instead of documents; `SETS`: qid, label or a file say "+
		"which points belong together")
	f.ReadsFiles(&d.Sets, "sets", func(context.Context) []string {
		if d.Sets == setsByQID || d.Sets == setsByLabel {
			return nil
		}
		return []string{d.Sets}
	})
}

// OfSets reports whether sets of points were asked for, by the flag or by a kernel.
func (d *Documents) OfSets(k *Kernels) bool {
	return d.Sets != "" || slices.ContainsFunc(k.Specs, kernel.IsHyperbolic)
}

// Hyperbolic returns the kernels of sets of points that were asked for, one at least, and checks
// that other flags suit them.
func (d *Documents) Hyperbolic(k *Kernels, c *backend.Compute) ([]kernel.Hyperbolic, error) {
	specs := []string(k.Specs)
	if len(specs) == 0 {
		specs = []string{kernel.SetKernels()[0].Name}
	}
	var kernels []kernel.Hyperbolic
	for _, spec := range specs {
		switch {
		case d.Sets == "" && kernel.IsHyperbolic(spec):
			return nil, cli.Usagef(
				"-kernel %s compares sets of points, expected -sets to say which points belong together",
				spec,
			)
		case !kernel.IsHyperbolic(spec):
			return nil, cli.Usagef("-sets with the kernel %s, expected hyperbolic, the kernel of sets of points", spec)
		}
		h, err := kernel.ParseHyperbolic(spec)
		if err != nil {
			return nil, cli.UsageError{Err: err}
		}
		kernels = append(kernels, h)
	}
	switch {
	case k.Embedding != "":
		return nil, cli.Usagef("-embed %s with -sets: points are taken as they are", k.Embedding)
	case d.MinDF > 0 || d.MaxDF > 0:
		return nil, cli.Usagef("-min-df and -max-df with -sets: points are taken as they are")
	case c.OnGPU():
		return nil, cli.Usagef("-backend cuda with -sets: sets are compared by the processor, expected cpu")
	case c.ISA != "" && asm.ISA(c.ISA) != asm.Generic:
		return nil, cli.Usagef(
			"-isa %s with -sets: sets are compared in float64, without vector instructions, expected generic",
			c.ISA,
		)
	}
	return kernels, nil
}

// SetsOf returns which points belong together.
func (d *Documents) SetsOf(ctx context.Context, c *sparse.Corpus) (*sparse.Sets, error) {
	switch d.Sets {
	case setsByQID:
		return c.SetsByGroup()
	case setsByLabel:
		return c.SetsByLabel()
	}
	s, err := sparse.ReadSets(ctx, d.Sets, c.Documents.Rows(), sparse.Options{MaxLineBytes: int(d.MaxLine)})
	if err != nil {
		return nil, nameFlags(err)
	}
	return s, nil
}

// Normals estimates the distributions of sets of points, and says what they and the points take.
// columns are the coordinates; nil for those that aren't 0 for all.
func (d *Documents) Normals(
	ctx context.Context, p *cli.Progress, c *sparse.Corpus, sets *sparse.Sets, columns []uint32,
) (x *normal.Distributions, bytes int64, err error) {
	what := fmt.Sprintf("distributions of %s", report.Counted(len(sets.Names), "set", "sets"))
	terms, _ := c.Documents.TermFrequencies()
	bytes = c.Documents.Bytes() + backend.RuntimeBytes + int64(len(sets.Names))*8*int64(len(terms))
	if err := d.limits.Fits(what, bytes); err != nil {
		return nil, 0, err
	}
	p.Stage("estimating " + what)
	if columns != nil {
		x, err = normal.FitIn(ctx, c.Documents, sets.Of, len(sets.Names), columns)
	} else {
		x, err = normal.Fit(ctx, c.Documents, sets.Of, len(sets.Names))
	}
	if spread := (*normal.SpreadError)(nil); errors.As(err, &spread) {
		where := ""
		if columns != nil {
			where = " in the coordinates that the model learnt from"
		}
		return nil, 0, fmt.Errorf(
			"set %s of %s has %s, expected two different ones at least%s: without a spread there is no distribution",
			sets.Names[spread.Set],
			c.Source,
			report.Counted(spread.Points, "point", "points"),
			where,
		)
	}
	return x, bytes, err
}

// Distributions returns sets of points as a corpus with their distributions for documents, one a
// set, as normal.Distributions.Vectors has them, and the number of coordinates. terms are those of a
// model that learnt from such a corpus, nil for none.
func (d *Documents) Distributions(
	ctx context.Context, p *cli.Progress, c *sparse.Corpus, terms []uint32,
) (*sparse.Corpus, int, error) {
	sets, err := d.SetsOf(ctx, c)
	if err != nil {
		return nil, 0, err
	}
	var columns []uint32
	sigma := uint32(c.Documents.Cols)
	if terms != nil {
		columns, sigma = terms[:len(terms)-1], terms[len(terms)-1]
	}
	x, _, err := d.Normals(ctx, p, c, sets, columns)
	if err != nil {
		return nil, 0, err
	}
	out := &sparse.Corpus{
		Source:  c.Source,
		Classes: sets.Classes,
		Names:   make([]string, len(sets.Names)),
		Labels:  sparse.Labels{Offsets: []int64{0}},
	}
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

// WarnUnproven warns of a kernel that isn't known to be positive definite on points of so many
// coordinates.
func WarnUnproven(e *cli.Env, h kernel.Hyperbolic, coordinates int) {
	if known := h.PropertiesFor(coordinates); known.Definite != kernel.Positive {
		e.Warn("%s on points of %s is not proven to be positive definite: it is %s", h,
			report.Counted(coordinates, "coordinate", "coordinates"), known.Condition)
	}
}

// SetsLine says what sets there are.
func SetsLine(points Line, sets, coordinates int) string {
	return fmt.Sprintf("%s: %s in %s, %s", points.Source, report.Counted(points.Documents, "point", "points"),
		report.Counted(sets, "set", "sets"), report.Counted(coordinates, "coordinate", "coordinates"))
}
