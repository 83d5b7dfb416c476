package learn_test

import (
	"math"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/musttest"
)

// The test compares areas with all pairs of a positive and a negative, precision with each
// document's threshold, and coverage and calibration with their definitions.
func TestCurves(t *testing.T) {
	ctx := t.Context()
	c := musttest.Get(corpus.Read(ctx, "synthetic:docs=90,terms=40,length=5,classes=3,seed=4", corpus.Options{}))(t)
	half := func(odd int) *corpus.Corpus {
		var at []int
		for i := odd; i < c.Documents.Rows(); i += 2 {
			at = append(at, i)
		}
		return c.Select(at)
	}
	train, test := half(0), half(1)
	score := func(p *model.Prediction, i, k int) float64 {
		switch {
		case p.Probabilities != nil:
			return p.Probabilities[i][k]
		case len(p.DecisionValues[i]) == 3 && k == 0: // pairs 0/1, 0/2, 1/2
			return (p.DecisionValues[i][0] + p.DecisionValues[i][1]) / 2
		case k == 1:
			return (p.DecisionValues[i][2] - p.DecisionValues[i][0]) / 2
		}
		return (-p.DecisionValues[i][1] - p.DecisionValues[i][2]) / 2
	}
	for _, spec := range []string{"c_svc:kernel=linear", "logistic:c=1"} {
		trainer := learn.TrainerOf(t, spec)
		m := musttest.Get(trainer.Train(ctx, train, learn.Options{}))(t)
		p := musttest.Get(m.Predict(ctx, test.Documents, learn.Options{}))(t)
		v := musttest.Get(learn.Evaluate(ctx, m, p, test, learn.Options{}, learn.EvaluateOptions{MistakeCount: -1}))(t)
		for k, at := range v.CoverageAtErrorRates {
			want := 0.0
			for _, c := range v.CoverageCurve {
				if c.ErrorRate <= []float64{0.01, 0.02, 0.05, 0.1}[k] {
					want = c.Fraction
				}
			}
			if at.Fraction != want || len(v.CoverageAtErrorRates) != 4 {
				t.Errorf("%s: %+v is answered, expected %v", spec, at, want)
			}
		}
		if c := v.Score.Calibration; c != nil {
			ece := 0.0
			for _, b := range c.Bins {
				ece += float64(b.Documents) / float64(v.Score.Documents) * math.Abs(b.Accuracy-b.Confidence)
			}
			if !(math.Abs(ece-c.ECE) <= 1e-12) || len(c.Bins) < 2 {
				t.Errorf("%s: calibration error %v, by the bins %v", spec, c.ECE, ece)
			}
		}
		about := m.About()
		of := func(curve int) (scores []float64, positive []bool) {
			for k, name := range about.Classes {
				for i := range test.Documents.Rows() {
					if curve == 0 || curve == k+1 {
						scores = append(scores, score(p, i, k))
						positive = append(positive, test.Classes[test.Labels.Classes(i)[0]] == name)
					}
				}
			}
			return scores, positive
		}
		if len(v.Curves) != 4 {
			t.Fatalf("%s: %d curves, expected 4", spec, len(v.Curves))
		}
		for at, got := range v.Curves {
			scores, positive := of(at)
			var auc, pairs, precision, positives float64
			for i, s := range scores {
				if !positive[i] {
					continue
				}
				positives++
				var tp, all float64
				for j, other := range scores {
					if !positive[j] {
						pairs++
						switch {
						case s > other:
							auc++
						case s == other:
							auc += 0.5
						}
					}
					if other >= s {
						all++
						if positive[j] {
							tp++
						}
					}
				}
				precision += tp / all
			}
			if want := auc / pairs; !(math.Abs(got.AUC-want) <= 1e-12) {
				t.Errorf("%s: %q has an area of %v, expected %v", spec, got.Class, got.AUC, want)
			}
			if want := precision / positives; !(math.Abs(got.AveragePrecision-want) <= 1e-12) {
				t.Errorf("%s: %q has an average precision of %v, expected %v", spec, got.Class, got.AveragePrecision, want)
			}
			if last := got.ROC[len(got.ROC)-1]; last != [2]float64{1, 1} {
				t.Errorf("%s: the curve of %q ends at %v, expected 1, 1", spec, got.Class, last)
			}
		}
	}
}
