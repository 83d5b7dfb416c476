package model

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// recipes lists models of every type, scheme and kind of content.
func recipes() []recipe {
	return []recipe{
		{typ: CSVC, kernel: "diffusion:t=0.5", embedding: sparse.Sphere},
		{typ: CSVC, kernel: "diffusion:t=0.5", embedding: sparse.Sphere, words: true, sigmoids: true},
		{
			typ: CSVC, kernel: "rbf:gamma=0.25",
			embedding: sparse.Embedding{Weighting: sparse.TFIDF, Norm: sparse.NormL2}, words: true,
		},
		{typ: CSVC, kernel: "linear", embedding: sparse.Embedding{Norm: sparse.NormL1, Power: 0.75}, words: true},
		{typ: CSVC, kernel: "linear", signed: true, scheme: solver.OneVsRest, sigmoids: true},
		{typ: CSVC, kernel: "polynomial:gamma=0.25,r=1,degree=2", scheme: solver.Labels},
		{typ: CSVC, kernel: "rbf:gamma=0.25", classes: []string{"7", "empty", "\xff<"}},
		{typ: NuSVC, kernel: "rbf:gamma=0.25", classes: []string{"-1", "1"}},
		{typ: OneClass, kernel: "rbf:gamma=0.25", signed: true},
		{typ: EpsilonSVR, kernel: "rbf:gamma=0.25"},
		{typ: NuSVR, kernel: "sigmoid:gamma=0.015625,r=0", signed: true},
	}
}

// same says in what two models differ. Lists without elements are the same as none.
func same(t *testing.T, got, want *Model) {
	t.Helper()
	parts := func(m *Model) []any {
		machines := []solver.Machine{}
		for _, machine := range m.Classifier.Machines {
			if machine == nil {
				machines = append(machines, solver.Machine{Gap: -1})
				continue
			}
			own := *machine
			own.Support, own.Coef = slices.Concat([]int{-1}, own.Support), slices.Concat([]float64{0}, own.Coef)
			machines = append(machines, own)
		}
		e, s := m.Embedder, m.Support
		return []any{
			m.Type, m.Kernel, m.Settings, m.Source, m.Corpus, m.Documents, m.Vocabulary == nil, m.Tokenizer.String(),
			slices.Concat([]string{""}, m.Vocabulary),
			e.Embedding, e.Documents, e.Open, fmt.Sprint(e.Terms, e.DF, e.Weights), m.Classes, m.Classifier.Scheme,
			m.Classifier.Classes, machines, m.Laplace,
			s.Cols, slices.Concat([]int64{0}, s.Offsets), slices.Concat([]uint32{0}, s.Terms),
			slices.Concat([]float32{0}, s.Values), slices.Concat([]int64{0}, m.SupportDoc),
			slices.Concat([]int32{0}, m.SupportClass),
		}
	}
	a, b := parts(got), parts(want)
	for i := range a {
		if !reflect.DeepEqual(a[i], b[i]) {
			t.Errorf("part %d of the model is\n%v, expected\n%v", i, a[i], b[i])
		}
	}
}

func TestWhatWasWrittenIsRead(t *testing.T) {
	for _, r := range recipes() {
		t.Run(r.String(), func(t *testing.T) {
			m := r.train(t)
			musttest.Do(t, m.Validate())
			file := encode(t, m)
			got := musttest.Get(Read(ctx, bytes.NewReader(file)))(t)
			same(t, got, m)
			if !bytes.Equal(encode(t, got), file) {
				t.Error("a model that was read is written in other bytes")
			}
			docs := points(2, 9, 7, r.signed) // term 7 is unknown
			if a, b := decisions(t, got, docs), decisions(t, m, docs); !reflect.DeepEqual(a, b) {
				t.Errorf("decision values %v, expected %v", a, b)
			}
		})
	}
}
