package svm

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/score"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
)

// On new documents, the log loss of calibrated probabilities is at most the log loss of plain
// sigmoids, and near the log loss on folds and in a cross-validation.
func TestCalibrated(t *testing.T) {
	musttest.SkipRace(t)
	all := read(t, "synthetic:docs=3500,terms=1500,length=14,classes=6,seed=5", corpus.Options{})
	var trainOn, test []int
	for i := range all.Documents.Rows() {
		if i%7 > 1 { // classes take turns
			trainOn = append(trainOn, i)
		} else {
			test = append(test, i)
		}
	}
	c, other := all.Select(trainOn), all.Select(test)
	for _, scheme := range []solver.Scheme{solver.OneVsOne, solver.OneVsRest, solver.MultiLabel} {
		t.Run(scheme.String(), func(t *testing.T) {
			s := Settings{Scheme: scheme, C: 10, Probabilities: true}
			scored := func(s Settings) (*score.Calibration, []float64, *Report) {
				m, report := train(t, c, s, Options{})
				file := bytesOf(t, m)
				m, err := model.Read(t.Context(), bytes.NewReader(file))
				if err != nil || !bytes.Equal(bytesOf(t, m), file) {
					t.Fatalf("another model from its file, %v", err)
				}
				p := predict(t, m, other.Documents, Options{})
				found := musttest.Get(score.Compute(m.Classes, p, other))(t).Calibration
				return found, lossesOf(m.Classes, p.Probabilities, scheme == solver.MultiLabel, other), report
			}
			plain, before, none := scored(s)
			s.Calibrated = true
			got, after, report := scored(s)
			if none.Calibration != nil || report.Calibration == nil ||
				(report.Temperature == nil) != (scheme == solver.MultiLabel) {
				t.Fatalf("%+v of sigmoids alone, %+v and temperature %+v of calibrated ones", none.Calibration,
					report.Calibration, report.Temperature)
			}
			folds := crossValidate(t, problem(t, c, kernel.MustParse(DefaultKernel), Options{}), s, 5, 1)
			// On the same documents, the mean difference of losses is at most 0, up to 3 errors and
			// 2%.
			worse := make([]float64, len(after))
			for i := range after {
				worse[i] = after[i] - before[i]
			}
			mean, sd := moments(worse)
			within(t, "log loss less that by sigmoids alone", mean, got.LogLoss-plain.LogLoss, 1e-9)
			if se := sd / math.Sqrt(float64(len(worse))); !(mean <= min(3*se, 0.02*plain.LogLoss)) {
				t.Errorf("log loss %v, by sigmoids alone %v, standard error of the difference %v", got.LogLoss, plain.LogLoss,
					se)
			}
			most := maxECE(got)
			t.Logf("log loss %.4f, by sigmoids alone %.4f, difference %.4f ± %.4f, by folds %.4f, validated %.4f; ECE %.4f, "+
				"bound %.4f", got.LogLoss, plain.LogLoss, mean, sd/math.Sqrt(float64(len(worse))), report.Calibration.LogLoss,
				folds.Score.Calibration.LogLoss, got.ECE, most)
			if !(got.ECE <= most) {
				t.Errorf("expected calibration error %v, of perfect probabilities at most %v", got.ECE, most)
			}
			// On other documents, the difference of two means has the standard error √(s²/n +
			// s²/m), where s is the standard deviation of losses. Folds learn from a fifth less,
			// and are within three standard errors.
			_, deviation := moments(after)
			far := 3 * deviation * math.Sqrt(1/float64(len(trainOn))+1/float64(len(test)))
			for _, near := range []*score.Calibration{report.Calibration, folds.Score.Calibration} {
				if !(math.Abs(near.LogLoss-got.LogLoss) <= far) {
					t.Errorf("log loss %v by folds, %v of other documents, expected ± %v", near.LogLoss, got.LogLoss, far)
				}
			}
		})
	}
}

// lossesOf returns the log loss of each document by definition: -log p of its class or, for
// independent labels, the mean of -log p of the true decisions.
func lossesOf(classes []string, p [][]float64, separate bool, truth *corpus.Corpus) []float64 {
	out := make([]float64, len(p))
	for i, own := range p {
		is := slices.Index(classes, truth.Classes[truth.Labels.Classes(i)[0]])
		if !separate {
			out[i] = -math.Log(own[is])
			continue
		}
		for k, v := range own {
			if k != is {
				v = 1 - v
			}
			out[i] -= math.Log(v) / float64(len(own))
		}
	}
	return out
}

// moments returns the mean and the standard deviation of values.
func moments(values []float64) (mean, sd float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		sd += (v - mean) * (v - mean) / (n - 1)
	}
	return mean, math.Sqrt(sd)
}

