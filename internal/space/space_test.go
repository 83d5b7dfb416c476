package space

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// Two corpora in common columns equal the same documents read as one corpus, and aren't changed.
func TestSpace(t *testing.T) {
	texts := []string{"far from a madding crowd", "a crowd", "zebras madden crowds", "", "far far zoo"}
	for _, tokenizer := range []string{"", "word:ngrams=1..2", "word + char:ngrams=3..3"} {
		parsed := musttest.Get(corpus.ParseTokenizer(tokenizer))(t)
		read := func(lo, hi int) *corpus.Corpus {
			return musttest.Get(corpus.FromTexts(t.Context(), texts[lo:hi], nil, corpus.Options{MinDF: 1, Tokenizer: parsed}))(t)
		}
		whole, a, b := read(0, 5), read(0, 2), read(2, 5)
		before := [2][]uint32{slices.Clone(a.Documents.Terms), slices.Clone(b.Documents.Terms)}
		s := musttest.Get(New(sparse.SphereEmbedding, b, a, true))(t)
		for i := range texts {
			of, row := s.Rows, i
			if i >= 2 {
				of, row = s.Columns, i-2
			}
			terms, values := of.Row(row)
			wantTerms, wantValues := whole.Documents.Row(i)
			if !slices.Equal(terms, wantTerms) || !slices.Equal(values, wantValues) {
				t.Errorf("%q: %q has columns %v, expected %v", tokenizer, texts[i], terms, wantTerms)
			}
		}
		if !slices.Equal(s.Rows.Views, whole.Documents.Views) || s.Columns.Cols != whole.Documents.Cols || s.BlankCount != 1 {
			t.Errorf("%q: views %v of %d columns, %d blank", tokenizer, s.Rows.Views, s.Columns.Cols, s.BlankCount)
		}
		if !slices.Equal(a.Documents.Terms, before[0]) || !slices.Equal(b.Documents.Terms, before[1]) {
			t.Errorf("%q: a corpus has changed", tokenizer)
		}
		b.Vocabulary = nil
		musttest.WantError(New(sparse.SphereEmbedding, a, b, true))(t,
			fmt.Sprintf("%q: text that shares terms with vectors", tokenizer))
	}
	// Readers set Pairs only if a text has such a script, so tokenizers may differ in Pairs.
	chinese := musttest.Get(corpus.FromTexts(t.Context(), []string{"手机 good"}, nil, corpus.Options{MinDF: 1}))(t)
	english := musttest.Get(corpus.FromTexts(t.Context(), []string{"good phone"}, nil, corpus.Options{MinDF: 1}))(t)
	if _, err := New(sparse.SphereEmbedding, chinese, english, true); err != nil ||
		chinese.Tokenizer == english.Tokenizer {
		t.Errorf("%v, tokenizers %v and %v", err, chinese.Tokenizer, english.Tokenizer)
	}
	// Vocabularies may have any order; a repeated term is an error.
	first := &corpus.Corpus{Documents: &sparse.CSR{Cols: 1, Offsets: []int64{0, 1}, Terms: []uint32{0},
		Values: []float32{1}},
		Vocabulary: []string{"b"}}
	unsorted := &corpus.Corpus{Documents: &sparse.CSR{Cols: 3, Offsets: []int64{0, 3}, Terms: []uint32{0, 1, 2},
		Values: []float32{3, 1, 2}}, Vocabulary: []string{"c", "a", "b"}}
	s := musttest.Get(New(sparse.Embedding{}, first, unsorted, true))(t)
	if terms, values := s.Rows.Row(0); !slices.Equal(terms, []uint32{0, 1, 2}) || !slices.Equal(values,
		[]float32{1, 2, 3}) {
		t.Errorf("terms %v with values %v", terms, values)
	}
	unsorted.Vocabulary[1] = "c"
	musttest.WantError(New(sparse.Embedding{}, first, unsorted, true))(t, "a term twice", `"c" twice`)
}

