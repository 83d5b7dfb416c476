package learners

import (
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/solver"
)

// If all thresholds are equal, the report has their value.
func TestThresholdsLine(t *testing.T) {
	for _, c := range []struct {
		t    *solver.Thresholds
		want string
	}{
		{nil, ""},
		{&solver.Thresholds{Above: []float64{-0.25, -0.25}, F1: 0.5, Sign: 0.25},
			"one threshold, -0.25: cross-validated micro F1 50.00% (25.00% with threshold 0)\n"},
		{&solver.Thresholds{Above: []float64{-0.25, 0.5}, F1: 0.5, Sign: 0.25, AtLeastOneLabel: true},
			"thresholds, with at least one label per document: cross-validated micro F1 50.00% (25.00% with threshold 0)\n"},
	} {
		var got report.Document
		if describeThresholds(&got, c.t); got.String() != c.want {
			t.Errorf("%q, expected %q", got.String(), c.want)
		}
	}
}

// The hint on an equally good linear SVM has the flags to train it.
func TestChoiceNamesLinear(t *testing.T) {
	var r choiceReport
	r.addLinearHint(nil, nil)
	if r.Hint != "" {
		t.Errorf("%q, expected none", r.Hint)
	}
	terms := []corpus.TermOptions{{}, {Tokenizer: corpus.Tokenizer{Views: "word:ngrams=1..2 + char_wb:ngrams=2..5"},
		MinDF: 2}}
	v := &learn.Validation{Result: &tune.Result{Mean: 0.5, Measure: tune.Accuracy}}
	chosen := &learn.SVMChoice{Choice: &tune.Choice{Candidate: tune.Candidate{Tokenizer: 1}}}
	r.addLinearHint(v, vocabularyFlags(&learn.SearchResult{Choice: chosen, Tokenizers: terms}))
	const want = ": -type linear -views 'word:ngrams=1..2 + char_wb:ngrams=2..5' -min-df 2"
	if r.LinearScore != 0.5 || !strings.Contains(r.Hint, "accuracy 50.00% on") || !strings.HasSuffix(r.Hint, want) {
		t.Errorf("%q, expected %s", r.Hint, want)
	}
	r.addLinearHint(v, vocabularyFlags(&learn.SearchResult{Choice: &learn.SVMChoice{Choice: &tune.Choice{}},
		Tokenizers: terms}))
	if !strings.HasSuffix(r.Hint, ": -type linear") {
		t.Errorf("%q, expected no terms", r.Hint)
	}
}
