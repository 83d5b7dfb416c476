package gram_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/internal/musttest"
)

// BenchmarkPredictTexts predicts the Go sources of this machine one at a time, as a service does: one
// caller per processor, on a model that is warm. p99-ns is the 99th percentile of a prediction.
func BenchmarkPredictTexts(b *testing.B) {
	ctx := context.Background()
	c := gram.Must(gram.Read(ctx, "goroot", gram.ReadOptions{}))
	texts := make([]string, 256)
	for i := range texts {
		terms, _ := c.Documents.Row(i * (c.Documents.Rows() / len(texts)))
		for _, t := range terms {
			texts[i] += c.Vocabulary[t] + " "
		}
	}
	for _, o := range []gram.TrainOptions{
		{Kernel: "diffusion:t=0.5", C: 10, Scheme: "one-vs-one"}, {Type: "linear", C: 1},
	} {
		b.Run(o.Kernel+o.Type, func(b *testing.B) {
			m := gram.Must(gram.Train(ctx, c, o)).With(gram.Options{Workers: 1})
			musttest.Do(b, m.Warm(ctx))
			var mu sync.Mutex
			var took []time.Duration
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				var own []time.Duration
				for i := 0; pb.Next(); i++ {
					start, at := time.Now(), i%len(texts)
					if _, err := m.PredictTexts(ctx, texts[at:at+1]); err != nil {
						b.Error(err)
					}
					own = append(own, time.Since(start))
				}
				mu.Lock()
				took = append(took, own...)
				mu.Unlock()
			})
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100]), "p99-ns")
		})
	}
}

// BenchmarkIndex builds an index of 50,000 texts of 200 words by Zipf's law, asks it for the ten nearest of a text and
// for those within 0.02, and adds texts, on one processor.
func BenchmarkIndex(b *testing.B) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(1, 1))
	zipf := rand.NewZipf(r, 1.1, 4, 60_000)
	text := func() string {
		var t strings.Builder
		for range 200 {
			t.WriteString("w" + letters(zipf.Uint64()) + " ")
		}
		return t.String()
	}
	texts := musttest.Make(50_000, func(i int) string { return text() })
	own := gram.IndexOptions{Options: gram.Options{Workers: 1}}
	index := gram.Must(gram.NewIndex(ctx, texts, own))
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			gram.Must(gram.NewIndex(ctx, texts, own))
		}
	})
	within := 0.02
	for _, q := range []struct {
		name  string
		query gram.IndexQuery
	}{{"nearest=ten", gram.IndexQuery{K: 10}}, {"within=0.02", gram.IndexQuery{Within: &within}}} {
		b.Run(q.name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				gram.Must(index.Query(ctx, []string{texts[i%len(texts)]}, q.query))
			}
		})
	}
	b.Run("add", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			gram.Must(index.Add(ctx, texts[i%len(texts)]+"new"))
		}
	})
}

// letters writes a number with the letters a to j, since a term is a run of letters.
func letters(n uint64) string {
	b := []byte(strconv.FormatUint(n, 10))
	for i := range b {
		b[i] += 'a' - '0'
	}
	return string(b)
}