// Vectors have equal numbers of columns, except from files that don't state the number.
func TestSpaceColumns(t *testing.T) {
	few, many := &corpus.Corpus{Source: "few", Documents: &sparse.CSR{Cols: 3, Offsets: []int64{0}}},
		&corpus.Corpus{Source: "many", Documents: &sparse.CSR{Cols: 7, Offsets: []int64{0}}}
	for _, c := range []struct {
		few, many corpus.Format
		ok        bool
	}{{"", "", false}, {corpus.FormatSVMLight, "", true}, {"", corpus.FormatSVMLight, false},
		{corpus.FormatSVMLight, corpus.FormatSVMLight, true},
		{corpus.FormatNumPy, corpus.FormatIDX, false}} {
		few.Format, many.Format = c.few, c.many
		for _, pair := range [][2]*corpus.Corpus{{few, many}, {many, few}} {
			s, err := New(sparse.Embedding{}, pair[0], pair[1], true)
			if ok := err == nil; ok != c.ok || ok && (s.Columns.Cols != 7 || s.Rows.Cols != 7) {
				t.Errorf("%v and %v: %v", c.few, c.many, err)
			}
		}
	}
}

// cosine returns the cosine of two documents; without terms, 1 if they are equal, else 0.
func cosine(a, b string, weight func(term string) float64) float64 {
	counts := func(text string) (map[string]float64, float64) {
		n, norm := map[string]float64{}, 0.0
		for term := range strings.FieldsSeq(text) {
			n[term] += weight(term)
		}
		for _, v := range n {
			norm += v * v
		}
		return n, math.Sqrt(norm)
	}
	x, nx := counts(a)
	y, ny := counts(b)
	dot := 0.0
	for term, v := range x {
		dot += v * y[term]
	}
	if nx == 0 || ny == 0 {
		if a == b {
			return 1
		}
		return 0
	}
	return dot / nx / ny
}

// Terms that occur only in rows have the weight of a term of one document. Texts without terms, or
// whose terms all weigh 0, equal only the same text in either corpus.
func TestSpaceWeights(t *testing.T) {
	columns := []string{"a b c", "a b", "a", "a d d", "a", "1 2", "1 2", "3", ""}
	rows := []string{"a b x", "x y z", "a", "", "3", "4", "a x x"}
	df := func(term string) (n int) {
		for _, text := range columns {
			if slices.Contains(strings.Fields(text), term) {
				n++
			}
		}
		return max(n, 1)
	}
	letter := func(term string) bool { return term[0] >= 'a' }
	read := func(texts []string) *corpus.Corpus {
		return musttest.Get(corpus.FromTexts(t.Context(), texts, nil, corpus.Options{MinDF: 1}))(t)
	}
	for _, idf := range []bool{false, true} {
		e := sparse.Embedding{Norm: sparse.NormL2}
		if idf {
			e.Weighting = sparse.TFIDF
		}
		weight := func(term string) float64 {
			switch {
			case !letter(term):
				return 0
			case idf:
				return math.Log(float64(len(columns)) / float64(df(term)))
			}
			return 1
		}
		s := musttest.Get(New(e, read(columns), read(rows), true))(t)
		x := musttest.Get(s.Embedder.Transform(s.Columns))(t)
		y := musttest.Get(s.Embedder.Transform(s.Rows))(t)
		for i, a := range rows {
			for j, b := range columns {
				ta, _ := y.Row(i)
				tb, _ := x.Row(j)
				va, vb, got := y.UnitVector64(i, nil), x.UnitVector64(j, nil), 0.0
				for k, term := range ta {
					if at := slices.Index(tb, term); at >= 0 {
						got += va[k] * vb[at]
					}
				}
				if want := cosine(a, b, weight); !(math.Abs(got-want) <= 1e-15) {
					t.Errorf("idf %t: cosine of %q and %q is %v, expected %v", idf, a, b, got, want)
				}
			}
		}
		if want := 7; s.BlankCount != want {
			t.Errorf("idf %t: %d texts without terms, expected %d", idf, s.BlankCount, want)
		}
		if s = musttest.Get(New(e, read(columns), read(rows), false))(t); s.BlankCount != 7 || s.Columns.Cols != s.Rows.Cols {
			t.Errorf("idf %t: %d texts without terms in %d columns", idf, s.BlankCount, s.Columns.Cols)
		}
	}
}