// maxECE returns a bound for the calibration error of perfect probabilities. Of n_b predictions in
// a bin with confidence p, the number of correct predictions has the standard deviation
// √(p(1-p)n_b), so that E|ECE| ≈ Σ √(2/π)·√(p(1-p)n_b)/n over the bins; |Z| of a normal Z has
// variance 1 - 2/π. The bound is the mean plus three standard deviations.
func maxECE(c *score.Calibration) float64 {
	var n, mean, variance float64
	for _, b := range c.Bins {
		n += float64(b.Documents)
	}
	for _, b := range c.Bins {
		of := b.Confidence * (1 - b.Confidence) * float64(b.Documents) / (n * n)
		mean += math.Sqrt(2 / math.Pi * of)
		variance += (1 - 2/math.Pi) * of
	}
	return mean + 3*math.Sqrt(variance)
}

// Thresholds of labels, which are part of decision functions, don't change the probabilities.
func TestCalibratedThresholds(t *testing.T) {
	c := read(t, "synthetic:docs=600,terms=800,length=12,classes=4,seed=8", corpus.Options{})
	var first [][]float64
	for _, tuned := range []bool{false, true} {
		m, report := train(t, c, Settings{Scheme: solver.MultiLabel, Calibrated: true, TuneThresholds: tuned}, Options{})
		p := predict(t, m, c.Documents, Options{}).Probabilities
		if !tuned {
			first = p
			continue
		}
		moved := 0.0
		for _, v := range report.Thresholds.Above {
			moved = max(moved, math.Abs(v))
		}
		if moved == 0 {
			t.Fatal("no threshold moved: the test doesn't reach what it should")
		}
		for i := range p {
			for k := range p[i] {
				if !(math.Abs(p[i][k]-first[i][k]) <= 1e-9) {
					t.Fatalf("probability %v of label %d of document %d, without thresholds %v", p[i][k], k, i, first[i][k])
				}
			}
		}
	}
}

// With too few documents for folds, sigmoids are fitted as without calibration.
func TestCalibratedOfFew(t *testing.T) {
	for n := range 7 {
		var texts, labels []string
		for i := range n + 2 {
			texts, labels = append(texts, fmt.Sprintf("w%d all", i%3)), append(labels, fmt.Sprint(i%2))
		}
		if n > 4 {
			for i := range labels {
				labels[i] = fmt.Sprint(min(i, 1)) // one document of one class, the others of another
			}
		}
		c := musttest.Get(corpus.FromTexts(t.Context(), texts, labels, corpus.Options{MinDF: 1}))(t)
		for _, scheme := range []solver.Scheme{solver.OneVsOne, solver.MultiLabel} {
			m, report := train(t, c, Settings{Scheme: scheme, Calibrated: true}, Options{})
			want := n > 2 && (n < 5 || scheme == solver.MultiLabel)
			if (report.Calibration != nil) != want {
				t.Errorf("%d documents, %s: calibration %+v", n+2, scheme, report.Calibration)
			}
			if p := predict(t, m, c.Documents, Options{}).Probabilities; p == nil {
				t.Errorf("%d documents, %s: no probabilities", n+2, scheme)
			}
		}
	}
}

// Documents are rejected by their largest probability, also after the model is written and read.
func TestReject(t *testing.T) {
	all := read(t, "synthetic:docs=600,terms=400,length=12,classes=4,seed=8", corpus.Options{})
	c, other := all.Select(run.Range(0, 400)), all.Select(run.Range(400, 600))
	m, report := train(t, c, Settings{C: 10, Rejection: RejectionTarget{Coverage: 0.5}}, Options{})
	r := report.Rejection
	if r == nil || r.Coverage != 0.5 || !(r.ErrorRate > 0 && r.ErrorRate < 1) {
		t.Fatalf("rejection %+v, want one that covers half", r)
	}
	m, err := model.Read(t.Context(), bytes.NewReader(bytesOf(t, m)))
	if err != nil || m.Classifier.Rejection == nil || *m.Classifier.Rejection != *r {
		t.Fatalf("%+v, %v, expected %+v", m, err, r)
	}
	p := predict(t, m, other.Documents, Options{})
	some, votes := 0, 0
	for i, own := range p.Probabilities {
		if own[p.ClassIndices[i]] != slices.Max(own) {
			t.Fatalf("document %d of class %d has probabilities %v, expected the most probable class", i, p.ClassIndices[i], own)
		}
		if m.Classifier.PredictClass(p.DecisionValues[i]) != p.ClassIndices[i] {
			votes++
		}
		if p.Rejected[i] != (slices.Max(own) < r.MinProbability) {
			t.Fatalf("document %d with probabilities %v is rejected: %t", i, own, p.Rejected[i])
		}
		if p.Rejected[i] {
			some++
		}
	}
	if some == 0 || votes == 0 {
		t.Errorf("%d documents are rejected, and of %d the votes say another class: the test doesn't reach what it should",
			some, votes)
	}
	for name, s := range map[string]Settings{
		"labels":     {Scheme: solver.MultiLabel, Rejection: RejectionTarget{Coverage: 0.5}},
		"two":        {Rejection: RejectionTarget{Coverage: 0.5, ErrorRate: 0.1}},
		"regression": {Type: model.EpsilonSVR, Rejection: RejectionTarget{Coverage: 0.5}},
	} {
		musttest.WantError(problem(t, c, kernel.MustParse(DefaultKernel), Options{}).Train(t.Context(), s))(t, name)
	}
}
