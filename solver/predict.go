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

// Support returns the rows of the matrix for which any machine has a coefficient, increasing. A
// prediction needs the kernel values with these.
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

// Predictor computes the decision values of all machines of a classifier at once. It may be used
// concurrently. It keeps the machines, which must not be changed.
type Predictor struct {
	c       *Classifier
	k       *asm.Kernels
	columns int
	at      [][]int32 // by machine: the columns of its support, increasing
	starts  []float64 // by machine: -Rho, 0 for none
	entries int       // of all machines

	once     sync.Once
	byColumn columnwise // made at the first sums of one object
}

// columnwise are the coefficients of all machines by the column that they belong to: for one object a column's value
// goes to the sums of many machines, one after the other, which wait for each other no more than its products do.
type columnwise struct {
	from    []int // by column: where its entries begin; then the end
	machine []int32
	coef    []float64
}

// NewPredictor returns a predictor for kernel values in columns, where columns[s] is the row of the
// matrix that column s belongs to. The columns increase and include those of [Classifier.Support], else
// that is an error. k nil means asm.Best(); all kernels give the same bits.
func (c *Classifier) NewPredictor(columns []int, k *asm.Kernels) (*Predictor, error) {
	if k == nil {
		k = asm.Best()
	}
	p := &Predictor{
		c: c, k: k, columns: len(columns), at: make([][]int32, len(c.Functions)), starts: make([]float64, len(c.Functions)),
	}
	for i, m := range c.Functions {
		if m == nil {
			continue
		}
		from := 0
		for _, row := range m.Support {
			n, found := slices.BinarySearch(columns[from:], row)
			if !found {
				return nil, errUser("document %d has a coefficient in machine %d but no column of kernel values", row, i)
			}
			from += n + 1
			p.at[i] = append(p.at[i], int32(from-1))
		}
		p.starts[i] = -m.Rho
		p.entries += len(m.Support)
	}
	return p, nil
}

// columnwise returns the coefficients by column.
func (p *Predictor) columnwise() *columnwise {
	p.once.Do(func() {
		b := columnwise{make([]int, p.columns+1), make([]int32, p.entries), make([]float64, p.entries)}
		next := b.from[1:] // where each column's entries begin while they are counted, and end when they are there
		for _, at := range p.at {
			for _, s := range at {
				next[s]++
			}
		}
		end := 0
		for s, n := range next {
			next[s], end = end, end+n
		}
		for i, at := range p.at {
			for k, s := range at {
				b.machine[next[s]], b.coef[next[s]] = int32(i), p.c.Functions[i].Coef[k]
				next[s]++
			}
		}
		p.byColumn = b
	})
	return &p.byColumn
}

// Bytes returns the memory that predictions take at most beside the machines and [Predictor.SumsBytes].
func (p *Predictor) Bytes() int64 {
	return int64(p.entries)*(4+4+8) + 8*int64(p.columns+1+len(p.starts))
}

// predictRows passes each document of a list, by its place there, with its decision values to each,
// which must not keep them. Up to opt.Workers goroutines call it at a time.
func (c *Classifier) predictRows(
	ctx context.Context, m *source, docs []int, opt *Options, each func(i int, decisions []float64),
) error {
	ranges, _ := rangesOf(c.Support())
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
		sums      *Sums
		values    []float32
		rows      [][]float32
		decisions []float64
	}
	width := opt.Kernels.Panel
	blocks := (len(docs) + width - 1) / width
	all := make([]worker, max(1, min(opt.Workers, blocks)))
	return run.Tasks(ctx, len(all), blocks, func(ctx context.Context, at, block int) error {
		w := &all[at]
		if w.sums == nil {
			w.sums = p.NewSums(width)
			w.values, w.decisions = make([]float32, width*p.columns), make([]float64, len(p.at))
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
		w.sums.Start()
		w.sums.AddRows(w.values, len(own))
		for r, i := range own {
			w.sums.Result(r, w.decisions)
			each(i, w.decisions)
		}
		return nil
	})
}

// Sums adds up the decision values of all machines for a few objects while their kernel values
// arrive, so that these needn't be kept. It belongs to one goroutine.
type Sums struct {
	p      *Predictor
	width  int       // objects
	next   int       // the column that comes next
	sums   []float64 // [machine][object]
	done   []int     // by machine: how many of its coefficients have been added
	turned []float32 // [column][object], of AddRows
}

