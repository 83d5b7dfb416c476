package gram_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gramengine/gram"
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
			if err := m.Warm(ctx); err != nil {
				b.Fatal(err)
			}
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
