package width

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/internal/musttest"
)

// random draws documents of several classes. If whole is set, values are integers, so that many
// distances are equal.
func random(n, features, classes int, seed uint64, whole bool) Dataset {
	r := rand.New(rand.NewPCG(seed, 7))
	s := Dataset{Features: mat.NewDense(n, features, nil)}
	for i := range n {
		class := r.IntN(classes)
		s.Labels = append(s.Labels, int32(class))
		for c := range features {
			v := r.NormFloat64() + float64(class)/2
			if whole {
				v = math.Round(v)
			}
			s.Features.Set(i, c, v)
		}
	}
	return s
}

// direct follows the package comment literally: it compares all pairs one by one, and sorts
// completely.
func direct(train Dataset, x []float64, width, k int) int32 {
	distances, order := make([]float64, len(train.Labels)), make([]int, len(train.Labels))
	for j := range order {
		order[j] = j
		for c, v := range train.Features.RawRowView(j)[:width] {
			d := x[c] - v
			distances[j] += float64(d * d)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case distances[a] < distances[b]:
			return -1
		case distances[a] > distances[b]:
			return 1
		}
		return 0
	})
	order = order[:min(k, len(order))]
	count := map[int32]int{}
	for _, j := range order {
		count[train.Labels[j]]++
	}
	best := train.Labels[order[0]]
	for _, j := range order {
		if class := train.Labels[j]; count[class] > count[best] {
			best = class
		}
	}
	return best
}

// Errors for all widths and k equal the errors by the formula exactly, because sums are added in
// the same order.
func TestDirect(t *testing.T) {
	for _, c := range []struct {
		train, test, features int
		whole                 bool
		o                     Options
	}{
		{150, 70, 23, false, Options{Widths: []int{1, 2, 5, 10, 22, 23}}},
		{150, 70, 9, true, Options{Widths: []int{1, 2, 3, 4, 9}, MaxK: 7, Workers: 3}},
		{131, 33, 45, true, Options{}},
		{65, 5, 12, false, Options{Widths: []int{4}, MaxK: 20, Workers: 2}},
		{3, 40, 12, true, Options{Workers: 1}},
		{1, 1, 1, false, Options{}},
	} {
		train, test := random(c.train, c.features, 4, 1, c.whole), random(c.test, c.features, 5, 2, c.whole)
		got := musttest.Get(Search(t.Context(), train, test, c.o))(t)
		widths, most := c.o.Widths, c.o.MaxK
		if widths == nil {
			widths = map[int][]int{45: {10, 20, 30, 40, 45}, 12: {10, 12}, 1: {1}}[c.features]
		}
		if most == 0 {
			most = 15
		}
		want := &ErrorTable{Widths: widths, TestCount: c.test}
		for _, w := range widths {
			row := make([]int, most)
			for k := 1; k <= most; k++ {
				classes := musttest.Get(Classify(t.Context(), train, test.Features, w, k, Options{}))(t)
				for i, class := range test.Labels {
					own := direct(train, test.Features.RawRowView(i), w, k)
					if own != classes[i] {
						t.Fatalf("%+v, width %d, k %d: document %d is of class %d, expected %d", c, w, k, i, classes[i], own)
					}
					if own != class {
						row[k-1]++
					}
				}
			}
			want.ErrorCounts = append(want.ErrorCounts, row)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: %v, expected %v", c, got, want)
		}
	}
}

// By default, widths are multiples of 10 up to 300. The number of features is the last width if it
// is smaller.
func TestDefaultWidths(t *testing.T) {
	for features, want := range map[int][]int{7: {7}, 10: {10}, 25: {10, 20, 25}} {
		if o := (Options{}).resolve(features); !slices.Equal(o.Widths, want) {
			t.Errorf("%d features: widths %d, expected %d", features, o.Widths, want)
		}
	}
	if o := (Options{}).resolve(1000); len(o.Widths) != 30 || o.Widths[29] != 300 {
		t.Errorf("1,000 features: widths %d, expected 30 up to 300", o.Widths)
	}
}

func TestBest(t *testing.T) {
	table := &ErrorTable{Widths: []int{3, 5, 9}, ErrorCounts: [][]int{{4, 3, 3}, {3, 2, 2}, {2, 9, 1}}}
	if w, k, wrong := table.Best(); w != 9 || k != 3 || wrong != 1 {
		t.Errorf("width %d, k %d, %d errors, expected 9, 3 and 1", w, k, wrong)
	}
	table.ErrorCounts[2][2] = 2
	if w, k, wrong := table.Best(); w != 5 || k != 2 || wrong != 2 {
		t.Errorf("of equal ones width %d, k %d, %d errors, expected 5, 2 and 2", w, k, wrong)
	}
	if w, k, wrong := (&ErrorTable{}).Best(); w != 0 || k != 0 || wrong != -1 {
		t.Errorf("of none width %d, k %d, %d errors, expected 0, 0 and -1", w, k, wrong)
	}
}

// Progress counts each pair exactly once.
func TestProgress(t *testing.T) {
	train, test := random(100, 3, 2, 1, false), random(chunkSize*2+5, 3, 2, 2, false)
	var last int64
	_, err := Search(t.Context(), train, test, Options{Progress: func(done, all int64) {
		if done <= last || all != int64(100*(chunkSize*2+5)) {
			t.Errorf("%d of %d after %d", done, all, last)
		}
		last = done
	}})
	if err != nil || last != int64(100*(chunkSize*2+5)) {
		t.Errorf("ended at %d, %v", last, err)
	}
}

// soon is a context that is done after a number of calls of Err.
type soon struct {
	context.Context
	left int
}

func (c *soon) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// A task checks its context in each block of training documents.
func TestCancelled(t *testing.T) {
	train, test := random(blockSize*50-1, 2, 2, 1, false), random(1, 2, 2, 2, false)
	s := newSearch(train, test.Features, Options{Workers: 1})
	musttest.WantError(s.findNeighbours(&soon{t.Context(), 49}, 0, 1))(t, "with 49 looks", context.Canceled)
	if _, err := s.findNeighbours(&soon{t.Context(), 50}, 0, 1); err != nil {
		t.Errorf("with 50 looks: %v", err)
	}
}
