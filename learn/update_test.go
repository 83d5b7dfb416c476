package learn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// some returns the documents of a corpus whose number isn't left out.
func some(c *sparse.Corpus, out func(i int) bool) *sparse.Corpus {
	var rows []int
	for i := range c.Documents.Rows() {
		if !out(i) {
			rows = append(rows, i)
		}
	}
	return c.Select(rows)
}

// objectiveOf is the sum of the objectives of a model's machines, and the steps that found it.
func objectiveOf(m Model) (objective float64, steps int) {
	switch m := m.(type) {
	case Machines:
		return m.Trained.Objective, int(m.Trained.Iterations)
	case landmarkModel:
		for _, q := range m.Machines {
			objective += q.Objective
		}
		return objective, m.Passes
	case linearModel:
		for _, q := range m.Machines {
			objective += q.Value
		}
	}
	return objective, 0
}

// An update ends at the objective of training from scratch, in fewer steps, with the same bits from any number of
// workers.
func TestUpdate(t *testing.T) {
	const source = "synthetic:docs=400,terms=300,length=20,classes=4,seed=7"
	all := musttest.Get(sparse.Read(t.Context(), source, sparse.Options{}))(t)
	few := func(i int) bool { return i%20 == 0 }
	ofClass := func(i int) bool { return all.Labels.Of(i)[0] == 1 }
	numbers := *all // class names that are targets
	numbers.Classes = []string{"1", "2.5", "-3", "0"}
	labels := *all
	labels.Labels = sparse.Labels{}
	for i := range all.Documents.Rows() {
		own := slices.Clone(all.Labels.Of(i))
		if i%3 == 0 && own[0] < 3 {
			own = append(own, 3)
		}
		labels.Labels.Add(own...)
	}
	var twice []int // document 5 three times, more than the old corpus has
	for i := range all.Documents.Rows() {
		twice = append(twice, i)
	}
	copies := all.Select(append(twice, 5, 5))
	for _, q := range []struct {
		name, spec string
		o, then    Options
		old, all   *sparse.Corpus
		steps      bool // there must be fewer
	}{
		{"one-vs-one", "c_svc", Options{}, Options{}, some(all, few), all, true},
		{"one-vs-rest", "c_svc", Options{Scheme: solver.OneVsRest}, Options{}, some(all, few), all, true},
		{"labels", "c_svc", Options{Scheme: solver.Labels}, Options{}, some(&labels, few), &labels, true},
		{"thresholds", "c_svc", Options{Scheme: solver.Labels, Thresholds: true}, Options{}, some(&labels, few), &labels,
			true},
		{"small C", "c_svc", Options{C: 0.01}, Options{}, some(all, few), all, true},
		{"other C", "c_svc", Options{C: 0.1}, Options{C: 3}, some(all, few), all, false},
		{"lesser C", "c_svc", Options{C: 3}, Options{C: 0.1}, some(all, few), all, false},
		{"new class", "c_svc", Options{}, Options{}, some(all, ofClass), all, true},
		{"new class against the rest", "c_svc", Options{Scheme: solver.OneVsRest}, Options{}, some(all, ofClass), all, false},
		{"removed class", "c_svc", Options{}, Options{}, all, some(all, ofClass), true},
		{"removed documents", "c_svc", Options{}, Options{}, all, some(all, few), true},
		{"duplicates", "c_svc", Options{}, Options{}, all, copies, true},
		{"fewer duplicates", "c_svc", Options{}, Options{}, copies, all, true},
		{"regression", "epsilon_svr", Options{}, Options{}, some(&numbers, few), &numbers, true},
		{"linear", "linear", Options{}, Options{}, some(all, few), all, false},
		{"landmark", "landmark:m=40", Options{}, Options{}, some(all, few), all, true},
		{"landmark, squared hinge", "landmark:m=40,loss=hinge2", Options{}, Options{}, some(all, few), all, true},
		{"landmark, other C", "landmark:m=40,loss=logistic", Options{}, Options{C: 2}, all, all, false},
	} {
		t.Run(q.name, func(t *testing.T) {
			_, trainer, err := Parse(q.spec)
			if err != nil {
				t.Fatal(err)
			}
			const tolerance = 1e-5
			q.o.Tolerance = tolerance
			old := musttest.Get(trainer.Train(t.Context(), q.old, q.o))(t)
			if q.then.C > 0 {
				q.o.C = q.then.C
			}
			scratch := musttest.Get(trainer.Train(t.Context(), q.all, q.o))(t)
			if m, is := loaded(t, old).(landmarkModel); is && q.old != q.all {
				// From scratch its landmarks would be of all documents: on those of the old ones, from coefficients of 0.
				for i := range m.Machines {
					clear(m.Machines[i].Coefficients)
					m.Machines[i].Bias = 0
				}
				var err error
				if scratch, _, err = Update(t.Context(), trainer, q.all, q.o, m); err != nil {
					t.Fatal(err)
				}
			}
			var written []string
			for _, q.o.Workers = range []int{1, 3} {
				m, u, err := Update(t.Context(), trainer, q.all, q.o, loaded(t, old))
				if err != nil {
					t.Fatal(err)
				}
				want, most := objectiveOf(scratch)
				got, steps := objectiveOf(m)
				if !(math.Abs(got-want) <= 1e-5*math.Abs(want)) {
					t.Errorf("objective %v, from scratch %v", got, want)
				}
				if q.steps && !(steps < most) {
					t.Errorf("%d steps, from scratch %d, expected fewer", steps, most)
				}
				if added := q.all.Documents.Rows() - q.old.Documents.Rows(); u.Documents != added || u.Found > u.Of {
					t.Errorf("%+v, expected %d new documents", u, added)
				}
				written = append(written, musttest.Written(t, m.Write))
			}
			if written[0] != written[1] {
				t.Error("other bits from 1 worker than from 3")
			}
		})
	}
}

