package svm

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Calibrated probabilities of other documents have a log loss that is no greater than by the sigmoids alone,
// and near that of the folds; so has a cross-validation.
func TestCalibrated(t *testing.T) {
	all := read(t, "synthetic:docs=3500,terms=1500,length=14,classes=6,seed=5", sparse.Options{})
	var trainOn, test []int
	for i := range all.Documents.Rows() {
		if i%7 > 1 { // classes take turns
			trainOn = append(trainOn, i)
		} else {
			test = append(test, i)
		}
	}
	c, other := all.Select(trainOn), all.Select(test)
	for _, scheme := range []solver.Scheme{solver.OneVsOne, solver.OneVsRest, solver.Labels} {
		t.Run(scheme.String(), func(t *testing.T) {
			s := Settings{Scheme: scheme, C: 10, Probabilities: true}
			score := func(s Settings) (*Calibration, *Report) {
				m, report := train(t, c, s, Options{})
				file := bytesOf(t, m)
				m, err := model.Read(t.Context(), bytes.NewReader(file))
				if err != nil || !bytes.Equal(bytesOf(t, m), file) {
					t.Fatalf("another model from its file, %v", err)
				}
				p := predict(t, m, other.Documents, PredictOptions{}).Probabilities
				found, err := ScoreProbabilities(m.Classes, p, scheme == solver.Labels, other)
				if err != nil {
					t.Fatal(err)
				}
				return found, report
			}
			plain, none := score(s)
			s.Calibrated = true
			got, report := score(s)
			if none.Calibration != nil || report.Calibration == nil || (report.Temperature == nil) != (scheme == solver.Labels) {
				t.Fatalf("%+v of sigmoids alone, %+v and temperature %+v of calibrated ones", none.Calibration,
					report.Calibration, report.Temperature)
			}
			folds := crossValidate(t, problem(t, c, kernel.MustParse(DefaultKernel), Options{}), s, 5, 1)
			t.Logf("sigmoids %+v, calibrated %+v, by folds %+v, validated %+v", *plain, *got, *report.Calibration,
				*folds.Score.Calibration)
			if !(got.LogLoss <= 1.02*plain.LogLoss) {
				t.Errorf("log loss %v, by sigmoids alone %v", got.LogLoss, plain.LogLoss)
			}
			// Of 1,000 documents the standard error of a bin of all of them is 0.016; there are several.
			if !(got.ECE <= 0.06) {
				t.Errorf("expected calibration error %v", got.ECE)
			}
			for _, near := range []*Calibration{report.Calibration, folds.Score.Calibration} {
				if !(math.Abs(near.LogLoss-got.LogLoss) <= 0.15*got.LogLoss) {
					t.Errorf("log loss %v by folds, %v of other documents", near.LogLoss, got.LogLoss)
				}
			}
		})
	}
}

