package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/join"
	"github.com/gramengine/gram/engine/internal/panel"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/sparse"
)

// maxListedC is the largest bound on c that an index's posting lists support.
const maxListedC = 0.1

// Index answers single queries on a fixed set of documents. It finds nearest neighbours with stored
// panels, and documents within a small bound with posting lists. An Index may be used concurrently.
type Index struct {
	e       *Engine
	j       *join.Join
	rowPool sync.Pool // *[]float32, rows of c
}

// Match holds the index of a document found by a query, and c of the document and the query. C is
// computed in float64 from the difference of the vectors, then rounded to float32. A c below 10⁻²⁴
// is a rounding error and becomes 0.
type Match struct {
	Document int
	C        float32
}

// NewIndex makes an index of x, which must stay unchanged. It stores dense panels of up to
// opt.DenseCopyBytes (default no limit) if memory allows. It fails if opt.Device is set, if [New]
// fails, or if the posting lists don't fit in memory.
func NewIndex(ctx context.Context, x *sparse.Embedded, opt Options) (*Index, error) {
	if opt.Device != nil {
		return nil, errors.New("engine: an index supports only the CPU, but Device is set")
	}
	if opt.DenseCopyBytes == 0 {
		opt.DenseCopyBytes = math.MaxInt64
	}
	e, err := NewContext(ctx, x, opt)
	if err != nil {
		return nil, err
	}
	out := &Index{e: e}
	out.rowPool.New = func() any { return new(make([]float32, e.Len())) }
	if err := out.build(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return out, nil
}

func (x *Index) build(ctx context.Context) (err error) {
	e := x.e
	if err := e.checkFits(ctx, "an index", GroupsBytes(e.Len(), e.c.X.Cols)); err != nil {
		return err
	}
	if x.j, err = join.New(ctx, e.c.X, nil, maxListedC, e.c.Workers); err != nil {
		return err
	}
	x.j.EnableQueries()
	about, err := x.j.Estimate(ctx)
	if err != nil {
		return err
	}
	forward, lists := x.j.Bytes(about.PrefixValues)
	need := forward + forward/4 + lists
	if err := e.checkFits(ctx, "lists of an index", need); err != nil {
		return err
	}
	e.c.Backend.(*panel.Backend).MakeDenseCopy(func(bytes int64) bool {
		return e.checkFits(ctx, "panels",
			need+bytes) == nil
	})
	return x.j.Build(ctx, math.MaxInt64)
}

// Len returns the number of documents.
func (x *Index) Len() int {
	return x.e.Len()
}

// row returns c for document i of q and each document of x. The values are bit-identical to c in
// the engine's tiles.
func (x *Index) row(ctx context.Context, q *sparse.Embedded, i int) (*[]float32, error) {
	row := x.rowPool.Get().(*[]float32)
	one := *q // a copy, so that the stored panels are used even for the engine's documents
	r := &device.Request{RowDocuments: &one, RowIndices: []int{i}, Hi: x.e.Len(), Workers: 1}
	return row, x.e.c.ComputeRows(ctx, kernel.C(), r, nil, func(t *device.Tile) error {
		for j := range t.Cols() {
			(*row)[t.Lo+j] = t.Values[j*t.ColStride]
		}
		return nil
	})
}

// Nearest returns the k documents with the smallest c to document i of q, in ascending order of c,
// with ties broken by document index. If allowed isn't nil, only documents for which allowed
// returns true are returned. Nearest fails if k is below 1, if q is invalid or has another
// embedder, if i is out of range, or if ctx is done.
func (x *Index) Nearest(
	ctx context.Context, q *sparse.Embedded, i, k int, allowed func(doc int) bool,
) ([]Match, error) {
	if k < 1 {
		return nil, fmt.Errorf("engine: k must be positive, got %d", k)
	}
	if err := x.checkQuery(ctx, q, i); err != nil {
		return nil, err
	}
	row, err := x.row(ctx, q, i)
	defer x.rowPool.Put(row)
	if err != nil {
		return nil, err
	}
	const rounding = 2*device.MaxError + 0x1p-22 // twice the error of c from tiles, plus float32 rounding
	// limit is the k-th smallest c so far. It is updated whenever the slice some has 2k values.
	limit, some := float32(math.Inf(1)), make([]float32, 0, 2*min(k, x.Len()))
	full := func() {
		if slices.Sort(some); len(some) >= k {
			limit, some = some[k-1], some[:k]
		}
	}
	for j, c := range *row {
		if c < limit && (allowed == nil || allowed(j)) {
			if some = append(some, c); len(some) == 2*k {
				full()
			}
		}
	}
	full()
	var out []Match
	apart := 0 // number of documents with c = 1, which share no term with the query
	for j, c := range *row {
		if !(float64(c) <= float64(limit)+rounding) || c == 1 && apart == k || allowed != nil && !allowed(j) {
			continue
		}
		m := Match{j, c}
		if c == 1 {
			apart++
		} else {
			m.C = float32(panel.ExactC(q, i, x.e.c.X, j))
		}
		out = append(out, m)
	}
	SortMatches(out)
	return out[:min(k, len(out))], nil
}

// Within returns the documents whose c to document i of q is at most the given c, in the order of
// Nearest. [EachCrossPair] defines the tolerance. If allowed isn't nil, only documents for which
// allowed returns true are returned. Within fails for the same reasons as Nearest, or if c is
// negative or NaN.
func (x *Index) Within(
	ctx context.Context, q *sparse.Embedded, i int, c float64, allowed func(doc int) bool,
) ([]Match, error) {
	if !(c >= 0) {
		return nil, fmt.Errorf("engine: bound on c must be nonnegative, got %v", c)
	}
	if err := x.checkQuery(ctx, q, i); err != nil {
		return nil, err
	}
	var out []Match
	own := x.e.c.X
	check := func(j int) {
		if allowed != nil && !allowed(j) {
			return
		}
		if exact := panel.ExactC(q, i, own, j); exact <= panel.InclusiveBound(c) {
			out = append(out, Match{j, float32(exact)})
		}
	}
	const slack = 2 * device.MaxError // twice the largest error of a computed c
	if c < maxListedC-slack {
		x.j.Query(q, i, c+slack, func(j int) {
			for _, same := range x.j.RowCopies(j) {
				check(int(same))
			}
		})
	} else {
		row, err := x.row(ctx, q, i)
		defer x.rowPool.Put(row)
		if err != nil {
			return nil, err
		}
		for j, v := range *row {
			if float64(v) <= c+slack {
				check(j)
			}
		}
	}
	SortMatches(out)
	return out, nil
}

func (x *Index) checkQuery(ctx context.Context, q *sparse.Embedded, i int) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case q == nil || q.Embedder != x.e.c.X.Embedder:
		return errors.New("engine: the query and the index have different embedders")
	case i < 0 || i >= q.Rows():
		return fmt.Errorf("engine: document %d is out of range for a query with %d documents", i, q.Rows())
	}
	return q.Validate()
}

