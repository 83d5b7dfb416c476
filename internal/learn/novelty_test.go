package learn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// The nearest document and its rank equal the result of a double loop over the kernel's definition.
func TestNovelty(t *testing.T) {
	ctx := t.Context()
	read := func(seed int) *corpus.Corpus {
		spec := fmt.Sprintf("synthetic:docs=40,terms=60,length=9,classes=2,seed=%d", seed)
		return musttest.Get(corpus.Read(ctx, spec, corpus.Options{}))(t)
	}
	train, test := read(1), read(2)
	test.Documents = test.Documents.SelectRows([]int{3, 0, 7, 9})
	empty := test.Documents
	empty.Offsets = append(empty.Offsets, empty.Offsets[len(empty.Offsets)-1]) // a document without terms
	for _, of := range []struct {
		spec     string
		training bool
	}{
		{"c_svc:kernel=diffusion:t=0.3", false}, {"c_svc:kernel=rbf:gamma=0.2", true}, {"knn", false}, {"linear", true},
		{"linear", false},
	} {
		trainer := learn.TrainerOf(t, of.spec)
		m, err := trainer.Train(ctx, train, learn.Options{})
		if err != nil {
			t.Fatal(of, err)
		}
		p := musttest.Get(learn.NewPredictor(ctx, m, learn.Options{}))(t)
		defer p.Close()
		docs, given := train.Documents, (*sparse.CSR)(nil)
		if of.training {
			given = docs
		} else if machines, ok := m.(learn.KernelMachine); ok {
			docs = machines.Support
		}
		n, err := learn.NewNoveltyScorer(ctx, m, p, given, learn.Options{})
		if err != nil {
			t.Fatal(of, err)
		}
		if none := of.spec == "linear" && !of.training; (n == nil) != none {
			t.Fatalf("%v: a novelty: %v, expected none: %v", of, n, none)
		}
		if n == nil {
			continue
		}
		var got model.Prediction
		musttest.NoError(t, n.Annotate(ctx, &got, test.Documents))
		k := kernel.MustParse("bhattacharyya")
		if _, spec, ok := strings.Cut(of.spec, "kernel="); ok {
			k = kernel.MustParse(spec)
		}
		f := k.Embedding().Fit(train.Documents)
		x, y := transform(t, f, docs), transform(t, f, test.Documents)
		held := transform(t, f, without(docs, f.Terms, f.DF, train.Vocabulary != nil))
		greatest := func(a []float64, norm float64, but int) float64 {
			best := math.Inf(-1)
			for j := range docs.Rows() {
				if j != but {
					best = max(best, k.Eval(1-dot(a, dense(x, j)), norm, x.Norms[j]))
				}
			}
			return best
		}
		for i := range 4 {
			// float32 kernel values below 1 are off by a few 2⁻²⁴, plus the error of c, at most
			// 10⁻⁶.
			want := greatest(dense(y, i), y.Norms[i], -1)
			if !(math.Abs(got.NearestValues[i]-want) <= 1e-5) {
				t.Errorf("%v: document %d has a nearest value of %v, expected %v", of, i, got.NearestValues[i], want)
			}
			least, most := 1, 1
			for j := range docs.Rows() {
				own := greatest(dense(held, j), held.Norms[j], j)
				if held.IsEmptyRow(j) {
					own = math.Inf(-1)
				}
				if own <= want-1e-5 {
					least++
				}
				if own <= want+1e-5 {
					most++
				}
			}
			rank := got.Ranks[i] * float64(docs.Rows()+1)
			if !(rank >= float64(least)-1e-9 && rank <= float64(most)+1e-9) {
				t.Errorf("%v: document %d has the rank %v, expected %d to %d", of, i, rank, least, most)
			}
		}
		if !math.IsNaN(got.NearestValues[4]) || got.Ranks[4] != 0 {
			t.Errorf("%v: an empty document has %v and the rank %v, expected NaN and 0", of, got.NearestValues[4], got.Ranks[4])
		}
		musttest.NoError(t, n.Close())
	}
}

// without returns documents without their rarest terms (text), or without terms of only one
// document (vectors).
func without(docs *sparse.CSR, terms []uint32, df []int32, text bool) *sparse.CSR {
	least := int32(1)
	if text {
		least = slices.Min(df)
	}
	out := &sparse.CSR{Cols: docs.Cols, Offsets: []int64{0}}
	for i := range docs.Rows() {
		own, values := docs.Row(i)
		for k, term := range own {
			if at, ok := slices.BinarySearch(terms, term); ok && df[at] > least {
				out.Terms, out.Values = append(out.Terms, term), append(out.Values, values[k])
			}
		}
		out.Offsets = append(out.Offsets, int64(len(out.Terms)))
	}
	return out
}

// If new documents are distributed like the training documents, 5% have a rank of at most 0.05,
// even with new words.
func TestNoveltyRanks(t *testing.T) {
	ctx := t.Context()
	const n = 1500
	r := rand.New(rand.NewPCG(3, 4))
	texts := func() (out []string) {
		for range n {
			var words []string
			for range 3 + r.IntN(8) {
				words = append(words, fmt.Sprintf("w%d", int(math.Exp(11*r.Float64())))) // Zipf's law
			}
			out = append(out, strings.Join(words, " "))
		}
		return out
	}
	labels := musttest.MakeSlice(n, func(i int) string { return string(rune('a' + i%2)) })
	digits := musttest.Get(corpus.ParseTokenizer("word:digits"))(t)
	train := musttest.Get(corpus.FromTexts(ctx, texts(), labels, corpus.Options{Tokenizer: digits}))(t)
	counter := musttest.Get(corpus.NewCounter(train.Tokenizer, train.Vocabulary))(t)
	fresh := musttest.Get(counter.Count(ctx, texts()))(t)
	trainer := learn.TrainerOf(t, "knn")
	m := musttest.Get(trainer.Train(ctx, train, learn.Options{}))(t)
	p := musttest.Get(learn.NewPredictor(ctx, m, learn.Options{}))(t)
	defer p.Close()
	novelty := musttest.Get(learn.NewNoveltyScorer(ctx, m, p, nil, learn.Options{}))(t)
	var got model.Prediction
	musttest.NoError(t, novelty.Annotate(ctx, &got, fresh))
	for _, bound := range []float64{0.01, 0.05, 0.25, 0.5} {
		share := 0.0
		for _, rank := range got.Ranks {
			if rank <= bound {
				share += 1. / n
			}
		}
		// Both samples have n documents. The bound is three standard errors of the difference.
		if most := 3 * math.Sqrt(2*bound*(1-bound)/n); !(math.Abs(share-bound) <= most) {
			t.Errorf("%.4f of new documents have a rank of at most %v, expected ± %.4f", share, bound, most)
		}
	}
}

func transform(t *testing.T, f *sparse.Embedder, docs *sparse.CSR) *sparse.Embedded {
	t.Helper()
	return musttest.Get(f.Transform(docs))(t)
}

// dense returns row i of embedded documents.
func dense(x *sparse.Embedded, i int) []float64 {
	out := make([]float64, x.Cols)
	unit := x.UnitVector64(i, nil)
	for k, at := range x.Terms[x.Offsets[i]:x.Offsets[i+1]] {
		out[at] = unit[k]
	}
	return out
}

func dot(a, b []float64) (sum float64) {
	for k := range a {
		sum += a[k] * b[k]
	}
	return sum
}
