package gram_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/sparse"
)

// wordsOf draws a text. Some of its words begin with own.
func wordsOf(r *rand.Rand, own string) string {
	var words []string
	for range r.IntN(12) {
		word := fmt.Sprintf("w%d", r.IntN(15))
		if r.IntN(4) == 0 {
			word = fmt.Sprintf("%s%d", own, r.IntN(8))
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// bhattacharyya returns Σ√(θθ′) of two texts in float64: 1 for equal texts without words.
func bhattacharyya(a, b string) float64 {
	counts := func(text string) map[string]float64 {
		n, words := map[string]float64{}, strings.Fields(text)
		for _, w := range words {
			n[w] += 1 / float64(len(words))
		}
		return n
	}
	if a == b {
		return 1
	}
	x, y, sum := counts(a), counts(b), 0.0
	for w, v := range x {
		sum += math.Sqrt(v * y[w])
	}
	return sum
}

// Neighbours in another set, an index, a cross matrix and duplicates -of agree with c in float64
// for words that occur in only one set.
func TestOneSpace(t *testing.T) {
	r := rand.New(rand.NewPCG(58, 2))
	read := gram.ReadOptions{MinDF: 1, Tokenizer: corpus.NearDuplicateTokenizer}
	var of, in []string
	for i := range 32 { // 1,024 pairs in total
		of = append(of, wordsOf(r, "old"))
		in = append(in, wordsOf(r, "new"))
		if i%8 == 0 {
			in[i] = of[i]
		}
	}
	of[3], in[3], of[4], in[5] = "- -", "!", "", "" // texts without words
	columns := musttest.Get(gram.FromTexts(t.Context(), of, nil, read))(t)
	rows := musttest.Get(gram.FromTexts(t.Context(), in, nil, read))(t)
	near := musttest.Get(gram.Neighbours(t.Context(), rows, gram.NeighbourOptions{K: len(of), Candidates: columns}))(t)
	matrix := musttest.Get(gram.CrossGram(t.Context(), rows, columns, "bhattacharyya", gram.Options{}))(t)
	index := musttest.Get(gram.NewIndex(t.Context(), of, gram.IndexOptions{}))(t)
	found := musttest.Get(index.Query(t.Context(), in, gram.IndexQuery{K: len(of)}))(t)
	_, x, y, err := source.EmbedTogether(t.Context(), columns, rows, sparse.SphereEmbedding, true, 2)
	musttest.NoError(t, err)
	const within = 0.7931 // no pair of these texts has this c
	leaks := map[[2]int]float64{}
	_, err = engine.EachCrossPair(t.Context(), y, x, within, engine.Options{}, func(i, j int, c float64) error {
		leaks[[2]int{i, j}] = c
		return nil
	})
	musttest.NoError(t, err)
	words := func(text string) bool { return strings.ContainsAny(text, "wno") }
	for i := range in {
		if len(near[i]) != len(of) || len(found[i]) != len(of) {
			t.Fatalf("%q has %d neighbours, %d in the index", in[i], len(near[i]), len(found[i]))
		}
		for k := range of {
			for what, v := range map[string][2]float64{
				"neighbours": {float64(near[i][k].Document), float64(near[i][k].Value)},
				"index":      {float64(found[i][k].Document), 1 - float64(found[i][k].C)},
				"matrix":     {float64(k), matrix.At(i, k)},
			} {
				text := of[int(v[0])]
				if what == "matrix" && !words(text) && !words(in[i]) {
					continue // kernels treat all texts without words as equal
				}
				if want := bhattacharyya(in[i], text); !(math.Abs(v[1]-want) <= 1e-6) {
					t.Errorf("%s of %q and %q: %v, expected %v", what, in[i], text, v[1], want)
				}
			}
			want := 1 - bhattacharyya(in[i], of[k])
			c, near := leaks[[2]int{i, k}]
			if near != (want <= within) || near && !(math.Abs(c-want) <= 1e-12) {
				t.Errorf("duplicates -of: %q and %q: %v, %t, expected %v", in[i], of[k], c, near, want)
			}
		}
	}
}

// Distances include the squares of columns that only one set has; matrices have as many columns.
func TestOneSpaceOfVectors(t *testing.T) {
	rows := func(columns int, values ...float64) *corpus.Corpus {
		r := gram.NewCorpusBuilder(columns)
		at := musttest.MakeSlice(len(values), func(k int) uint32 { return uint32(k) })
		musttest.NoError(t, r.Add(at, values))
		return r.Corpus()
	}
	x, y := rows(4, 1, 2, 0, 9), rows(4, 1, 2)
	for spec, want := range map[string]float64{"ned:embed=tf": -9, "linear:embed=tf-l2": math.Sqrt(5. / 86)} {
		got := musttest.Get(gram.CrossGram(t.Context(), x, y, spec, gram.Options{}))(t)
		if v := got.At(0, 0); !(math.Abs(v-want) <= 1e-5) {
			t.Errorf("%s: %v, expected %v", spec, v, want)
		}
		near := musttest.Get(gram.Neighbours(t.Context(), x, gram.NeighbourOptions{Kernel: spec, Candidates: y}))(t)
		if v := float64(near[0][0].Value); !(math.Abs(v-want) <= 1e-5) {
			t.Errorf("%s: neighbour at %v, expected %v", spec, v, want)
		}
	}
	musttest.WantError(gram.CrossGram(t.Context(), x, rows(2, 1, 2), "", gram.Options{}))(t,
		"4 and 2 columns", "rows has 4 columns, but rows has 2")
}

// Equal texts are duplicates, even without terms.
func TestDuplicatesOfEqualTexts(t *testing.T) {
	cut := corpus.Tokenizer{MinN: 3, MaxN: 3}
	c := musttest.Get(gram.FromTexts(t.Context(), []string{"cat", "dog", "cat", "a b c", "", "a b c", ""}, nil,
		gram.ReadOptions{MinDF: 9, Tokenizer: cut}))(t)
	groups := musttest.Get(gram.Duplicates(t.Context(), c, gram.DuplicateOptions{}))(t)
	if want := [][]int32{{0, 2}, {3, 5}, {4, 6}}; !slices.EqualFunc(groups, want, slices.Equal) {
		t.Errorf("groups %v, expected %v", groups, want)
	}
}
