package gram_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
)

// The kernel of rows with a text, a number, a category and a vector is the weighted sum of the
// kernels of the columns, which are computed from their definitions.
func TestKernelOfRowIsWeightedSum(t *testing.T) {
	rows := [][]string{{"red bike for sale", "1", "a", "[1, -2, 0.5]"}, {"blue bike bike", "2", "b", "[0, 3, 1e-3]"},
		{"a red car for sale", "2.5", "a", "[-1, 2, -0.5]"}, {"the car", "7", "c", "[4,4,4]"},
		{"a a red", "9", "b", "[0.1,-0.1,0]"}}
	vectors := [][]float64{{1, -2, 0.5}, {0, 3, 1e-3}, {-1, 2, -0.5}, {4, 4, 4}, {0.1, -0.1, 0}}
	knots := []float64{1, 2, 2.5, 7, 9}
	views := gram.Must(corpus.ParseTokenizer("2*text=words + 3*number=numbers:width=2 + 0.5*kind=categories + " +
		"1.5*vector=vector:3"))
	c := gram.Must(gram.FromRows(t.Context(), []string{"text", "number", "kind", "vector"}, rows, nil,
		gram.ReadOptions{Tokenizer: views, MinDF: 1}))
	got := gram.Must(gram.Gram(t.Context(), c, "bhattacharyya", gram.Options{}))
	words := func(row []string) map[string]float64 {
		counts := map[string]float64{}
		for _, w := range strings.Fields(row[0]) {
			counts[w]++
		}
		return counts
	}
	bins := func(row []string) map[string]float64 { // 64 counts, by rounded cumulative shares
		place := 0
		for k, knot := range knots {
			if fmt.Sprint(knot) == row[1] {
				place = k
			}
		}
		var cumulative []float64
		sum := 0.0
		for k := range knots {
			sum += math.Exp(-2 * float64((place-k)*(place-k)) / 4)
			cumulative = append(cumulative, sum)
		}
		counts, before := map[string]float64{}, 0.0
		for k, s := range cumulative {
			end := math.Round(64 * s / sum)
			counts[fmt.Sprint(k)], before = end-before, end
		}
		return counts
	}
	kinds := func(row []string) map[string]float64 { return map[string]float64{row[2]: 1} }
	similarity := func(p, q map[string]float64) (s float64) {
		var all [2]float64
		for k, counts := range []map[string]float64{p, q} {
			for _, n := range counts {
				all[k] += n
			}
		}
		for term, n := range p {
			s += math.Sqrt(n / all[0] * q[term] / all[1])
		}
		return s
	}
	for i, x := range rows {
		for j, y := range rows {
			u, v := vectors[i], vectors[j]
			want := 2*similarity(words(x), words(y)) + 3*similarity(bins(x), bins(y)) + 0.5*similarity(kinds(x), kinds(y)) +
				1.5*floats.Dot(u, v)/(floats.Norm(u, 2)*floats.Norm(v, 2))
			if v := got.At(i, j); !(math.Abs(v-want/7) <= 1e-6) {
				t.Errorf("rows %d and %d: %v, expected %v", i, j, v, want/7)
			}
		}
	}
}

// Without options, Train uses the values of a table of numbers if a kernel of vectors is better.
// The same kernel on the numbers as vectors gives the same predictions. A missing number is
// replaced by the mean.
func TestTableOfNumbersAsVectors(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	var rows [][]string
	var labels []string
	vectors := gram.NewCorpusBuilder(2)
	for range 200 {
		x, y := 100+10*r.NormFloat64(), r.NormFloat64()
		rows = append(rows, []string{fmt.Sprint(x), fmt.Sprint(y)})
		labels = append(labels, fmt.Sprint((x-100)*y/10+0.01*r.NormFloat64()))
		musttest.NoError(t, vectors.Add([]uint32{0, 1}, []float64{x, y}, labels[len(labels)-1]))
	}
	columns := []string{"x", "y"}
	c := gram.Must(gram.FromRows(t.Context(), columns, rows, labels, gram.ReadOptions{}))
	m := gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Type: "epsilon_svr"}))
	if a := m.About(); !strings.Contains(a.Tokenizer.String(), "x,y=values:") || a.Embedding != "standard" {
		t.Errorf("%s on %s", a.Kernel, a.Tokenizer)
	}
	o := gram.TrainOptions{Type: "epsilon_svr", Kernel: "rbf:gamma=0.5", Embedding: "standard", C: 10, ChooseWork: -1,
		Tolerance: 1e-6}
	m = gram.Must(gram.Train(t.Context(), c, o))
	plain := vectors.Corpus()
	other := gram.Must(gram.Train(t.Context(), plain, o))
	got, want := gram.Must(m.PredictRows(t.Context(), columns, rows)), gram.Must(other.Predict(t.Context(), plain))
	for i, v := range got.Values {
		// In float32, x has an error of up to 2⁻¹⁸ and its standardised value up to 4·10⁻⁷. The
		// slope is about 3, and both models are trained to 10⁻⁶, so 10⁻⁵ allows for about three
		// such errors.
		if !(math.Abs(v-want.Values[i]) <= 1e-5) {
			t.Errorf("row %d: %v, of vectors %v", i, v, want.Values[i])
		}
	}
	mean := 0.0
	for _, row := range rows {
		var x float64
		fmt.Sscan(row[0], &x)
		mean += x / float64(len(rows))
	}
	pair := gram.Must(m.PredictRows(t.Context(), columns, [][]string{{"", "1"}, {fmt.Sprint(mean), "1"}}))
	if d := pair.Values[0] - pair.Values[1]; !(math.Abs(d) <= 1e-9) {
		t.Errorf("a missing number differs from the mean by %v", d)
	}
}