// loaded is a model as a file has it.
func loaded(t *testing.T, m Model) Model {
	t.Helper()
	out := musttest.Get(Read(t.Context(), strings.NewReader(musttest.Written(t, m.Write))))(t)
	return out
}

// What can't be updated says so.
func TestUpdateRefuses(t *testing.T) {
	read := func(source string) *sparse.Corpus {
		return musttest.Get(sparse.Read(t.Context(), source, sparse.Options{}))(t)
	}
	c, other := read("synthetic:docs=60,terms=50,length=9,classes=2,seed=1"),
		read("synthetic:docs=60,terms=50,length=9,classes=2,seed=2")
	small := some(c, func(i int) bool { return i > 28 })
	for _, q := range []struct {
		old, spec string
		c         *sparse.Corpus
		o         Options
		want      string
	}{
		{"c_svc", "c_svc", other, Options{}, "support vectors of the model, expected most of them: it must hold all"},
		{"knn", "knn", small, Options{}, "holds 29 documents, and the model learnt from 60"},
		{"landmark:m=9", "landmark:m=9", other, Options{}, "landmarks of the model, expected most of them"},
		{"c_svc", "linear", c, Options{}, "a model of c_svc, expected one of the same -type"},
		{"linear", "c_svc", c, Options{}, "expected one of the same -type"},
		{"knn", "landmark", c, Options{}, "expected one of the same -type"},
		{"linear", "knn", c, Options{}, "expected one of the same -type"},
		{"logistic", "logistic", c, Options{}, "can't be updated, only those of c_svc"},
		{"nu_svc", "nu_svc", c, Options{}, "a model of nu_svc can't be updated, only those of c_svc"},
		{"c_svc", "c_svc", c, Options{Scheme: solver.OneVsRest}, "of a model of c_svc, one-vs-one, expected the same"},
	} {
		_, first, err := Parse(q.old)
		if err != nil {
			t.Fatal(err)
		}
		old := musttest.Get(first.Train(t.Context(), c, Options{}))(t)
		_, trainer, err := Parse(q.spec)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := Update(t.Context(), trainer, q.c, q.o, old); err == nil || !strings.Contains(err.Error(), q.want) {
			t.Errorf("%s to %s: %v, expected %q", q.old, q.spec, err, q.want)
		}
	}
}

// Text whose vocabulary grows: terms have other numbers, and one that one document had is now known.
func TestUpdateText(t *testing.T) {
	for _, views := range []string{"", "words:1..2 + chars:1..3"} { // which have words of the same name
		for _, kernel := range []string{"diffusion:t=1,embed=tfidf-l1-sqrt", "linear:embed=logtfidf-l2"} {
			t.Run(kernel+" "+views, func(t *testing.T) {
				testUpdateText(t, kernel, sparse.Options{Tokenizer: sparse.Tokenizer{Views: views}})
			})
		}
	}
}

