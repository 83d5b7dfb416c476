package width

import (
	"context"
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/internal/run"
)

// search compares all test documents with all training documents. A task compares 32 (chunk) test
// documents with the training documents, block by block. Only running tasks hold lists of
// neighbours, so memory for lists doesn't grow with the number of documents.
type search struct {
	train   Set
	test    *mat.Dense
	rows    int // number of rows of test
	o       Options
	classes int
}

const (
	chunk = 32 // number of test documents per task
	block = 64 // number of training documents per block
	lanes = 4  // number of training documents compared at a time
)

func newSearch(train Set, test *mat.Dense, o Options) *search {
	rows, features := test.Dims()
	s := &search{train: train, test: test, rows: rows, o: o.resolve(features)}
	for _, class := range train.Labels {
		s.classes = max(s.classes, int(class)+1)
	}
	return s
}

func (s *search) tasks() int { return (s.rows + chunk - 1) / chunk }

// run calls decide for each test document i and each index into Widths. classes[k-1] is the class
// predicted by the k nearest documents. Calls aren't concurrent.
func (s *search) run(ctx context.Context, decide func(i, width int, classes []int32)) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	all := int64(s.rows) * int64(len(s.train.Labels))
	var done int64
	var lock sync.Mutex
	return run.Tasks(ctx, s.o.Workers, s.tasks(), func(ctx context.Context, _, task int) error {
		lo := task * chunk
		hi := min(lo+chunk, s.rows)
		lists, err := s.nearest(ctx, lo, hi)
		if err != nil {
			return err
		}
		lock.Lock()
		defer lock.Unlock()
		v := newVotes(s)
		for i := lo; i < hi; i++ {
			for at := range s.o.Widths {
				decide(i, at, v.of(lists[(i-lo)*len(s.o.Widths)+at]))
			}
		}
		if s.o.Progress != nil {
			done += int64(hi-lo) * int64(len(s.train.Labels))
			return run.Guard("width: Options.Progress", func() error { s.o.Progress(done, all); return nil })
		}
		return nil
	})
}

// nearest returns the lists of neighbours of test documents lo to hi-1, indexed by document and
// width. It checks ctx before each block.
func (s *search) nearest(ctx context.Context, lo, hi int) ([]*list, error) {
	widths := len(s.o.Widths)
	lists := make([]*list, (hi-lo)*widths)
	for i := range lists {
		lists[i] = newList(s.o.Neighbours)
	}
	panels := make([]float64, block*s.o.Widths[widths-1])
	for first := 0; first < len(s.train.Labels); first += block {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		count := min(block, len(s.train.Labels)-first)
		s.pack(panels, first, count)
		for i := lo; i < hi; i++ {
			s.meet(lists[(i-lo)*widths:][:widths], s.test.RawRowView(i), panels, first, count)
		}
	}
	return lists, nil
}

// pack copies training documents to panels. A panel contains 4 (lanes) documents, feature by
// feature. The last panel is padded with the first documents.
func (s *search) pack(panels []float64, first, count int) {
	widest := s.o.Widths[len(s.o.Widths)-1]
	for j := range (count + lanes - 1) / lanes * lanes {
		row := s.train.Features.RawRowView(first + j%count)
		to := panels[j/lanes*lanes*widest+j%lanes:]
		for c, v := range row[:widest] {
			to[c*lanes] = v
		}
	}
}

// meet compares a test document with a block of training documents, and updates its lists of
// neighbours, one per width.
func (s *search) meet(lists []*list, x, panels []float64, first, count int) {
	widest := s.o.Widths[len(s.o.Widths)-1]
	for j := 0; j < count; j += lanes {
		panel := panels[j*widest : (j+lanes)*widest]
		var d [lanes]float64
		before := 0
		for at, w := range s.o.Widths {
			distances(&d, x[before:w], panel[before*lanes:w*lanes])
			before = w
			l := lists[at]
			for lane, v := range d[:min(lanes, count-j)] {
				if v < l.worst {
					l.insert(v, int32(first+j+lane))
				}
			}
		}
	}
}

// distances adds (x[c] - panel[c*lanes+lane])² to d[lane], in ascending order of c.
func distances(d *[lanes]float64, x, panel []float64) {
	d0, d1, d2, d3 := d[0], d[1], d[2], d[3]
	for _, v := range x {
		p := panel[:lanes]
		panel = panel[lanes:]
		e0, e1, e2, e3 := v-p[0], v-p[1], v-p[2], v-p[3]
		d0 += float64(e0 * e0) // the conversion prevents a fused multiply-add
		d1 += float64(e1 * e1)
		d2 += float64(e2 * e2)
		d3 += float64(e3 * e3)
	}
	*d = [lanes]float64{d0, d1, d2, d3}
}

// list holds the nearest documents found so far, nearest first. Ties are broken by index.
type list struct {
	worst     float64 // only smaller distances are inserted
	distances []float64
	documents []int32
	most      int
}

func newList(most int) *list { return &list{worst: math.Inf(1), most: most} }

func (l *list) insert(distance float64, document int32) {
	if len(l.distances) < l.most {
		l.distances, l.documents = append(l.distances, 0), append(l.documents, 0)
	}
	at := len(l.distances) - 1
	for ; at > 0 && distance < l.distances[at-1]; at-- {
		l.distances[at], l.documents[at] = l.distances[at-1], l.documents[at-1]
	}
	l.distances[at], l.documents[at] = distance, document
	if len(l.distances) == l.most {
		l.worst = l.distances[l.most-1]
	}
}

// votes counts the votes of neighbours for each class.
type votes struct {
	s       *search
	count   []int
	classes []int32
}

func newVotes(s *search) *votes {
	return &votes{s: s, count: make([]int, s.classes), classes: make([]int32, s.o.Neighbours)}
}

// of returns the predicted classes. Element k-1 is predicted by the k nearest documents. The slice
// is valid until the next call.
func (v *votes) of(l *list) []int32 {
	clear(v.count)
	labels, most := v.s.train.Labels, 0
	for k := range v.classes {
		if k >= len(l.documents) { // all documents in the list have voted
			v.classes[k] = v.classes[k-1]
			continue
		}
		own := labels[l.documents[k]]
		v.count[own]++
		most = max(most, v.count[own])
		for _, document := range l.documents[:k+1] {
			if class := labels[document]; v.count[class] == most {
				v.classes[k] = class
				break
			}
		}
	}
	return v.classes
}
