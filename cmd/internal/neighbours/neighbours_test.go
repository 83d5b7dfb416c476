package neighbours

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/musttest"
)

// The report counts groups by size, in intervals that double, and lists the largest.
func TestCount(t *testing.T) {
	var groups [][]int32
	document := int32(0)
	for _, size := range []int{2, 3, 4, 5, 8, 9, 2, 2, 2, 2, 2, 2} {
		var group []int32
		for range size {
			group = append(group, document)
			document++
		}
		groups = append(groups, group)
	}
	r := &duplicatesReport{}
	r.countGroups(&corpus.Corpus{}, groups)
	if want := []groupSize{{2, 2, 7}, {3, 4, 2}, {5, 8, 2}, {9, 16, 1}}; !slices.Equal(r.sizes, want) {
		t.Errorf("sizes %v, expected %v", r.sizes, want)
	}
	if r.NumGroups != 12 || r.NumGrouped != 43 || r.NumDropped != 31 {
		t.Errorf("%d groups of %d documents, %d to drop", r.NumGroups, r.NumGrouped, r.NumDropped)
	}
	if len(r.largest) != maxLargest || r.largest[0] != (largestGroup{9, "23"}) || r.largest[1].NumDocuments != 8 {
		t.Errorf("the largest are %v", r.largest)
	}
}

// Any values can be plotted.
func TestDraw(t *testing.T) {
	for _, values := range [][]float64{nil, {1, 1, 1}, {0}, {-1e30, 1e30}, {0.1, 0.3, 0.2, 1}, {1, 1 + 1e-16}} {
		p := newPlot("bhattacharyya", values)
		if err := chart.Save(filepath.Join(t.TempDir(), "x.svg"), 16, 10, p); err != nil {
			t.Errorf("%v: %v", values, err)
		}
	}
}

func TestDistribution(t *testing.T) {
	values := musttest.MakeSlice(101, func(i int) float64 { return float64(100 - i) })
	if d := newDistribution(values); d != (distribution{0, 10, 50, 90, 100}) {
		t.Errorf("%+v", d)
	}
}
