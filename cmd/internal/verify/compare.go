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

// orthogonalTolerance is the maximum |1-c| in the reference for documents without common terms. For
// such pairs 1-c is only rounding error, so a relative error is meaningless.
const orthogonalTolerance = 1e-14

// comparison is the result of comparing one kernel on one back end with the reference.
type comparison struct {
	row           kernelRow
	result        rowResult
	numAsymmetric int64 // number of pairs i < j whose two values differ in any bit

	hash   hash.Hash
	square []float32 // kernel values of all pairs of the sample's row documents, to check symmetry
}

// maxError is the largest error and its position.
type maxError struct {
	err       float64
	row, col  int // row is an index into sample.rows, and col an index into the row's compared values
	got, want float64
}

// noError is smaller than any error.
var noError = maxError{err: -1}

// update sets e to the given error if it is larger. NaN counts as the largest error.
func (e *maxError) update(err float64, row, col int, got, want float64) {
	if err > e.err || math.IsNaN(err) && !math.IsNaN(e.err) {
		*e = maxError{err, row, col, got, want}
	}
}

// Kinds of errors, which index rowResult.maxErrors.
const (
	absoluteError = iota
	relativeError
	ulpError
	numErrors
)

// rowResult is the result for one or more rows of the sample.
type rowResult struct {
	maxErrors    [numErrors]maxError
	firstFailure maxError // first value outside its tolerance
	numFailures  int64
	numIdentical int64 // number of compared pairs of identical documents, including (i, i)
	numNonzero   int64 // number of compared pairs of identical documents with a nonzero value
}

func newRowResult() rowResult {
	return rowResult{maxErrors: [numErrors]maxError{noError, noError, noError}}
}

func (a *rowResult) merge(b *rowResult) {
	for k, e := range b.maxErrors {
		a.maxErrors[k].update(e.err, e.row, e.col, e.got, e.want)
	}
	if a.numFailures == 0 {
		a.firstFailure = b.firstFailure
	}
	a.numFailures += b.numFailures
	a.numIdentical += b.numIdentical
	a.numNonzero += b.numNonzero
}

// compare computes the sample's rows for kernel k on every back end, and compares them with the
// reference. For the symmetry check, compare also stores the values between the documents of these
// rows.
func (v *verifier) compare(
	ctx context.Context, x *sparse.Embedded, s *sample, backends []*backendRun, k kernel.Kernel, room *chunkBuffers,
) ([]*comparison, error) {
	var found []*comparison
	for range backends {
		square := make([]float32, len(s.rows)*len(s.rows))
		found = append(found, &comparison{hash: sha256.New(), square: square, result: newRowResult()})
	}
	results := make([]rowResult, chunkRows)
	defer v.p.MuteEngine()()
	for first := 0; first < len(s.rows); first += chunkRows {
		v.p.Update(int64(first), int64(len(s.rows)))
		rows := s.rows[first:min(first+chunkRows, len(s.rows))]
		got, want := room.resize(len(rows), s.n)
		err := run.Tasks(ctx, v.NumWorkers(), len(rows), func(_ context.Context, _, r int) error {
			want[r].fill(k, x, &rows[r])
			return nil
		})
		if err != nil {
			return nil, err
		}
		for i, b := range backends {
			_, err := b.rows.Rows(ctx, k, engine.Request{RowIndices: documentsOf(rows)}, got)
			if errors.Is(err, engine.ErrNotFinite) { // sets all values to NaN, which is outside every tolerance
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
				found[i].result.merge(&results[r])
			}
		}
	}
	for i, f := range found {
		f.finish(v, x, s, backends[i].isa, k)
	}
	return found, nil
}

// chunkBuffers holds memory for comparing a chunk of rows. It is reused, because mapping new pages
// would take a tenth of the running time.
type chunkBuffers struct {
	got  []float32
	want [chunkRows]expectedRow
}

// resize returns memory for rows and their expected values.
func (c *chunkBuffers) resize(rows, columns int) (*engine.Dense, []expectedRow) {
	if cap(c.got) < rows*columns {
		c.got = make([]float32, rows*columns)
	}
	return &engine.Dense{Rows: rows, Cols: columns, Data: c.got[:rows*columns]}, c.want[:rows]
}

// expectedRow holds the reference values of a row, which all instruction sets share.
type expectedRow []float64

func (e *expectedRow) fill(k kernel.Kernel, x *sparse.Embedded, row *sampleRow) {
	*e = (*e)[:0]
	for at, c := range row.c {
		*e = append(*e, k.Eval(c, x.Norms[row.document], x.Norms[row.column(at)]))
	}
}

func (s *sample) compareRow(x *sparse.Embedded, k kernel.Kernel, row int, got []float32, want expectedRow) rowResult {
	res := newRowResult()
	r := &s.rows[row]
	i, group := r.document, s.groups[r.document]
	for at, w := range want {
		j, c := r.column(at), r.c[at]
		g := float64(got[j])
		err := math.Abs(g - w)
		res.maxErrors[absoluteError].update(err, row, at, g, w)
		if w != 0 && !(math.Abs(1-c) < orthogonalTolerance) {
			res.maxErrors[relativeError].update(err/math.Abs(w), row, at, g, w)
			res.maxErrors[ulpError].update(err/ulp32(w), row, at, g, w)
		}
		if !kernel.WithinTolerance(k, g, w, c, x.Norms[i], x.Norms[j]) {
			if res.numFailures == 0 {
				res.firstFailure = maxError{err, row, at, g, w}
			}
			res.numFailures++
		}
		if j == i || group >= 0 && s.groups[j] == group {
			res.numIdentical++
			if !(g == 0) {
				res.numNonzero++
			}
		}
	}
	return res
}

// addRows adds the compared values to the digest, and stores the values between the documents of
// the sample's rows.
func (f *comparison) addRows(s *sample, first int, got *engine.Dense) {
	var buf []byte
	var some []float32
	for r := range got.Rows {
		values := got.Row(r)
		for c := range s.rows {
			f.square[(first+r)*len(s.rows)+c] = values[s.rows[c].document]
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
	where := func(e maxError) comparedPair {
		i, j := s.rows[e.row].document, s.rows[e.row].column(e.col)
		name := v.corpus.DocumentName
		return comparedPair{i, j, name(i), name(j), e.got, e.want}
	}
	f.row = kernelRow{
		ISA: string(isa), Kernel: k.String(), Embedding: k.Embedding().String(), NumPairs: s.numPairs(),
		NumFailures: f.result.numFailures, Passed: f.result.numFailures == 0, Digest: hex.EncodeToString(f.hash.Sum(nil)),
	}
	to := &f.row
	// The largest relative errors are -1 if no pair has a meaningful relative error.
	worst := f.result.maxErrors
	to.MaxAbsErr, to.MaxAbsErrAt = max(worst[absoluteError].err, 0), where(worst[absoluteError])
	to.MaxRelErr, to.MaxULP = max(worst[relativeError].err, 0), max(worst[ulpError].err, 0)
	at, c := to.MaxAbsErrAt, s.rows[f.result.maxErrors[absoluteError].row].c[f.result.maxErrors[absoluteError].col]
	to.Tolerance = kernel.Tolerance(k, c, x.Norms[at.I], x.Norms[at.J])
	if !to.Passed {
		p := where(f.result.firstFailure)
		to.FirstFailure = &p
	}
	n := len(s.rows)
	for a := range n {
		for b := range a {
			if math.Float32bits(f.square[a*n+b]) != math.Float32bits(f.square[b*n+a]) {
				f.numAsymmetric++
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
