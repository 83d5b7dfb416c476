// Package normal has sets of points as normal distributions, and the heat kernel of the hyperbolic
// space that these form.
//
// [Fit] estimates a spherical normal distribution for each set, [Of] reads distributions that
// [Distributions.Vectors] wrote as documents, and a [Heat] has the kernel's values. Matrices of
// them are computed by package engine, and the kernel's specification is one of package kernel.
//
// Source: Lafferty and Lebanon, JMLR 6 (2005), §3.1.
package normal

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gramengine/gram/engine/internal/hyperbolic"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Distributions are spherical normal distributions N(μ, σ²I) on R^P: what [Heat] compares. They are
// immutable and may be used concurrently.
type Distributions struct {
	p       int
	columns []uint32 // of the points, those that are coordinates, ascending
	normal  []hyperbolic.Normal
}

// SpreadError says that a set of points has no maximum-likelihood estimate, since it has no spread.
type SpreadError struct {
	Set    int // its number
	Points int // how many points it has
}

// Error counts sets from 1.
func (e *SpreadError) Error() string {
	return fmt.Sprintf(
		"engine: set %d has %d points without a spread that float64 can hold, expected two different ones at least",
		e.Set+1, e.Points)
}

// Fit returns the maximum-likelihood estimates of sets of points,
//
//	μ = 1/N Σ x,   σ² = 1/(NP) Σ ‖x-μ‖²
//
// in float64: point i, row i of points, belongs to the set of[i], 0 <= of[i] < sets. Coordinates
// that are 0 for every point of every set are left out: P is the number of others, so that it
// doesn't matter whether columns are counted from 0 or 1.
//
// It takes 8·P bytes a set. Errors: points that sparse.CSR.Validate refuses or that have no
// coordinates, another number of points in of, a set that there isn't, a [*SpreadError] for the
// first set without two different points, the end of ctx. Source: Lafferty and Lebanon, JMLR 6
// (2005), §3.1.
func Fit(ctx context.Context, points *sparse.CSR, of []int32, sets int) (*Distributions, error) {
	if err := points.Validate(); err != nil {
		return nil, fmt.Errorf("engine: points: %w", err)
	}
	columns, _ := points.TermFrequencies()
	if len(columns) == 0 {
		return nil, fmt.Errorf("engine: points without a coordinate other than 0, expected one at least")
	}
	return FitIn(ctx, points, of, sets, columns)
}

// FitIn is [Fit] with given coordinates, ascending columns, whether or not they are 0
// for all points or beyond the columns that these have: those of other points that these are to be
// compared with. Values in other columns don't count.
func FitIn(ctx context.Context, points *sparse.CSR, of []int32, sets int, columns []uint32) (*Distributions, error) {
	if err := run.Given(ctx, "engine"); err != nil {
		return nil, err
	}
	if err := points.Validate(); err != nil {
		return nil, fmt.Errorf("engine: points: %w", err)
	}
	switch {
	case len(of) != points.Rows():
		return nil, fmt.Errorf("engine: sets of %d points, expected those of %d", len(of), points.Rows())
	case sets < 0:
		return nil, fmt.Errorf("engine: %d sets, expected at least 0", sets)
	case len(columns) == 0:
		return nil, errors.New("engine: points in no column, expected one at least")
	}
	for k, t := range columns[1:] {
		if t <= columns[k] {
			return nil, fmt.Errorf("engine: points in column %d after %d, expected ascending columns", t, columns[k])
		}
	}
	p := len(columns)
	kept := min(sets, len(of)+1) // so many sets have one without points among them, which is an error
	members := make([][]int, kept)
	for i, s := range of {
		if s < 0 || int(s) >= sets {
			return nil, fmt.Errorf("engine: point %d belongs to set %d, expected one from 0 to %d", i, s, sets-1)
		}
		if int(s) < kept {
			members[s] = append(members[s], i)
		}
	}
	n := &Distributions{p: p, columns: slices.Clone(columns), normal: make([]hyperbolic.Normal, kept)}
	x := make([]float64, p)
	for s, rows := range members {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var err error
		n.normal[s], err = hyperbolic.Estimate(p, func(visit func([]float64)) {
			for _, i := range rows {
				clear(x)
				terms, values := points.Row(i)
				at := 0
				for k, t := range terms {
					for at < p && columns[at] < t {
						at++
					}
					if at < p && columns[at] == t {
						x[at] = float64(values[k])
					}
				}
				visit(x)
			}
		})
		if err != nil {
			return nil, &SpreadError{s, len(rows)}
		}
	}
	return n, nil
}

// Len returns the number of distributions.
func (n *Distributions) Len() int { return len(n.normal) }

// In returns the distributions of the given numbers, in their order. It panics where there is none
// of a number, as Mean, Sigma and Distance do.
func (n *Distributions) In(order []int) *Distributions {
	out := &Distributions{p: n.p, columns: n.columns}
	for _, i := range order {
		out.normal = append(out.normal, n.normal[i])
	}
	return out
}

// P returns the dimension of the points.
func (n *Distributions) P() int { return n.p }

// Mean returns μ of distribution i.
func (n *Distributions) Mean(i int) []float64 { return slices.Clone(n.normal[i].Mean) }

// Sigma returns σ of distribution i.
func (n *Distributions) Sigma(i int) float64 { return n.normal[i].Sigma }

// Distance returns the distance of distributions i and j in the hyperbolic space of curvature -1,
// which is their Fisher distance divided by √(2P).
func (n *Distributions) Distance(i, j int) float64 {
	return hyperbolic.Distance(n.normal[i], n.normal[j])
}

// Bytes returns the memory that the distributions hold, in bytes.
func (n *Distributions) Bytes() int64 { return int64(len(n.normal)) * int64(8*n.p+32) }
