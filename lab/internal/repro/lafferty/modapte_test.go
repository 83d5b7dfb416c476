package lafferty

import (
	"math"
	"slices"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/solver"
)

// Of 10 stories with a topic 2 are missed, and 1 other is taken for one: precision 8/9, recall
// 8/10, F1 16/19.
func TestWrongly(t *testing.T) {
	w := &wrongly{}
	for i := range 20 {
		w.count(i, i < 10, i >= 2 && i < 11)
	}
	if w.errors() != 3 || len(w.Missed) != 2 || w.Mistaken[0] != 10 || !(math.Abs(w.f1()-16.0/19) <= 1e-15) {
		t.Errorf("%+v, F1 %v", w, w.f1())
	}
	if none := (&wrongly{Missed: []int{1}, Positive: 1}); none.f1() != 0 {
		t.Errorf("nothing right has F1 %v", none.f1())
	}
}

// The first is alone right on stories 3, 4 and 5, the second alone on 1.
func TestAgainst(t *testing.T) {
	first, second := &wrongly{Missed: []int{1, 2}}, &wrongly{Missed: []int{2, 3}, Mistaken: []int{4, 5}}
	if got := against(first, second); got != repro.SignTest(3, 1) {
		t.Errorf("%+v, expected that of 3 against 1", got)
	}
}

// Two topics' worth of results by hand: the choice is made by the figure that is given, and what is
// reported is that of the test stories.
func TestModApteChoose(t *testing.T) {
	p := &protocol{scales: repro.Numbers{1, 2}, c: repro.Numbers{1, 10}}
	errs := func(n int) []wrongly { return []wrongly{{Missed: make([]int, n), Positive: 10}} }
	results := []modApteResult{
		{Test: [][]wrongly{errs(4), errs(3)}, Held: [][]wrongly{errs(2), errs(1)}},
		{Test: [][]wrongly{errs(5), errs(2)}, Held: [][]wrongly{errs(1), errs(1)}},
	}
	share := func(w *wrongly, documents int) float64 { return float64(w.errors()) / float64(documents) }
	table := &modApteTable{figure: share, better: -1}
	if got := p.choose(table, results, gaussian, 0, 100, protocols[0].of); got.scale != 2 || got.c != 10 ||
		got.figure != 0.02 {
		t.Errorf("best on the test stories: %+v", got)
	}
	got := p.choose(table, results, gaussian, 0, 100, protocols[1].of)
	if got.scale != 2 || got.c != 1 || got.figure != 0.05 { // of three equal ones
		t.Errorf("best on those held out: %+v", got)
	}
}

// One support vector of value 1 on stories 0 and 2, which are called positive: story 1 has the
// topic and is missed, story 2 hasn't and is left out of the count.
func TestDecideTopics(t *testing.T) {
	c := &solver.Classifier{Machines: []*solver.Machine{{Support: []int{1}, Coef: []float64{1}, Rho: 0.5}}}
	m := matrix{4, []float32{9, 9, 9, 9, 1, 0, 1, 0}}
	labels := [][]int{{0}, {3, 0}, {3}, nil}
	for _, isa := range asm.Available() {
		loops := musttest.Get(asm.For(isa))(t)
		some, err := decideTopics(t.Context(), c, m, labels, []bool{true, true, false, true}, 2, loops)
		if w := some[0]; err != nil || !slices.Equal(w.Missed, []int{1}) || w.Mistaken != nil || w.Positive != 2 {
			t.Errorf("%s: %+v, %v", isa, w, err)
		}
		all, err := decideTopics(t.Context(), c, m, labels, nil, 1, loops)
		if err != nil || !slices.Equal(all[0].Mistaken, []int{2}) {
			t.Errorf("%s: of all: %+v, %v", isa, all[0], err)
		}
	}
}

// Stories of the split: one has a topic of the ten, one another topic, one none.
func TestModApteStories(t *testing.T) {
	texts, labels := []string{"a b", "b c", "c a", "a c", "b a"}, []string{"earn", "cpi", "-", "earn,cpi", "-"}
	c := musttest.Get(corpus.FromTexts(t.Context(), texts, labels, corpus.Options{MinDF: 1}))(t)
	for kind, want := range map[string][2]int{"top": {1, 1}, "topics": {2, 1}, "all": {3, 2}} {
		s := newModApteSplit(c, 3, kind)
		if got := [2]int{s.train.Rows(), s.test.Rows()}; got != want {
			t.Errorf("%s: %d stories, expected %d", kind, got, want)
		}
	}
}
