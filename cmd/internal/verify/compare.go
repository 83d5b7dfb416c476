package verify

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"math"
	"sync"

	"github.com/minio/sha256-simd"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// chunkRows is the number of sample rows that are computed at a time. It is a multiple of the panel
// size, so that two or four workers end at the same time.
const chunkRows = 256

// orthogonal is the maximum |1-c| in the reference for documents without common terms. For such
// pairs 1-c is only rounding error, so a relative error is meaningless.
const orthogonal = 1e-14

// comparison is the result of comparing one kernel on one back end with the reference.
type comparison struct {
	row        kernelRow
	best       rowResult
	asymmetric int64 // number of pairs i < j whose two values differ in any bit

	hash   hash.Hash
	square []float32 // values between rows of the sample, to check symmetry
}

// extreme is the largest error and its position.
type extreme struct {
	err       float64
	row, col  int // index in sample.rows, and index among the row's compared values
	got, want float64
}

// nowhere is smaller than any error.
var nowhere = extreme{err: -1}

// raise sets e to the given error if it is larger. NaN counts as the largest error.
func (e *extreme) raise(err float64, row, col int, got, want float64) {
	if err > e.err || math.IsNaN(err) && !math.IsNaN(e.err) {
		*e = extreme{err, row, col, got, want}
	}
}

// Kinds of errors.
const (
	absolute = iota
	relative
	ulps
	numErrors
)

// rowResult is the result for one or more rows of the sample.
type rowResult struct {
	worst     [numErrors]extreme
	failed    extreme // first value outside its tolerance
	failures  int64
	identical int64 // number of pairs of identical documents
	notZero   int64 // number of identical pairs with a nonzero value
}

func newRowResult() rowResult {
	return rowResult{worst: [numErrors]extreme{nowhere, nowhere, nowhere}}
}

func (a *rowResult) merge(b *rowResult) {
	for k, e := range b.worst {
		a.worst[k].raise(e.err, e.row, e.col, e.got, e.want)
	}
	if a.failures == 0 {
		a.failed = b.failed
	}
	a.failures += b.failures
	a.identical += b.identical
	a.notZero += b.notZero
}

// compare computes the sample's rows for kernel k on every back end, and compares them with the
// reference. For the symmetry check it also stores the values between rows of the sample.
func (v *verifier) compare(
	ctx context.Context, x *sparse.Embedded, s *sample, backends []*candidate, k kernel.Kernel, room *room,
) ([]*comparison, error) {
	var found []*comparison
	for range backends {
		square := make([]float32, len(s.rows)*len(s.rows))
		found = append(found, &comparison{hash: sha256.New(), square: square, best: newRowResult()})
	}
	results := make([]rowResult, chunkRows)
	defer v.p.Hold()()
	for first := 0; first < len(s.rows); first += chunkRows {
		v.p.Update(int64(first), int64(len(s.rows)))
		rows := s.rows[first:min(first+chunkRows, len(s.rows))]
		got, want := room.of(len(rows), s.n)
		err := run.Tasks(ctx, v.NumWorkers(), len(rows), func(_ context.Context, _, r int) error {
			want[r].fill(k, x, &rows[r])
			return nil
		})
		if err != nil {
			return nil, err
		}
		for i, b := range backends {
			_, err := b.rows.Rows(ctx, k, engine.Request{Documents: docs(rows)}, got)
			if errors.Is(err, engine.ErrNotFinite) { // NaN is outside every tolerance
				for i := range got.Data {
					got.Data[i] = float32(math.NaN())
				}
			} else if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", b.isa, k, err)
			}
			var digest sync.WaitGroup // hashes the rows in order, concurrently with the comparison
			digest.Go(func() { found[i].addRows(s, first, got) })
			err = run.Tasks(ctx, v.NumWorkers(), len(rows), func(_ context.Context, _, r int) error {
				results[r] = s.compareRow(x, k, first+r, got.Row(r), want[r])
				return nil
			})
			digest.Wait()
			if err != nil {
				return nil, err
			}
			for r := range rows {
				found[i].best.merge(&results[r])
			}
		}
	}
	for i, f := range found {
		f.finish(v, x, s, backends[i].isa, k)
	}
	return found, nil
}

// room is memory for comparing a chunk of rows. It is reused, because mapping new pages would take
// a tenth of the running time.
type room struct {
	got  []float32
	want [chunkRows]expected
}

