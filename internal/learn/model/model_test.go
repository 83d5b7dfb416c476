package model

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// recipes lists models of all types, schemes and kinds of contents.
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

// same checks that two models have the same file, except for the format of their documents.
func same(t *testing.T, got, want *Model) {
	t.Helper()
	own := *got
	own.Form = want.Form
	if a, b := encode(t, &own), encode(t, want); !bytes.Equal(a, b) {
		t.Errorf("the model is written as\n%.2000q, expected\n%.2000q", a, b)
	}
}

func TestWhatWasWrittenIsRead(t *testing.T) {
	for _, r := range recipes() {
		t.Run(r.String(), func(t *testing.T) {
			m := r.train(t)
			musttest.Do(t, m.Validate())
			got := musttest.Get(Read(ctx, bytes.NewReader(encode(t, m))))(t)
			same(t, got, m)
			docs := points(2, 9, 7, r.signed) // term 7 is unknown
			if a, b := decisions(t, got, docs), decisions(t, m, docs); !reflect.DeepEqual(a, b) {
				t.Errorf("decision values %v, expected %v", a, b)
			}
		})
	}
}