// CompareRows returns c of row i of x and row j of y, and reports whether c is at most the bound.
// If c exceeds the bound, it may return 0. x and y must be valid and have the same embedder.
func CompareRows(
	x *sparse.Embedded, i int, y *sparse.Embedded, j int, bound float64,
) (c float32, within bool, err error) {
	if !(bound >= 0) {
		return 0, false, fmt.Errorf("engine: bound on c must be nonnegative, got %v", bound)
	}
	for _, s := range []struct {
		x *sparse.Embedded
		i int
	}{{x, i}, {y, j}} {
		if s.x.Embedder != x.Embedder || s.i < 0 || s.i >= s.x.Rows() {
			return 0, false, errors.New("engine: a row is out of range, or the documents have different embedders")
		}
	}
	s, a := x.Row(i)
	t, b := y.Row(j)
	if x.Embedder.Pairing == sparse.Cosine && !isNear(s, a, t, b, squaredDistanceBound(panel.InclusiveBound(bound))) {
		return 0, false, nil
	}
	exact := panel.ExactC(x, i, y, j)
	return float32(exact), exact <= panel.InclusiveBound(bound), nil
}

// SortMatches sorts matches by c, with ties broken by document index.
func SortMatches(list []Match) {
	slices.SortFunc(list, func(a, b Match) int {
		switch {
		case a.C != b.C && a.C < b.C:
			return -1
		case a.C != b.C:
			return 1
		}
		return a.Document - b.Document
	})
}