// of returns memory for rows and their expected values.
func (c *room) of(rows, columns int) (*engine.Dense, []expected) {
	if cap(c.got) < rows*columns {
		c.got = make([]float32, rows*columns)
	}
	return &engine.Dense{Rows: rows, Cols: columns, Data: c.got[:rows*columns]}, c.want[:rows]
}

// expected holds the reference values of a row, which all instruction sets share.
type expected []float64

// fill computes the reference values of a row.
func (e *expected) fill(k kernel.Kernel, x *sparse.Embedded, row *sampleRow) {
	*e = (*e)[:0]
	for at, c := range row.c {
		*e = append(*e, k.Eval(c, x.Norms[row.doc], x.Norms[row.column(at)]))
	}
}

// compareRow compares a computed row with the reference.
func (s *sample) compareRow(x *sparse.Embedded, k kernel.Kernel, row int, got []float32, want expected) rowResult {
	res := newRowResult()
	r := &s.rows[row]
	i, group := r.doc, s.group[r.doc]
	for at, w := range want {
		j, c := r.column(at), r.c[at]
		g := float64(got[j])
		err := math.Abs(g - w)
		res.worst[absolute].raise(err, row, at, g, w)
		if w != 0 && !(math.Abs(1-c) < orthogonal) {
			res.worst[relative].raise(err/math.Abs(w), row, at, g, w)
			res.worst[ulps].raise(err/ulp32(w), row, at, g, w)
		}
		if !kernel.Within(k, g, w, c, x.Norms[i], x.Norms[j]) {
			if res.failures == 0 {
				res.failed = extreme{err, row, at, g, w}
			}
			res.failures++
		}
		if j == i || group >= 0 && s.group[j] == group {
			res.identical++
			if !(g == 0) {
				res.notZero++
			}
		}
	}
	return res
}

// addRows adds the compared values to the digest, and stores the values between rows of the sample.
func (f *comparison) addRows(s *sample, first int, got *engine.Dense) {
	var buf []byte
	var some []float32
	for r := range got.Rows {
		values := got.Row(r)
		for c := range s.rows {
			f.square[(first+r)*len(s.rows)+c] = values[s.rows[c].doc]
		}
		if columns := s.rows[first+r].columns; columns != nil {
			some = some[:0]
			for _, c := range columns {
				some = append(some, values[c])
			}
			values = some
		}
		buf = appendBits(buf[:0], values)
		f.hash.Write(buf)
	}
}

// finish converts the result to a row of the report.
func (f *comparison) finish(v *verifier, x *sparse.Embedded, s *sample, isa asm.ISA, k kernel.Kernel) {
	where := func(e extreme) spot {
		i, j := s.rows[e.row].doc, s.rows[e.row].column(e.col)
		name := v.corpus.DocumentName
		return spot{i, j, name(i), name(j), e.got, e.want}
	}
	f.row = kernelRow{
		ISA: string(isa), Kernel: k.String(), Embedding: k.Embedding().String(), Pairs: s.pairs(),
		Failures: f.best.failures, Passed: f.best.failures == 0, Digest: hex.EncodeToString(f.hash.Sum(nil)),
	}
	to := &f.row
	// Relative errors stay -1 if all reference values are 0.
	worst := f.best.worst
	to.MaxAbsErr, to.AbsAt = max(worst[absolute].err, 0), where(worst[absolute])
	to.MaxRelErr, to.MaxULP = max(worst[relative].err, 0), max(worst[ulps].err, 0)
	at, c := to.AbsAt, s.rows[f.best.worst[absolute].row].c[f.best.worst[absolute].col]
	to.Tolerance = kernel.Tolerance(k, c, x.Norms[at.I], x.Norms[at.J])
	if !to.Passed {
		p := where(f.best.failed)
		to.FailedAt = &p
	}
	n := len(s.rows)
	for a := range n {
		for b := range a {
			if math.Float32bits(f.square[a*n+b]) != math.Float32bits(f.square[b*n+a]) {
				f.asymmetric++
			}
		}
	}
	f.square = nil
}

// ulp32 returns the distance between adjacent float32 numbers at |v|.
func ulp32(v float64) float64 {
	v = math.Abs(v)
	if !(v >= 0x1p-126) {
		return 0x1p-149
	}
	const mantissa = 1<<52 - 1
	return math.Float64frombits(math.Float64bits(v)&^mantissa) * 0x1p-23
}
