package main

import (
	"math"
	"slices"
	"testing"
)

func TestClosestPairs(t *testing.T) {
	nan := float32(math.NaN())
	l := &closestPairList{limit: 4, bound: float32(math.Inf(1))}
	// The upper triangle of a matrix, row by row: three pairs of c = 0, of which two may stay, a NaN, which must stay, and a tie at 0.2.
	for i, row := range [][]float32{
		{0.5, 0, 0.2, 0.9, 0.8, 0.8, 0.8, 0.8},
		{0, 0.7, 0.2, 0.1, 0.8, 0.8, 0.8},
		{0, 0.3, nan, 0.9, 0.6, 0.6},
	} {
		l.row(i, row)
	}
	var got [][2]int32
	for _, p := range l.sorted() {
		got = append(got, [2]int32{p.i, p.j})
	}
	want := [][2]int32{{0, 2}, {1, 2}, {2, 5}, {1, 5}}
	if !slices.Equal(got, want) {
		t.Errorf("closest pairs are %v, expected %v", got, want)
	}
}

func TestChooseRows(t *testing.T) {
	const n = 10_000
	closest := []closePair{{i: 5, j: 9}, {i: 5, j: 7000}, {i: 5, j: 8}, {i: 100, j: 200}}
	rows := chooseRows(n, closest, samplePairs, 1)
	whole, seen := 0, map[[2]int]bool{}
	for k := range rows {
		r := &rows[k]
		if k > 0 && r.doc <= rows[k-1].doc {
			t.Fatalf("row %d comes behind row %d", r.doc, rows[k-1].doc)
		}
		if r.columns == nil {
			whole++
			for j := range n {
				seen[[2]int{r.doc, j}] = true
			}
		}
		for _, j := range r.columns {
			seen[[2]int{r.doc, int(j)}] = true
		}
	}
	if pairs := whole * n; pairs < samplePairs || pairs > samplePairs+n {
		t.Errorf("%d pairs in whole rows, expected about %d", pairs, samplePairs)
	}
	for _, p := range closest {
		if i, j := int(p.i), int(p.j); !seen[[2]int{i, j}] && !seen[[2]int{j, i}] {
			t.Errorf("the pair (%d, %d) isn't compared", i, j)
		}
	}
	if len(rows) > whole+2 {
		t.Errorf("%d rows for the closest pairs, expected at most 2", len(rows)-whole)
	}
	same := func(a, b sampleRow) bool { return a.doc == b.doc }
	if !slices.EqualFunc(rows, chooseRows(n, closest, samplePairs, 1), same) {
		t.Error("the same seed chooses other rows")
	}
	if slices.EqualFunc(rows, chooseRows(n, closest, samplePairs, 2), same) {
		t.Error("another seed chooses the same rows")
	}
	if rows := chooseRows(2000, closest[:1], samplePairs, 1); len(rows) != 2000 {
		t.Errorf("%d rows of 2000 documents, expected all", len(rows))
	}
}

func TestExtremeKeepsNaN(t *testing.T) {
	e := nowhere
	e.raise(0, 1, 1, 0, 0)
	if e.row != 1 {
		t.Error("an error of 0 doesn't replace nowhere")
	}
	e.raise(2, 2, 2, 0, 0)
	e.raise(1, 3, 3, 0, 0)
	e.raise(math.NaN(), 4, 4, 0, 0)
	e.raise(9, 5, 5, 0, 0)
	if e.row != 4 {
		t.Errorf("the greatest of 0, 2, 1, NaN, 9 is taken from row %d, expected NaN's", e.row)
	}
}

func TestULP32(t *testing.T) {
	for v, want := range map[float64]float64{1: 0x1p-23, 1.999: 0x1p-23, -2: 0x1p-22, 0: 0x1p-149, 1e-45: 0x1p-149, 0x1p-126: 0x1p-149, 0x1p-125: 0x1p-148} {
		if got := ulp32(v); got != want {
			t.Errorf("ulp32(%v) = %v, expected %v", v, got, want)
		}
	}
}

// A part of a sample has one of so many whole rows, with all their values, and every closest pair that the sample has.
func TestSamplePart(t *testing.T) {
	const n = 3000
	closest := []closePair{{i: 5, j: 9}, {i: 5, j: 2000}, {i: 5, j: 8}, {i: 100, j: 200}, {i: 7, j: 300}}
	s := &sample{n: n, closest: closest, rows: chooseRows(n, closest, samplePairs, 3)}
	for k := range s.rows {
		r := &s.rows[k]
		length := n
		if r.columns != nil {
			length = len(r.columns)
		}
		for at := range length {
			r.c = append(r.c, float64(1000000*r.doc+r.column(at)))
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
				if c != float64(1000000*r.doc+r.column(at)) {
					t.Fatalf("c of (%d, %d) is that of another pair", r.doc, r.column(at))
				}
				pairs[[2]int{r.doc, r.column(at)}] = true
			}
		}
		return whole, pairs
	}
	all, before := count(s)
	some, after := count(s.part(8))
	if some != (all+7)/8 {
		t.Errorf("%d whole rows of %d, expected one of eight", some, all)
	}
	for _, p := range closest {
		i, j := int(p.i), int(p.j)
		if had, has := before[[2]int{i, j}] || before[[2]int{j, i}], after[[2]int{i, j}] || after[[2]int{j, i}]; !had || !has {
			t.Errorf("the pair (%d, %d): compared %t, in the part %t", i, j, had, has)
		}
	}
	if small := (&sample{n: 100}); small.part(8) != small {
		t.Error("a sample of all pairs was cut")
	}
}
