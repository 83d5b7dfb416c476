package verify

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"github.com/minio/sha256-simd"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Sample sizes.
const (
	allPairsUpTo    = 2000      // maximum number of documents for comparing all pairs
	numSamplePairs  = 4_000_000 // number of sampled pairs for larger corpora
	numClosestPairs = 1000      // number of closest pairs in the sample
	numClosestFewer = 250       // number of closest pairs for each embedding after the first
)

// sample holds the pairs that are compared in one embedding.
type sample struct {
	n            int         // number of documents
	rows         []sampleRow // rows of the sample, in ascending order
	closest      []closePair
	groups       []int32 // group index of each document, equal for identical documents; -1 for unique documents
	numIdentical int64   // number of pairs of identical documents in the corpus
}

// sampleRow is a row of the matrix with its compared columns.
type sampleRow struct {
	document int
	columns  []int32   // compared columns in ascending order; nil for all columns
	c        []float64 // reference values of c, one per compared column
}

// column returns the document of the k-th compared value.
func (r *sampleRow) column(k int) int {
	if r.columns == nil {
		return k
	}
	return int(r.columns[k])
}

func documentsOf(rows []sampleRow) []int {
	out := make([]int, len(rows))
	for k := range rows {
		out[k] = rows[k].document
	}
	return out
}

// closePair is a pair of documents i < j with its cosine distance c.
type closePair struct {
	i, j int32
	c    float32
}

// chooseSample returns the sample. It finds the closest pairs by computing c for all pairs or, if
// few closest pairs are needed, for every eighth row. The sample of a small corpus has all rows.
// Otherwise the sample has random rows, and further rows for the closest pairs.
func (v *verifier) chooseSample(
	ctx context.Context, x *sparse.Embedded, eng *engine.Engine, c kernel.Kernel, backends int,
) (*sample, error) {
	s := &sample{n: x.Rows()}
	s.findIdentical(x)
	v.p.StartStage("closest pairs, " + c.Embedding().String())
	closest := &closestPairList{limit: v.numClosest, bound: float32(math.Inf(1))}
	if budget := v.Budget(); v.numClosest < numClosestPairs && s.n > allPairsUpTo {
		if err := closest.addRows(ctx, eng, c, defaultRowStep); err != nil {
			return nil, err
		}
	} else if budget == 0 || v.heldBytes+engine.MatrixBytes(s.n, s.n) <= budget {
		m, err := eng.Gram(ctx, c, nil)
		if err != nil {
			return nil, err
		}
		for i := range s.n {
			closest.addRow(i, m.Row(i)[i+1:])
		}
	} else {
		need := v.heldBytes + engine.MatrixBytes(min(chunkRows, s.n), s.n)
		if err := v.CheckMemory("the search for the closest pairs", need); err != nil {
			return nil, err
		}
		if err := closest.addRows(ctx, eng, c, 1); err != nil {
			return nil, err
		}
	}
	s.closest = closest.sortedPairs()
	s.rows = chooseRows(s.n, s.closest, v.numPairs, v.seed)
	return s, v.CheckMemory("the comparison with the float64 reference",
		v.heldBytes+s.comparisonBytes(x, backends, v.NumWorkers()))
}

// chooseRows returns all rows of a small corpus. Otherwise it returns enough random rows for the
// number of pairs, and further rows for the closest pairs.
func chooseRows(n int, closest []closePair, pairs int, seed uint64) []sampleRow {
	count := n
	if n > allPairsUpTo {
		count = min((pairs+n-1)/n, n)
	}
	whole := make([]bool, n)
	var rows []sampleRow
	for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(n)[:count] {
		whole[i] = true
		rows = append(rows, sampleRow{document: i})
	}
	left := slices.DeleteFunc(slices.Clone(closest), func(p closePair) bool { return whole[p.i] || whole[p.j] })
	for _, i := range vertexCover(left) {
		r := sampleRow{document: i}
		for _, p := range left {
			switch i {
			case int(p.i):
				r.columns = append(r.columns, p.j)
			case int(p.j):
				r.columns = append(r.columns, p.i)
			}
		}
		slices.Sort(r.columns)
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b sampleRow) int { return a.document - b.document })
	return rows
}

// subsample returns a sample with every step-th whole row, and the closest pairs of the other rows.
// If the sample contains all pairs, or if step is 1, subsample returns s.
func (s *sample) subsample(step int) *sample {
	if s.n <= allPairsUpTo || step == 1 {
		return s
	}
	near := map[int32][]int32{}
	for _, p := range s.closest {
		near[p.i], near[p.j] = append(near[p.i], p.j), append(near[p.j], p.i)
	}
	out := *s
	out.rows = nil
	whole := 0
	for _, r := range s.rows {
		if r.columns == nil {
			if whole++; whole%step != 1 {
				columns := slices.Sorted(slices.Values(near[int32(r.document)]))
				c := make([]float64, len(columns))
				for k, j := range columns {
					c[k] = r.c[j]
				}
				r.columns, r.c = columns, c
			}
		}
		if len(r.c) > 0 {
			out.rows = append(out.rows, r)
		}
	}
	return &out
}

