package solver

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/run"
)

// Support returns the documents that are support vectors of any decision function, in increasing
// order. To predict an object, only its kernel values with these documents are needed.
func (c *Classifier) Support() []int {
	var all []int
	for _, m := range c.Functions {
		if m != nil {
			all = append(all, m.Support...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Predictor computes the decision values of all decision functions of a classifier. A Predictor may
// be used concurrently. It retains the classifier, which must not change.
type Predictor struct {
	c              *Classifier
	k              *asm.Kernels
	columns        int       // number of columns of kernel values
	supportColumns [][]int32 // columns of each decision function's support vectors, increasing
	biases         []float64 // -Rho of each decision function; 0 if the function is nil
	coefCount      int       // total number of coefficients

	once     sync.Once
	byColumn columnCoefs // computed at the first prediction of a single object
}

// columnCoefs holds the coefficients of all decision functions by column. Successive additions by
// column change different sums, so that the CPU can overlap the additions.
type columnCoefs struct {
	offsets  []int // index of each column's first entry in function and coef, and total number of entries
	function []int32
	coef     []float64
}

// NewPredictor returns a predictor. Column s of the kernel values contains the kernel values with
// document columns[s]. columns must be strictly increasing and include [Classifier.Support]. If k
// is nil, asm.BestKernels() is used. Results are bit-identical for all instruction sets.
func (c *Classifier) NewPredictor(columns []int, k *asm.Kernels) (*Predictor, error) {
	if k == nil {
		k = asm.BestKernels()
	}
	p := &Predictor{
		c: c, k: k, columns: len(columns), supportColumns: make([][]int32, len(c.Functions)),
		biases: make([]float64, len(c.Functions)),
	}
	for i, m := range c.Functions {
		if m == nil {
			continue
		}
		from := 0
		for _, row := range m.Support {
			n, found := slices.BinarySearch(columns[from:], row)
			if !found {
				return nil, userError("document %d has a coefficient in decision function %d but no column of kernel values", row,
					i)
			}
			from += n + 1
			p.supportColumns[i] = append(p.supportColumns[i], int32(from-1))
		}
		p.biases[i] = -m.Rho
		p.coefCount += len(m.Support)
	}
	return p, nil
}

func (p *Predictor) coefsByColumn() *columnCoefs {
	p.once.Do(func() {
		b := columnCoefs{make([]int, p.columns+1), make([]int32, p.coefCount), make([]float64, p.coefCount)}
		next := b.offsets[1:] // per column: number of entries, then index of the first entry, then index after the last
		for _, at := range p.supportColumns {
			for _, s := range at {
				next[s]++
			}
		}
		end := 0
		for s, n := range next {
			next[s], end = end, end+n
		}
		for i, at := range p.supportColumns {
			for k, s := range at {
				b.function[next[s]], b.coef[next[s]] = int32(i), p.c.Functions[i].Coef[k]
				next[s]++
			}
		}
		p.byColumn = b
	})
	return &p.byColumn
}

// Bytes returns the maximum memory of the predictor in bytes, excluding every [Accumulator].
func (p *Predictor) Bytes() int64 {
	return int64(p.coefCount)*(4+4+8) + 8*int64(p.columns+1+len(p.biases))
}

// predictRows calls handle with the decision values of each document of docs, concurrently on up to
// opt.Workers goroutines. handle must not retain the values.
func (c *Classifier) predictRows(
	ctx context.Context, m *checkedMatrix, docs []int, opt *Options, handle func(i int, decisions []float64),
) error {
	ranges, _ := columnRanges(c.Support())
	var columns []int
	for _, r := range ranges {
		for d := r[0]; d < r[1]; d++ {
			columns = append(columns, d)
		}
	}
	p, err := c.NewPredictor(columns, opt.Kernels)
	if err != nil {
		return err
	}
	type worker struct {
		sums      *Accumulator
		values    []float32
		rows      [][]float32
		decisions []float64
	}
	width := opt.Kernels.PanelWidth
	blocks := (len(docs) + width - 1) / width
	all := make([]worker, max(1, min(opt.Workers, blocks)))
	return run.Tasks(ctx, len(all), blocks, func(ctx context.Context, at, block int) error {
		w := &all[at]
		if w.sums == nil {
			w.sums = p.NewAccumulator(width)
			w.values, w.decisions = make([]float32, width*p.columns), make([]float64, len(p.supportColumns))
			for r := range width {
				w.rows = append(w.rows, w.values[r*p.columns:(r+1)*p.columns])
			}
		}
		own := docs[block*width : min((block+1)*width, len(docs))]
		if len(columns) > 0 {
			if err := m.Rows(ctx, own, ranges, w.rows[:len(own)]); err != nil {
				return err
			}
		}
		w.sums.Reset()
		w.sums.AddRows(w.values, len(own))
		for r, i := range own {
			w.sums.Result(r, w.decisions)
			handle(i, w.decisions)
		}
		return nil
	})
}

// Accumulator accumulates the decision values of objects while their kernel values are computed, so
// that kernel values needn't be stored. It must not be used concurrently.
type Accumulator struct {
	p          *Predictor
	width      int // number of objects
	nextColumn int
	sums       []float64 // [decision function][object]
	added      []int     // number of coefficients added per decision function
	transposed []float32 // [column][object], for AddRows
}

// NewAccumulator returns an Accumulator for width objects. width must be positive.
func (p *Predictor) NewAccumulator(width int) *Accumulator {
	s := &Accumulator{p: p, width: width, sums: make([]float64, len(p.supportColumns)*width),
		added: make([]int, len(p.supportColumns))}
	s.Reset()
	return s
}

// AccumulatorBytes returns the maximum memory of an Accumulator for width objects, in bytes.
func (p *Predictor) AccumulatorBytes(width int) int64 {
	return int64(len(p.supportColumns))*8*int64(width+1) + 4*transposeColumns*int64(width)
}

// Reset prepares s for new objects.
func (s *Accumulator) Reset() {
	s.nextColumn = 0
	clear(s.added)
	for i, v := range s.p.biases {
		sum := s.functionSums(i)
		for r := range sum {
			sum[r] = v
		}
	}
}

func (s *Accumulator) functionSums(machine int) []float64 {
	return s.sums[machine*s.width : (machine+1)*s.width]
}

// Add adds the next columns. values[c*width+r] is the kernel value of object r in column first+c.
// first must be the column after the last added column, or 0 after [Accumulator.Reset]. Otherwise,
// or if there are too many columns, Add panics.
func (s *Accumulator) Add(first int, values []float32) {
	columns := len(values) / s.width
	if first != s.nextColumn || columns > s.p.columns-first {
		panic(fmt.Sprintf("solver: columns must continue at %d and end below %d, got %d to %d",
			s.nextColumn, s.p.columns, first, first+columns-1))
	}
	s.nextColumn += columns
	if s.width == 1 {
		s.addSingle(first, values)
		return
	}
	end := int32(s.nextColumn)
	for i, at := range s.p.supportColumns {
		from := s.added[i]
		if from == len(at) || at[from] >= end { // most decision functions have no coefficient in most columns
			continue
		}
		n, _ := slices.BinarySearch(at[from:], end)
		s.p.k.RowSums(s.functionSums(i), values, first, at[from:from+n], s.p.c.Functions[i].Coef[from:from+n])
		s.added[i] = from + n
	}
}

// addSingle implements Add for a single object. It adds the products of each decision function in
// column order, so that the sums are bit-identical to the sums of Add.
func (s *Accumulator) addSingle(first int, values []float32) {
	b, sums := s.p.coefsByColumn(), s.sums
	for c, v := range values {
		x, from, to := float64(v), b.offsets[first+c], b.offsets[first+c+1]
		coef := b.coef[from:to]
		machines := b.function[from:to][:len(coef)]
		for k, y := range coef {
			sums[machines[k]] += float64(y * x)
		}
	}
}

// transposeColumns is the number of columns that AddRows transposes at a time, so that the
// transposed values fit in the L1 cache.
const transposeColumns = 64

// AddRows adds all columns for objects 0 to objects-1. values[r*columns+c] is the kernel value of
// object r in column c, where columns is the number of columns in [Classifier.NewPredictor]. Call
// AddRows once after [Accumulator.Reset], instead of [Accumulator.Add].
func (s *Accumulator) AddRows(values []float32, objects int) {
	columns := s.p.columns
	if s.transposed == nil {
		s.transposed = make([]float32, min(transposeColumns, columns)*s.width)
	}
	for first := 0; first < columns; first += transposeColumns {
		n := min(transposeColumns, columns-first)
		s.p.k.Transpose(s.transposed, s.width, values[first:], columns, objects, n)
		s.Add(first, s.transposed[:n*s.width])
	}
}

// Result sets dst[i] to the decision value Σ Coef·K - Rho of function i for object r. All columns
// must have been added. Products are added in float64, in the order of the support vectors. Each
// operation is rounded separately, without FMA. The value of a nil function is 0. The result
// depends neither on other objects nor on the division of columns among calls of Add.
func (s *Accumulator) Result(r int, dst []float64) {
	for i := range dst {
		dst[i] = s.sums[i*s.width+r]
	}
}

// PredictClass returns the class that the scheme predicts from the decision values of an object.
//
// In one-vs-one, the class with the most votes wins. A decision function votes for the first class
// of its pair if its value is positive, and for the other class otherwise. Ties are broken by the
// sum of the decision values of the class, which are negated if the class is the second of its
// pair. Remaining ties are broken by class index. So, unlike in LIBSVM, the class doesn't depend on
// the order of documents. In one-vs-rest, the class with the largest value wins. For the scheme
// MultiLabel, use [Classifier.PredictLabels]. NaN isn't positive and is never the largest value.
func (c *Classifier) PredictClass(decisions []float64) int {
	best := 0
	if c.Scheme != OneVsOne {
		for i, v := range decisions {
			if v > decisions[best] || math.IsNaN(decisions[best]) {
				best = i
			}
		}
		return best
	}
	votes, sums := make([]int, c.Classes), make([]float64, c.Classes)
	for i, pair := range ClassPairs(c.Classes) {
		if c.Functions[i] == nil {
			continue
		}
		winner := pair[1]
		if decisions[i] > 0 {
			winner = pair[0]
		}
		votes[winner]++
		sums[pair[0]] += decisions[i]
		sums[pair[1]] -= decisions[i]
	}
	for a, v := range votes {
		if v > votes[best] || v == votes[best] && sums[a] > sums[best] {
			best = a
		}
	}
	return best
}

// PredictLabels appends the labels with positive decision values to dst, in increasing order. If no
// value is positive and AtLeastOneLabel is set, it appends the label with the largest value.
func (c *Classifier) PredictLabels(dst []int, decisions []float64) []int {
	return appendLabels(dst, decisions, nil, c.AtLeastOneLabel)
}
