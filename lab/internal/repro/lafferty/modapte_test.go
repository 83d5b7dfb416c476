package lafferty

import (
	"math"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/solver"
)

// 2 of 10 stories with a topic are false negatives, and 1 other story is a false positive.
// Precision is 8/9, recall 8/10, F1 16/19.
func TestTopicResult(t *testing.T) {
	w := &topicResult{correctMask: "00111111110111111111", positives: 10, falseNegatives: 2, falsePositives: 1}
	if w.errorRate() != 3./20 || !(math.Abs(w.f1()-16.0/19) <= 1e-15) {
		t.Errorf("error %v, F1 %v", w.errorRate(), w.f1())
	}
	if none := (&topicResult{falseNegatives: 1, positives: 1}); none.f1() != 0 {
		t.Errorf("nothing right has F1 %v", none.f1())
	}
}

// choose compares test or held-out stories. The result is always for test stories.
func TestModApteChoose(t *testing.T) {
	p := &settings{Scales: repro.Floats{1, 2}, C: repro.Floats{1, 10}}
	errs := func(n int) []topicResult {
		return []topicResult{{falseNegatives: n, positives: 10, correctMask: "0000000000"}}
	}
	results := []modApteResult{
		{test: [][]topicResult{errs(4), errs(3)}, heldOut: [][]topicResult{errs(2), errs(1)}},
		{test: [][]topicResult{errs(5), errs(2)}, heldOut: [][]topicResult{errs(1), errs(1)}},
	}
	if got := p.choose(results, 0, -1, (*topicResult).errorRate, false); got != &results[1].test[1][0] {
		t.Errorf("best on the test stories: %+v", got)
	}
	// Ties go to the smallest C, then to the largest scale.
	if got := p.choose(results, 0, -1, (*topicResult).errorRate, true); got != &results[1].test[0][0] {
		t.Errorf("best on those held out: %+v", got)
	}
}

// One support vector has value 1 for stories 0 and 2, which become positive. Story 1 has the topic
// and is missed. Story 2 is a false positive, but is ignored at first.
func TestDecideTopics(t *testing.T) {
	c := &solver.Classifier{Functions: []*solver.DecisionFunction{{Support: []int{1}, Coef: []float64{1}, Rho: 0.5}}}
	m := matrix{4, []float32{9, 9, 9, 9, 1, 0, 1, 0}}
	labels := [][]int{{0}, {3, 0}, {3}, nil}
	for _, isa := range asm.Available() {
		loops := musttest.Get(asm.KernelsFor(isa))(t)
		some := decideTopics(t.Context(), c, m, labels, []bool{true, true, false, true}, 2, loops)[0]
		if want := (topicResult{"101", 2, 1, 0}); some != want {
			t.Errorf("%s: %+v, expected %+v", isa, some, want)
		}
		all := decideTopics(t.Context(), c, m, labels, nil, 1, loops)[0]
		if want := (topicResult{"1001", 2, 1, 1}); all != want {
			t.Errorf("%s: %+v, expected %+v", isa, all, want)
		}
	}
}

// The split contains the stories with any topic, not only the ten most frequent topics.
func TestStories(t *testing.T) {
	texts, labels := []string{"a b", "b c", "c a", "a c", "b a"}, []string{"earn", "cpi", "-", "earn,cpi", "-"}
	c := musttest.Get(corpus.FromTexts(t.Context(), texts, labels, corpus.Options{MinDF: 1}))(t)
	s := newModApte(c, 3)
	if s.train.Rows() != 2 || s.test.Rows() != 1 || len(s.labels[0][0]) != 1 || len(s.labels[0][1]) != 0 {
		t.Errorf("%d and %d stories with the topics %v", s.train.Rows(), s.test.Rows(), s.labels)
	}
}
