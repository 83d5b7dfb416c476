package learn_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/score"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
)

// Rows agree with lines, explanations and the corpus.
func TestRows(t *testing.T) {
	text := "a\tred, \"round\" apple\nb\tgreen pea\nc\tsour plum\na\tred cherry\nb\tgreen bean\nc\tsour  plum\tplum\n"
	opt := corpus.Options{MinDF: 1, KeepTextBytes: 1 << 20}
	c := musttest.Get(corpus.ReadFrom(t.Context(), strings.NewReader(text), "fruit.tsv", opt))(t)
	for _, spec := range []string{"linear", "logistic", "knn:k=2"} {
		trainer := learn.TrainerOf(t, spec)
		m := musttest.Get(trainer.Train(t.Context(), c, learn.Options{}))(t)
		p := musttest.Get(m.Predict(t.Context(), c.Documents, learn.Options{}))(t)
		rows := musttest.Get(learn.PredictionRows(m, p, c))(t)
		a := m.About()
		for i, r := range rows {
			x := musttest.Get(learn.ExplainDocument(t.Context(), m, c.Documents, i, 1, ready(t, m)))(t)
			if r.Prediction != a.Labels(p, i)[0] || r.SecondClass != x.SecondClass || r.Margin != x.Value ||
				r.KnownTermCount != x.KnownTermCount ||
				r.Text != c.Texts[i] || r.Truth != c.Classes[c.Labels.Classes(i)[0]] ||
				(r.Probability != nil) != a.HasProbabilities {
				t.Errorf("%s: document %d: %+v, explained as %+v", spec, i, r, x)
			}
		}
	}
}

// Mistakes are wrong predictions. A rejected document isn't a mistake.
func TestMistakesAreAnswered(t *testing.T) {
	const source = "synthetic:docs=600,terms=400,length=14,classes=4,seed=3"
	all := musttest.Get(corpus.Read(t.Context(), source, corpus.Options{}))(t)
	var train, test []int
	for i := range all.Documents.Rows() {
		if i%3 == 0 {
			test = append(test, i)
		} else {
			train = append(train, i)
		}
	}
	trainer := learn.TrainerOf(t, "c_svc:c=10,reject=coverage=0.6")
	m := musttest.Get(trainer.Train(t.Context(), all.Select(train), learn.Options{}))(t)
	c := all.Select(test)
	p := musttest.Get(m.Predict(t.Context(), c.Documents, learn.Options{}))(t)
	ready := learn.Options{Predictor: musttest.Get(learn.NewPredictor(t.Context(), m, learn.Options{}))(t)}
	v := musttest.Get(learn.Evaluate(t.Context(), m, p, c, ready, learn.EvaluateOptions{MistakeCount: len(test)}))(t)
	rows := musttest.Get(learn.PredictionRows(m, p, c))(t)
	want, without := []int{}, 0
	for i, x := range v.Outcomes {
		if own := c.Classes[p.ClassIndices[i]]; p.Rejected[i] && (rows[i].Prediction != "?" || rows[i].SecondClass != own) {
			t.Errorf("document %d without an answer has the row %+v, expected %s as what it would be", i, rows[i], own)
		}
		if right := int(c.Labels.Classes(i)[0]) == p.ClassIndices[i]; x.Correct != right {
			t.Errorf("document %d right: %t", i, x.Correct)
		} else if !right && p.Rejected[i] {
			without++
		} else if !right {
			want = append(want, i)
		}
	}
	var got []int
	for _, x := range v.Mistakes {
		got = append(got, x.Index)
	}
	if slices.Sort(got); !slices.Equal(got, want) || len(want) == 0 || without == 0 {
		t.Errorf("mistakes %v, expected %v, and %d without an answer", got, want, without)
	}
}

// The margin of the most probable class is negative if another class has a larger decision value.
func TestMarginOfTheMostProbable(t *testing.T) {
	const source = "synthetic:docs=600,terms=400,length=12,classes=4,seed=8"
	c := musttest.Get(corpus.Read(t.Context(), source, corpus.Options{}))(t)
	trainer := learn.TrainerOf(t, "c_svc:c=10,reject=coverage=0.5,scheme=one-vs-rest")
	m := musttest.Get(trainer.Train(t.Context(), c.Select(run.Range(0, 400)), learn.Options{}))(t)
	p := musttest.Get(m.Predict(t.Context(), c.Select(run.Range(400, 600)).Documents, learn.Options{}))(t)
	a, behind := m.About(), 0
	for i, decisions := range p.DecisionValues {
		f, _, err := a.Margin(m, p, i)
		least := decisions[p.ClassIndices[i]] < slices.Max(decisions)
		if least {
			behind++
		}
		if err != nil || (f < 0) != least {
			t.Fatalf("document %d of class %d has the margin %v, %v, by %v", i, p.ClassIndices[i], f, err, decisions)
		}
	}
	if behind == 0 {
		t.Error("the most probable class has the greatest decision value everywhere: the test doesn't reach what it should")
	}
}

// Wilson's interval ends where a test of the true accuracy p just rejects the observation: |right/n
// - p| = z·√(p(1-p)/n).
func TestInterval(t *testing.T) {
	for _, c := range [][2]int{{0, 1}, {1, 1}, {1, 2}, {442, 500}, {5741, 7532}, {0, 10000}} {
		s := score.Score{Correct: c[0], Documents: c[1]}
		low, high := s.AccuracyInterval()
		n, seen := float64(c[1]), float64(c[0])/float64(c[1])
		if !(low < seen || low == 0 && seen == 0) || !(seen < high || high == 1 && seen == 1) {
			t.Errorf("%v: %v to %v", c, low, high)
		}
		for _, p := range []float64{low, high} {
			if p == seen && (p == 0 || p == 1) { // no p beyond it
				continue
			}
			if z := math.Abs(seen-p) / math.Sqrt(p*(1-p)/n); !(math.Abs(z-1.959963984540054) <= 1e-6) {
				t.Errorf("%v: the end %v is %v standard errors away", c, p, z)
			}
		}
	}
	if low, high := new(score.Score).AccuracyInterval(); low != 0 || high != 1 {
		t.Errorf("nothing was seen: %v to %v", low, high)
	}
}