// vertexCover returns documents such that every pair contains one of them. It repeatedly chooses
// the document with the most uncovered pairs.
func vertexCover(pairs []closePair) []int {
	var rows []int
	left := slices.Clone(pairs)
	for len(left) > 0 {
		count := map[int32]int{}
		best := left[0].i
		for _, p := range left {
			for _, d := range [2]int32{p.i, p.j} {
				count[d]++
				if count[d] > count[best] || count[d] == count[best] && d < best {
					best = d
				}
			}
		}
		rows = append(rows, int(best))
		left = slices.DeleteFunc(left, func(p closePair) bool { return p.i == best || p.j == best })
	}
	return rows
}

// findIdentical finds documents with equal rows in float64, the precision of the engine's input.
func (s *sample) findIdentical(x *sparse.Embedded) {
	s.groups = make([]int32, s.n)
	first := map[[sha256.Size]byte]int32{}
	size := map[int32]int64{}
	var unit []float64
	var buf []byte
	for i := range s.n {
		terms, _ := x.Row(i)
		unit = x.UnitVector64(i, unit)
		buf = buf[:0]
		for k, t := range terms {
			buf = binary.LittleEndian.AppendUint32(buf, t)
			buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(unit[k]))
		}
		key := sha256.Sum256(buf)
		g, ok := first[key]
		if !ok {
			g = int32(i)
			first[key] = g
		}
		s.groups[i] = g
		s.numIdentical += size[g]
		size[g]++
	}
	for i, g := range s.groups {
		if size[g] == 1 {
			s.groups[i] = -1
		}
	}
}

// computeReference computes the reference values of c for all pairs of the sample. All kernels and
// instruction sets share these values.
func (v *verifier) computeReference(ctx context.Context, x *sparse.Embedded, s *sample) error {
	for k := range s.rows {
		r := &s.rows[k]
		if r.columns != nil {
			r.c = make([]float64, len(r.columns))
		} else {
			r.c = make([]float64, s.n)
		}
	}
	v.p.StartStage("reference, " + x.Embedder.String())
	ref := engine.NewReference(x)
	var done atomic.Int64
	return run.Tasks(ctx, v.NumWorkers(), len(s.rows), func(ctx context.Context, _, k int) error {
		v.p.Update(done.Add(1), int64(len(s.rows)))
		r := &s.rows[k]
		if r.columns == nil {
			return ref.Row(ctx, r.document, r.c)
		}
		for k, j := range r.columns {
			r.c[k] = ref.C(r.document, int(j))
		}
		return nil
	})
}

// numPairs returns the number of compared values.
func (s *sample) numPairs() int64 {
	var n int64
	for k := range s.rows {
		n += int64(len(s.rows[k].c))
	}
	return n
}

// comparisonBytes returns the memory of the comparison in bytes, excluding documents and engines:
// the reference's c, plus the maximum over two stages. The first stage needs the reference's
// scratch memory. The second stage needs expected, computed and symmetry-check values.
func (s *sample) comparisonBytes(x *sparse.Embedded, isas, workers int) int64 {
	var n int64
	for k := range s.rows {
		if s.rows[k].columns == nil {
			n += 8 * int64(s.n)
		} else {
			n += 12 * int64(len(s.rows[k].columns))
		}
	}
	reference := 8*x.NNZ() + 16*int64(s.n) + int64(workers)*(5*int64(x.Cols)+4*int64(x.MaxRowLen()))
	rows := int64(len(s.rows))
	return n + max(reference, 20*min(chunkRows, rows)*int64(s.n)+4*rows*rows*int64(isas))
}

// numMirrored returns the number of pairs i < j for which both (i, j) and (j, i) are computed.
func (s *sample) numMirrored() int64 { return int64(len(s.rows)) * int64(len(s.rows)-1) / 2 }

func (s *sample) describe(x *sparse.Embedded) embeddingLine {
	d := x.Digest()
	e := embeddingLine{Embedding: x.Embedder.String(), Digest: hex.EncodeToString(d[:]), NumPairs: s.numPairs(),
		NumRows: len(s.rows), NumClosestPairs: len(s.closest), NumIdentical: s.numIdentical}
	for _, p := range s.closest {
		e.MaxClosestC = float64(p.c)
	}
	return e
}