// Thresholds of labels, which are part of the machines, leave their probabilities as they are.
func TestCalibratedThresholds(t *testing.T) {
	c := read(t, "synthetic:docs=600,terms=800,length=12,classes=4,seed=8", sparse.Options{})
	var first [][]float64
	for _, tuned := range []bool{false, true} {
		m, report := train(t, c, Settings{Scheme: solver.Labels, Calibrated: true, Thresholds: tuned}, Options{})
		p := predict(t, m, c.Documents, PredictOptions{}).Probabilities
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

// With too few documents for parts machines have sigmoids of their own.
func TestCalibratedOfFew(t *testing.T) {
	for n := range 7 {
		var texts, labels []string
		for i := range n + 2 {
			texts, labels = append(texts, fmt.Sprintf("w%d all", i%3)), append(labels, fmt.Sprint(i%2))
		}
		if n > 4 {
			for i := range labels {
				labels[i] = fmt.Sprint(min(i, 1)) // one of a class, the others of another
			}
		}
		c, err := sparse.FromTexts(t.Context(), texts, labels, sparse.Options{MinDF: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, scheme := range []solver.Scheme{solver.OneVsOne, solver.Labels} {
			m, report := train(t, c, Settings{Scheme: scheme, Calibrated: true}, Options{})
			want := n > 2 && (n < 5 || scheme == solver.Labels)
			if (report.Calibration != nil) != want {
				t.Errorf("%d documents, %s: calibration %+v", n+2, scheme, report.Calibration)
			}
			if p := predict(t, m, c.Documents, PredictOptions{}).Probabilities; p == nil {
				t.Errorf("%d documents, %s: no probabilities", n+2, scheme)
			}
		}
	}
}

// Figures by hand: two bins, a class that the model doesn't know, a document that is left out, and one
// without a label.
func TestScoreProbabilities(t *testing.T) {
	truth := &sparse.Corpus{Classes: []string{"b", "a", "z"}, Labels: sparse.Labels{
		Offsets: []int64{0, 1, 2, 3, 4, 4, 5}, IDs: []int32{1, 1, 0, 2, 0}}}
	p := [][]float64{{0.95, 0.05}, {0.2, 0.8}, {0.25, 0.75}, {0.99, 0.01}, {0.5, 0.5}, nil}
	got, err := ScoreProbabilities([]string{"a", "b"}, p, false, truth)
	if err != nil {
		t.Fatal(err)
	}
	// Bins (14/15, 1]: 0.95 right, 0.99 wrong; (11/15, 12/15]: 0.8 wrong, 0.75 right.
	loss := -(math.Log(0.95) + math.Log(0.2) + math.Log(0.75)) / 3
	ece := (math.Abs(0.95+0.99-1) + math.Abs(0.8+0.75-1)) / 4
	within(t, "log loss", got.LogLoss, loss, 1e-12)
	within(t, "expected calibration error", got.ECE, ece, 1e-12)
	one := &sparse.Corpus{Classes: []string{"a"}, Labels: sparse.Labels{Offsets: []int64{0, 1}, IDs: []int32{0}}}
	if got, err = ScoreProbabilities([]string{"a", "b"}, p[:1:1], true, one); err != nil {
		t.Fatal(err)
	}
	within(t, "log loss of labels", got.LogLoss, -math.Log(0.95), 1e-12)
	within(t, "expected calibration error of labels", got.ECE, 0.05, 1e-12)
	if got, err := ScoreProbabilities([]string{"a", "b"}, make([][]float64, 6), false, truth); got != nil || err != nil {
		t.Errorf("%v, %v, of no probabilities", got, err)
	}
	p = [][]float64{{1}, nil, nil, nil, nil, nil}
	if _, err := ScoreProbabilities([]string{"a", "b"}, p, false, truth); err == nil {
		t.Error("no error for one probability of two classes")
	}
}

// Documents are rejected by their greatest probability, the same after the model went through a file.
func TestReject(t *testing.T) {
	all := read(t, "synthetic:docs=600,terms=400,length=12,classes=4,seed=8", sparse.Options{})
	c, other := all.Select(sequence(0, 400)), all.Select(sequence(400, 600))
	m, report := train(t, c, Settings{C: 10, Reject: solver.RejectionTarget{Coverage: 0.5}}, Options{})
	r := report.Rejection
	if r == nil || r.Coverage != 0.5 || !(r.Error > 0 && r.Error < 1) {
		t.Fatalf("rejection %+v, expected one that covers half", r)
	}
	m, err := model.Read(t.Context(), bytes.NewReader(bytesOf(t, m)))
	if err != nil || m.Classifier.Rejection == nil || *m.Classifier.Rejection != *r {
		t.Fatalf("%+v, %v, expected %+v", m, err, r)
	}
	p := predict(t, m, other.Documents, PredictOptions{})
	some := 0
	for i, own := range p.Probabilities {
		if p.Rejected[i] != (slices.Max(own) < r.Below) {
			t.Fatalf("document %d with probabilities %v is rejected: %t", i, own, p.Rejected[i])
		}
		if p.Rejected[i] {
			some++
		}
	}
	if some == 0 {
		t.Error("no document is rejected: the test doesn't reach what it should")
	}
	for name, s := range map[string]Settings{
		"labels":     {Scheme: solver.Labels, Reject: solver.RejectionTarget{Coverage: 0.5}},
		"two":        {Reject: solver.RejectionTarget{Coverage: 0.5, Error: 0.1}},
		"regression": {Type: model.EpsilonSVR, Reject: solver.RejectionTarget{Coverage: 0.5}},
	} {
		if _, _, err := problem(t, c, kernel.MustParse(DefaultKernel), Options{}).Train(t.Context(), s); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
