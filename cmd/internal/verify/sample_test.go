package verify

import (
	"slices"
	"testing"
)

func TestChooseRows(t *testing.T) {
	const n = 10_000
	closest := []closePair{{i: 5, j: 9}, {i: 5, j: 7000}, {i: 5, j: 8}, {i: 100, j: 200}}
	rows := chooseRows(n, closest, numSamplePairs, 1)
	whole, seen := 0, map[[2]int]bool{}
	for k := range rows {
		r := &rows[k]
		if k > 0 && r.document <= rows[k-1].document {
			t.Fatalf("row %d comes after row %d", r.document, rows[k-1].document)
		}
		if r.columns == nil {
			whole++
			for j := range n {
				seen[[2]int{r.document, j}] = true
			}
		}
		for _, j := range r.columns {
			seen[[2]int{r.document, int(j)}] = true
		}
	}
	if pairs := whole * n; pairs < numSamplePairs || pairs > numSamplePairs+n {
		t.Errorf("%d pairs in whole rows, expected about %d", pairs, numSamplePairs)
	}
	for _, p := range closest {
		if i, j := int(p.i), int(p.j); !seen[[2]int{i, j}] && !seen[[2]int{j, i}] {
			t.Errorf("the pair (%d, %d) isn't compared", i, j)
		}
	}
	if len(rows) > whole+2 {
		t.Errorf("%d rows for the closest pairs, expected at most 2", len(rows)-whole)
	}
	same := func(a, b sampleRow) bool { return a.document == b.document }
	if !slices.EqualFunc(rows, chooseRows(n, closest, numSamplePairs, 1), same) {
		t.Error("the same seed chooses other rows")
	}
	if slices.EqualFunc(rows, chooseRows(n, closest, numSamplePairs, 2), same) {
		t.Error("another seed chooses the same rows")
	}
	if rows := chooseRows(2000, closest[:1], numSamplePairs, 1); len(rows) != 2000 {
		t.Errorf("%d rows of 2000 documents, expected all", len(rows))
	}
}

// A subsample contains a fraction of the whole rows, with all their values, and all closest pairs
// of the sample.
func TestSamplePart(t *testing.T) {
	const n = 3000
	closest := []closePair{{i: 5, j: 9}, {i: 5, j: 2000}, {i: 5, j: 8}, {i: 100, j: 200}, {i: 7, j: 300}}
	s := &sample{n: n, closest: closest, rows: chooseRows(n, closest, numSamplePairs, 3)}
	for k := range s.rows {
		r := &s.rows[k]
		length := n
		if r.columns != nil {
			length = len(r.columns)
		}
		for at := range length {
			r.c = append(r.c, float64(1000000*r.document+r.column(at)))
		}
	}
	count := func(s *sample) (whole int, pairs map[[2]int]bool) {
		pairs = map[[2]int]bool{}
		for k := range s.rows {
			r := &s.rows[k]
			if r.columns == nil {
				whole++
			}
			for at, c := range r.c {
				if c != float64(1000000*r.document+r.column(at)) {
					t.Fatalf("c of (%d, %d) is that of another pair", r.document, r.column(at))
				}
				pairs[[2]int{r.document, r.column(at)}] = true
			}
		}
		return whole, pairs
	}
	all, before := count(s)
	some, after := count(s.subsample(8))
	if some != (all+7)/8 {
		t.Errorf("%d whole rows of %d, want one of eight", some, all)
	}
	for _, p := range closest {
		i, j := int(p.i), int(p.j)
		if had, has := before[[2]int{i, j}] || before[[2]int{j, i}], after[[2]int{i, j}] || after[[2]int{j, i}]; !had ||
			!has {
			t.Errorf("the pair (%d, %d): compared %t, in the part %t", i, j, had, has)
		}
	}
	if small := (&sample{n: 100}); small.subsample(8) != small {
		t.Error("a sample of all pairs was cut")
	}
}