func testUpdateText(t *testing.T, kernel string, read sparse.Options) {
	var texts, labels []string
	for i := range 60 {
		texts = append(texts, fmt.Sprintf("zebra%c %s yak%c a", 'a'+i%3, strings.Repeat("common ", i%4), 'a'+i%7))
		labels = append(labels, []string{"x", "y"}[i%2])
	}
	old := musttest.Get(sparse.FromTexts(context.Background(), texts[:56], labels[:56], read))(t)
	texts[58], labels[59] = "aardvark aardvark zebrab", "added"
	all := musttest.Get(sparse.FromTexts(context.Background(), append(texts, "aardvark yakc"), append(labels, "x"),
		read))(t)
	_, trainer, _ := Parse("c_svc")
	o := Options{Kernel: kernel, C: 10, Tolerance: 1e-5}
	m := musttest.Get(trainer.Train(t.Context(), old, o))(t)
	got, u, err := Update(t.Context(), trainer, all, o, m)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := objectiveOf(musttest.Get(trainer.Train(t.Context(), all, o))(t))
	found, _ := objectiveOf(got)
	if !(math.Abs(found-want) <= 1e-5*math.Abs(want)) || u.Found != u.Of || u.Documents != 5 {
		t.Errorf("objective %v, from scratch %v, %+v", found, want, u)
	}
	var inherited Options
	terms, err := TermsOf(m)
	musttest.Do(t, errors.Join(err, inherited.Inherit(m)))
	if inherited.Kernel != o.Kernel || inherited.C != 10 || terms == nil || terms.MinDF < 2 {
		t.Errorf("%+v, %+v", inherited, terms)
	}
	var b bytes.Buffer
	if err := got.Write(t.Context(), &b); err != nil || b.Len() == 0 {
		t.Error(err)
	}
}

// A model that answers everything does so when it is updated, probabilities or not. One with a threshold, or with
// weights of classes, which may be balanced for its documents, says that -reject or -weight must be given again.
func TestUpdateReject(t *testing.T) {
	const source = "synthetic:docs=240,terms=200,length=14,classes=3,seed=3"
	all := musttest.Get(sparse.Read(t.Context(), source, sparse.Options{}))(t)
	small := some(all, func(i int) bool { return i%20 == 0 })
	_, trainer, err := Parse("c_svc")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{C: 10}, {C: 10, Probabilities: true}, {C: 10, Reject: "coverage=0.6"},
		{C: 10, Balanced: true}} {
		old := loaded(t, musttest.Get(trainer.Train(t.Context(), small, o))(t))
		var inherited Options
		if err := inherited.Inherit(old); (err != nil) != (o.Reject != "" || o.Balanced) {
			t.Fatalf("%q, balanced %v: %v", o.Reject, o.Balanced, err)
		}
		inherited.Reject, inherited.Balanced = o.Reject, o.Balanced
		musttest.Do(t, inherited.Inherit(old))
		m, _, err := Update(t.Context(), trainer, all, inherited, old)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []Model{m, loaded(t, m)} {
			p := musttest.Get(m.Predict(t.Context(), all.Documents, Options{}))(t)
			calibrated := o.Probabilities || o.Reject != ""
			got := m.(Machines).Classifier.Rejection
			if (got != nil) != (o.Reject != "") || (p.Rejected != nil) != (got != nil) ||
				m.About().Probabilities != calibrated || (p.Probabilities != nil) != calibrated {
				t.Errorf("%q, probabilities %t: updated with %+v, probabilities %t", o.Reject, o.Probabilities, got,
					m.About().Probabilities)
			}
		}
	}
}

// A corpus that shares no term with a model holds none of its documents.
func TestUpdateOfOtherTerms(t *testing.T) {
	texts := func(words ...string) *sparse.Corpus {
		var texts, labels []string
		for i := range 30 {
			texts = append(texts, strings.Repeat(words[i%2]+" ", 1+i%5)+words[2])
			labels = append(labels, []string{"x", "y"}[i%2])
		}
		return musttest.Get(sparse.FromTexts(t.Context(), texts, labels, sparse.Options{}))(t)
	}
	c, other := texts("red", "blue", "green"), texts("one", "two", "three")
	for _, spec := range []string{"c_svc", "landmark:m=4"} {
		_, trainer, err := Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		old := musttest.Get(trainer.Train(t.Context(), c, Options{}))(t)
		if _, _, err := Update(t.Context(), trainer, other, Options{}, old); err == nil ||
			!strings.Contains(err.Error(), " holds 0 of the ") {
			t.Errorf("%s: %v, expected an error that says 0 are held", spec, err)
		}
	}
}
