package svm_test

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/musttest"
)

// Predicting texts one by one in several goroutines gives bit-identical results to predicting them
// together.
func TestPredictTexts(t *testing.T) {
	ctx := context.Background()
	words := []string{"rain", "wind", "snow", "bread", "soup", "salt", "and", "more"}
	var texts, labels []string
	for i := range 40 {
		text := ""
		for k := range 6 {
			text += words[(i%2)*3+(i*k+k)%3] + " " + words[6+(i+k)%2] + " "
		}
		texts, labels = append(texts, text), append(labels, fmt.Sprint(i%2))
	}
	c := musttest.Get(corpus.FromTexts(ctx, texts, labels, corpus.Options{}))(t)
	k := kernel.MustParse("diffusion:t=0.5")
	problem := musttest.Get(svm.NewProblem(ctx, c, k.Embedding(), svm.Options{}))(t)
	m, _, err := problem.Train(ctx, svm.Settings{Kernel: k})
	musttest.NoError(t, err)
	p := musttest.Get(svm.NewPredictor(t.Context(), m, svm.Options{}))(t)
	want := musttest.Get(p.Predict(ctx, c.Documents))(t)
	counter := musttest.Get(corpus.NewCounter(m.Tokenizer, m.Vocabulary))(t)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for i, text := range texts {
				docs, err := counter.Count(ctx, []string{text})
				if err != nil {
					t.Error(err)
					return
				}
				got, err := p.Predict(ctx, docs)
				if err != nil {
					t.Error(err)
					return
				}
				if got.ClassIndices[0] != want.ClassIndices[i] || !reflect.DeepEqual(got.DecisionValues[0],
					want.DecisionValues[i]) {
					t.Errorf("text %d: %v, expected %v", i, got.DecisionValues[0], want.DecisionValues[i])
				}
			}
		})
	}
	group.Wait()
}
