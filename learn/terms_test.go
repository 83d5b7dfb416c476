package learn

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/sparse"
)

// inOrder returns texts of two classes that have the same words in another order.
func inOrder(n int) (texts, labels []string) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range n {
		var b strings.Builder
		for range 6 {
			pair := []string{"red", "fox"}
			if i%2 == 0 {
				pair = []string{"fox", "red"}
			}
			fmt.Fprintf(&b, "w%c %s x%c ", 'a'+r.IntN(20), strings.Join(pair, " "), 'a'+r.IntN(20))
		}
		texts, labels = append(texts, b.String()), append(labels, fmt.Sprint(i%2))
	}
	return texts, labels
}

// Where classes differ in pairs of words alone, pairs are chosen, if texts were kept, and the model cuts text
// as it was trained.
func TestTrainChoosesTerms(t *testing.T) {
	texts, labels := inOrder(400)
	ctx := context.Background()
	for _, memory := range []int64{0, 1 << 30} {
		c, err := sparse.FromTexts(ctx, texts[:200], labels[:200], sparse.Options{KeepTexts: TextsToKeep(memory)})
		if err != nil {
			t.Fatal(err)
		}
		_, trainer, err := Parse(string(model.CSVC))
		if err != nil {
			t.Fatal(err)
		}
		m, err := trainer.Train(ctx, c, Options{Work: 1, Seed: 1, MemoryBytes: memory})
		if err != nil {
			t.Fatal(err)
		}
		a := m.About()
		own := m.(Machines)
		if cut := own.Trained.Chosen.Cut; cut == 0 || a.Tokenizer != own.Trained.Terms[cut].Tokenizer {
			t.Fatalf("cut %d, tokenizer %s", cut, a.Tokenizer)
		}
		test, err := sparse.FromTexts(ctx, texts[200:], labels[200:],
			sparse.Options{Vocabulary: a.Vocabulary, Tokenizer: a.Tokenizer})
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Predict(ctx, test.Documents, Options{})
		if err != nil {
			t.Fatal(err)
		}
		score, err := a.Score(p, test)
		if err != nil || !(score.Accuracy >= 0.99) {
			t.Errorf("accuracy %v, %v, expected all but a document or two", score, err)
		}
	}
	// Without texts, or without memory for other terms, the words stay.
	for _, opt := range []sparse.Options{{}, {KeepTexts: 10}} {
		c, err := sparse.FromTexts(ctx, texts[:200], labels[:200], opt)
		if err != nil {
			t.Fatal(err)
		}
		_, trainer, _ := Parse(string(model.CSVC))
		m, err := trainer.Train(ctx, c, Options{Work: 1, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if own := m.(Machines); own.Trained.Terms != nil || own.Tokenizer != (sparse.Tokenizer{}) {
			t.Errorf("without texts: %v, tokenizer %s", own.Trained.Terms, own.Tokenizer)
		}
	}
}
