package gram_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
)

// plainTF is a kernel whose embedding doesn't depend on other documents, unlike an embedding with
// idf weights.
const plainTF = "diffusion:t=0.5,embed=tf-l1-sqrt"

// weighable returns options of learners that support document weights.
func weighable() map[string]gram.TrainOptions {
	return map[string]gram.TrainOptions{
		"one-vs-one":       {Kernel: plainTF, C: 0.3, Scheme: "one-vs-one", Probabilities: true},
		"one-vs-rest":      {Kernel: plainTF, C: 0.3, Scheme: "one-vs-rest", Reject: "coverage=90%"},
		"labels":           {Kernel: plainTF, C: 0.3, Scheme: "labels", Thresholds: true},
		"balanced":         {Kernel: plainTF, Balanced: true, Weights: map[string]float64{"class1": 3}},
		"nu_svc":           {Type: "nu_svc", Kernel: plainTF, Nu: 0.3},
		"one_class":        {Type: "one_class", Kernel: plainTF, Nu: 0.3},
		"epsilon_svr":      {Type: "epsilon_svr", Kernel: plainTF, C: 2, Epsilon: 0.05},
		"nu_svr":           {Type: "nu_svr", Kernel: plainTF, C: 2, Nu: 0.3},
		"linear":           {Type: "linear", Embedding: "tf-l2"},
		"hinge":            {Type: "linear:loss=hinge", Embedding: "tf-l2", Balanced: true},
		"logistic":         {Type: "logistic", Embedding: "tf-l2", C: 3},
		"logistic, chosen": {Type: "logistic", Embedding: "tf-l2"},
		"landmark":         {Type: "landmark:m=40", Kernel: plainTF},
		"chosen":           {}, // on samples
	}
}

// drawn returns documents of three classes. For regression, class names are numbers.
func drawn(t *testing.T, kind string) *corpus.Corpus {
	t.Helper()
	const source = "synthetic:docs=%d,terms=80,length=10,classes=3,seed=5"
	n := 90
	if kind == "chosen" {
		n = 400
	}
	c := gram.Must(gram.Read(t.Context(), fmt.Sprintf(source, n), gram.ReadOptions{}))
	c.Classes = []string{"class0", "class1", "class2"}
	if strings.HasSuffix(kind, "svr") {
		c.Classes = []string{"1", "-0.5", "2.5"}
	}
	return c
}

// Weights of 1 give the same bits as no weights. A weight of 0 gives the same bits as without the
// document.
func TestDocumentWeightsInBits(t *testing.T) {
	musttest.SkipRace(t)
	for name, o := range weighable() {
		c := drawn(t, name)
		train := func(c *corpus.Corpus, weights []float64) string {
			own := o
			own.DocumentWeights = weights
			m, err := gram.Train(t.Context(), c, own)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return musttest.Output(t, m.Write)
		}
		var ones, some []float64
		var kept []int
		for i := range c.Documents.Rows() {
			ones = append(ones, 1)
			if some = append(some, 1); i%7 == 3 {
				some[i] = 0
			} else {
				kept = append(kept, i)
			}
		}
		if train(c, nil) != train(c, ones) {
			t.Errorf("%s: weights of 1 give another model", name)
		}
		if train(c.Select(kept), nil) != train(c, some) {
			t.Errorf("%s: documents of the weight 0 have a part in the model", name)
		}
	}
}

// Training runs on folds use the document weights, but scores are unweighted. A quarter of the
// equal texts has one label and most of the weight, so all texts get this label.
func TestDocumentWeightsInFolds(t *testing.T) {
	var texts, labels, numbers []string
	var weights []float64
	for i := range 240 {
		label, number, w := "light", "0", 1.0
		if i%4 == 0 {
			label, number, w = "heavy", "1", 100
		}
		texts, labels = append(texts, fmt.Sprintf("red fox%c", 'a'+i/4%2)), append(labels, label)
		numbers, weights = append(numbers, number), append(weights, w)
	}
	for name, o := range weighable() {
		if name == "one_class" || name == "nu_svc" || name == "balanced" || name == "hinge" {
			continue // these have no folds, a bound on ν, or classes of equal weight
		}
		own := labels
		if strings.HasSuffix(name, "svr") {
			own = numbers
		}
		c := gram.Must(gram.FromTexts(t.Context(), texts, own, gram.ReadOptions{MinDF: 1}))
		o.DocumentWeights, o.Probabilities, o.Reject, o.Thresholds = weights, false, "", false
		check := func(what string, mean float64, err error) {
			// 60 of 240 documents are predicted correctly; regression estimates 1 for the 0s.
			want, within := 0.25, 1e-9
			if strings.HasSuffix(name, "svr") {
				want, within = 0.75, 0.1
			}
			if err != nil || !(math.Abs(mean-want) <= within) {
				t.Errorf("%s, %s: %v, %v, expected %v", name, what, mean, err, want)
			}
		}
		v, err := gram.CrossValidate(t.Context(), c, gram.ValidateOptions{TrainOptions: o, Folds: 4})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		check("validation", v.Mean, nil)
		found, err := gram.Search(t.Context(), c, gram.SearchOptions{TrainOptions: o, Folds: 4,
			Grid: map[string][]string{"C": {"1", "2"}}})
		if name == "nu_svr" {
			found, err = gram.Search(t.Context(), c, gram.SearchOptions{TrainOptions: o, Folds: 4,
				Grid: map[string][]string{"nu": {"0.2", "0.4"}}})
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, p := range found.Points {
			check("search", p.Mean, nil)
			m := gram.Must(gram.Train(t.Context(), c, p.Options))
			own := gram.Must(m.PredictTexts(t.Context(), texts[:2]))
			if own.Values == nil && own.Label(0) != "heavy" || own.Values != nil && !(own.Values[0] > 0.8) {
				t.Errorf("%s: the options that a search found train a model that says %s", name, own.Label(0))
			}
		}
	}
	c := gram.Must(gram.FromTexts(t.Context(), texts, labels, gram.ReadOptions{MinDF: 1}))
	o := gram.TrainOptions{DocumentWeights: weights}
	found, err := gram.Search(t.Context(), c, gram.SearchOptions{TrainOptions: o})
	if err != nil || found.BestIndex < 0 {
		t.Fatalf("a search on samples: error %v, %s", err, found.Reason)
	}
	if mean := found.Points[found.BestIndex].Mean; !(math.Abs(mean-0.25) <= 1e-9) {
		t.Errorf("a search on samples found %v, expected a quarter to be right", mean)
	}
}