// NewSums returns room for the sums of width objects, at least one, and begins with the first.
func (p *Predictor) NewSums(width int) *Sums {
	s := &Sums{p: p, width: width, sums: make([]float64, len(p.at)*width), done: make([]int, len(p.at))}
	s.Start()
	return s
}

// SumsBytes returns the memory that Sums for width objects take at most.
func (p *Predictor) SumsBytes(width int) int64 {
	return int64(len(p.at))*8*int64(width+1) + 4*turnColumns*int64(width)
}

// Start begins with new objects.
func (s *Sums) Start() {
	s.next = 0
	clear(s.done)
	for i, v := range s.p.starts {
		sum := s.of(i)
		for r := range sum {
			sum[r] = v
		}
	}
}

func (s *Sums) of(machine int) []float64 { return s.sums[machine*s.width : (machine+1)*s.width] }

// Add adds the next columns: values[c*width+r] is K(x_r, column first+c), where first is the column
// after the last one added, 0 after [Sums.Start]. It panics at another one, or at more columns than there are.
func (s *Sums) Add(first int, values []float32) {
	columns := len(values) / s.width
	if first != s.next || columns > s.p.columns-first {
		panic(fmt.Sprintf("solver: columns %d to %d, expected those from %d to before %d", first, first+columns-1, s.next,
			s.p.columns))
	}
	s.next += columns
	if s.width == 1 {
		s.addOne(first, values)
		return
	}
	end := int32(s.next)
	for i, at := range s.p.at {
		from := s.done[i]
		if from == len(at) || at[from] >= end { // most machines have no coefficient in most columns
			continue
		}
		n, _ := slices.BinarySearch(at[from:], end)
		s.p.k.RowSums(s.of(i), values, first, at[from:from+n], s.p.c.Functions[i].Coef[from:from+n])
		s.done[i] = from + n
	}
}

// addOne is Add for one object. A machine's products are added in the order of columns here, too, so its sum has the
// same bits.
func (s *Sums) addOne(first int, values []float32) {
	b, sums := s.p.columnwise(), s.sums
	for c, v := range values {
		x, from, to := float64(v), b.from[first+c], b.from[first+c+1]
		coef := b.coef[from:to]
		machines := b.machine[from:to][:len(coef)]
		for k, y := range coef {
			sums[machines[k]] += float64(y * x)
		}
	}
}

// turnColumns is how many columns AddRows transposes at a time: few enough for the first-level
// cache.
const turnColumns = 64

// AddRows adds all columns of the first objects: values[r*columns+c] is K(x_r, column c), where
// columns is their number in [Classifier.NewPredictor]. It is called once after [Sums.Start], in
// place of [Sums.Add].
func (s *Sums) AddRows(values []float32, objects int) {
	columns := s.p.columns
	if s.turned == nil {
		s.turned = make([]float32, min(turnColumns, columns)*s.width)
	}
	for first := 0; first < columns; first += turnColumns {
		n := min(turnColumns, columns-first)
		s.p.k.Transpose(s.turned, s.width, values[first:], columns, objects, n)
		s.Add(first, s.turned[:n*s.width])
	}
}

// Result sets dst[i] to the decision value of machine i for object r, when all columns have been
// added: Σ Coef·K - Rho, summed in float64 in the order of the support, each operation rounded by
// itself. A nil machine decides 0. The result depends neither on the other objects nor on how the
// columns were divided.
func (s *Sums) Result(r int, dst []float64) {
	for i := range dst {
		dst[i] = s.sums[i*s.width+r]
	}
}

// Decide returns the class that the scheme finds from the decision values of an object.
//
// One-vs-one: the class with the most votes. A machine votes for its first class above 0 and for the other
// otherwise. Ties are broken by the sum of the decision values in favour of a class less those against it, then by the
// index of the class. So a class doesn't depend on the order of documents, as it does in LIBSVM. One-vs-rest: the class
// of the largest value. Separate labels have no one class: see [Classifier.LabelsOf]. NaN is neither above 0 nor the
// largest.
func (c *Classifier) Decide(decisions []float64) int {
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
	for i, pair := range Pairs(c.Classes) {
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

// LabelsOf appends the labels whose decision values are above 0 to dst, in increasing order; with
// AtLeastOne the label of the greatest value where none is above 0.
func (c *Classifier) LabelsOf(dst []int, decisions []float64) []int {
	return labelsOf(dst, decisions, nil, c.AtLeastOne)
}
