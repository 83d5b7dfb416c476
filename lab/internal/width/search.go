package width

import (
	"context"
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/internal/run"
)

// search compares all test documents with all training documents. A task compares chunkSize test
// documents with the training documents, block by block. Only running tasks hold lists of
// neighbours, so memory for lists doesn't grow with the number of documents.
type search struct {
	train      Dataset
	test       *mat.Dense
	testRows   int // number of rows of test
	o          Options
	classCount int
}

const (
	chunkSize = 32 // number of test documents per task
	blockSize = 64 // number of training documents per block
	lanes     = 4  // number of training documents compared at a time
)

func newSearch(train Dataset, test *mat.Dense, o Options) *search {
	rows, features := test.Dims()
	s := &search{train: train, test: test, testRows: rows, o: o.resolve(features)}
	for _, class := range train.Labels {
		s.classCount = max(s.classCount, int(class)+1)
	}
	return s
}

func (s *search) taskCount() int { return (s.testRows + chunkSize - 1) / chunkSize }

// run calls decide for each test document i and each index width into Widths. classes[k-1] is the
// class that the k nearest documents predict. Calls aren't concurrent.
func (s *search) run(ctx context.Context, decide func(i, width int, classes []int32)) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	all := int64(s.testRows) * int64(len(s.train.Labels))
	var done int64
	var lock sync.Mutex
	return run.Tasks(ctx, s.o.Workers, s.taskCount(), func(ctx context.Context, _, task int) error {
		lo := task * chunkSize
		hi := min(lo+chunkSize, s.testRows)
		lists, err := s.findNeighbours(ctx, lo, hi)
		if err != nil {
			return err
		}
		lock.Lock()
		defer lock.Unlock()
		v := newVoteCounter(s)
		for i := lo; i < hi; i++ {
			for at := range s.o.Widths {
				decide(i, at, v.predict(lists[(i-lo)*len(s.o.Widths)+at]))
			}
		}
		if s.o.Progress != nil {
			done += int64(hi-lo) * int64(len(s.train.Labels))
			return run.CatchPanic("width: Options.Progress", func() error { s.o.Progress(done, all); return nil })
		}
		return nil
	})
}

// findNeighbours returns the lists of neighbours of test documents lo to hi-1, indexed by document
// and width. It checks ctx before each block.
func (s *search) findNeighbours(ctx context.Context, lo, hi int) ([]*neighbourList, error) {
	widths := len(s.o.Widths)
	lists := make([]*neighbourList, (hi-lo)*widths)
	for i := range lists {
		lists[i] = newNeighbourList(s.o.MaxK)
	}
	panels := make([]float64, blockSize*s.o.Widths[widths-1])
	for first := 0; first < len(s.train.Labels); first += blockSize {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		count := min(blockSize, len(s.train.Labels)-first)
		s.pack(panels, first, count)
		for i := lo; i < hi; i++ {
			s.compare(lists[(i-lo)*widths:][:widths], s.test.RawRowView(i), panels, first, count)
		}
	}
	return lists, nil
}

// pack copies training documents to panels. A panel contains 4 documents (see lanes), feature by
// feature. The last panel is padded with copies of the block's first documents.
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

// compare compares test document x with a block of training documents, and inserts near training
// documents into lists. lists has one list per width.
func (s *search) compare(lists []*neighbourList, x, panels []float64, first, count int) {
	widest := s.o.Widths[len(s.o.Widths)-1]
	for j := 0; j < count; j += lanes {
		panel := panels[j*widest : (j+lanes)*widest]
		var d [lanes]float64
		before := 0
		for at, w := range s.o.Widths {
			addDistances(&d, x[before:w], panel[before*lanes:w*lanes])
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

// addDistances adds (x[c] - panel[c*lanes+lane])² to d[lane], in ascending order of c.
func addDistances(d *[lanes]float64, x, panel []float64) {
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

// neighbourList holds the nearest documents found so far, nearest first. Ties are broken by index.
type neighbourList struct {
	worst     float64 // largest distance in a full list; only smaller distances are inserted
	distances []float64
	documents []int32
	k         int
}

func newNeighbourList(most int) *neighbourList { return &neighbourList{worst: math.Inf(1), k: most} }

func (l *neighbourList) insert(distance float64, document int32) {
	if len(l.distances) < l.k {
		l.distances, l.documents = append(l.distances, 0), append(l.documents, 0)
	}
	at := len(l.distances) - 1
	for ; at > 0 && distance < l.distances[at-1]; at-- {
		l.distances[at], l.documents[at] = l.distances[at-1], l.documents[at-1]
	}
	l.distances[at], l.documents[at] = distance, document
	if len(l.distances) == l.k {
		l.worst = l.distances[l.k-1]
	}
}

type voteCounter struct {
	s       *search
	counts  []int
	classes []int32
}

func newVoteCounter(s *search) *voteCounter {
	return &voteCounter{s: s, counts: make([]int, s.classCount), classes: make([]int32, s.o.MaxK)}
}

// predict returns the predicted classes. Element k-1 is predicted by the k nearest documents. The
// slice is valid until the next call.
func (v *voteCounter) predict(l *neighbourList) []int32 {
	clear(v.counts)
	labels, most := v.s.train.Labels, 0
	for k := range v.classes {
		if k >= len(l.documents) { // all documents in the list have voted
			v.classes[k] = v.classes[k-1]
			continue
		}
		own := labels[l.documents[k]]
		v.counts[own]++
		most = max(most, v.counts[own])
		for _, document := range l.documents[:k+1] {
			if class := labels[document]; v.counts[class] == most {
				v.classes[k] = class
				break
			}
		}
	}
	return v.classes
}
