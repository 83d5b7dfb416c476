package cho

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/lab/internal/repro/larochelle"
	"github.com/gramengine/gram/sparse"
)

// Validation documents are part of the training set, test documents aren't. The sizes of training
// and test sets can be limited.
func TestChoData(t *testing.T) {
	folder := standIns(t)
	for _, s := range datasets {
		read := func(seed uint64) *trainTestSplit {
			return musttest.Get(s.read(t.Context(), &repro.Env{DataDir: folder, Seed: seed}, repro.TermSettings{MinDF: 1}, 100,
				40))(t)
		}
		d := read(1)
		if d.train.Documents.Rows() != 100 || d.test.Documents.Rows() != 40 || len(d.fit)+len(d.valid) != 100 {
			t.Errorf("%s: %d documents, %d and %d of them, and %d", s.name, d.train.Documents.Rows(), len(d.fit),
				len(d.valid), d.test.Documents.Rows())
		}
		both := append(slices.Clone(d.fit), d.valid...)
		slices.Sort(both)
		if len(slices.Compact(both)) != 100 || len(d.valid) < 10 || len(d.valid) > 25 {
			t.Errorf("%s: %d documents to try and %d to judge", s.name, len(d.fit), len(d.valid))
		}
		if !reflect.DeepEqual(read(1), d) {
			t.Errorf("%s: another time it is another set", s.name)
		}
		if reflect.DeepEqual(read(2).train, d.train) {
			t.Errorf("%s: another seed gives the same set", s.name)
		}
		in := map[string]bool{}
		for i := range 100 {
			in[fmt.Sprint(d.train.Documents.Row(i))] = true
		}
		if !s.isText() {
			checkLast(t, s.name, d)
		}
		for i := range 40 {
			// There are few outlines, so some occur twice.
			if in[fmt.Sprint(d.test.Documents.Row(i))] && s.name != "rectangles" {
				t.Errorf("%s: test document %d is among the training documents", s.name, i)
			}
		}
	}
	// mnist-rand draws its test set from the test digits and the 240 - 100 training digits that
	// aren't in the training set.
	i := slices.IndexFunc(datasets, func(s dataset) bool { return s.name == "mnist-rand" })
	d, err := datasets[i].read(t.Context(), &repro.Env{DataDir: folder, Seed: 1}, repro.TermSettings{}, 100, 0)
	if err != nil || d.test.Documents.Rows() != 120+140 {
		t.Fatalf("%v, %d test documents", err, d.test.Documents.Rows())
	}
	checkDrawnDigits(t, folder, &datasets[i])
	// Each digit has its own noise. The first training digit and the first digits of both parts of
	// the test set agree in few pixels, where strokes overlap.
	first := []map[uint32]float32{}
	for _, row := range []struct {
		of *sparse.CSR
		i  int
	}{{d.train.Documents, 0}, {d.test.Documents, 0}, {d.test.Documents, 120}} {
		pixel := map[uint32]float32{}
		terms, values := row.of.Row(row.i)
		for k, term := range terms {
			pixel[term] = values[k]
		}
		for _, other := range first {
			same := 0
			for term, v := range pixel {
				if w, ok := other[term]; ok && v == w {
					same++
				}
			}
			if same > larochelle.PixelCount/4 {
				t.Errorf("mnist-rand: two images agree in %d of %d pixels", same, larochelle.PixelCount)
			}
		}
		first = append(first, pixel)
	}
	digits := map[string]int{}
	for i := range d.train.Documents.Rows() {
		digits[d.train.Classes[d.train.Labels.Classes(i)[0]]]++
	}
	for i := range d.test.Documents.Rows() {
		digits[d.test.Classes[d.test.Labels.Classes(i)[0]]]++
	}
	for digit, n := range digits { // 24 and 12 per digit in the files
		if n != 36 {
			t.Errorf("digit %s %d times, expected 36", digit, n)
		}
	}
}

// checkLast checks that the validation documents are the last of each class, and that each class
// contributes in proportion.
func checkLast(t *testing.T, name string, d *trainTestSplit) {
	t.Helper()
	class := func(i int) string { return d.train.Classes[d.train.Labels.Classes(i)[0]] }
	first, judged, all := map[string]int{}, map[string]float64{}, map[string]float64{}
	for _, i := range slices.Backward(d.valid) {
		first[class(i)] = i
		judged[class(i)]++
		all[class(i)]++
	}
	for _, i := range d.fit {
		all[class(i)]++
		if at, ok := first[class(i)]; ok && i > at {
			t.Errorf("%s: document %d is tried with, and %d of its class judges", name, i, at)
		}
	}
	share := float64(len(d.valid)) / float64(len(d.valid)+len(d.fit))
	for c, n := range all { // rounded, and the total is a sum of rounded numbers
		if !(math.Abs(judged[c]-share*n) <= 1) {
			t.Errorf("%s: %v of %v documents of class %s judge, expected a share of %v", name, judged[c], n, c, share)
		}
	}
}

// checkDrawnDigits checks that mnist-rand draws a random sample of digits that depends on the seed,
// not the first digits.
func checkDrawnDigits(t *testing.T, folder string, s *dataset) {
	t.Helper()
	classes := func(seed uint64, test int) string {
		d := musttest.Get(s.read(t.Context(), &repro.Env{DataDir: folder, Seed: seed}, repro.TermSettings{}, 100, test))(t)
		if d.test.Documents.Rows() != test {
			t.Fatalf("%d test documents, expected %d", d.test.Documents.Rows(), test)
		}
		var out []byte
		for i := range test {
			out = append(out, d.test.Classes[d.test.Labels.Classes(i)[0]]...)
		}
		return string(out)
	}
	var first []byte
	for i := range 40 { // digits of the test file, in the order of standIns
		first = append(first, '0'+byte((i*7+1)%10))
	}
	a, b := classes(1, 40), classes(2, 40)
	if a == string(first) || b == string(first) || a == b || a != classes(1, 40) {
		t.Errorf("mnist-rand: test digits %s by one seed, %s by another; the first ones are %s", a, b, first)
	}
}
