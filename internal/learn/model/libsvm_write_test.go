package model

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Models that LIBSVM's format can't represent give an error with the reason.
func TestWriteLIBSVMErrors(t *testing.T) {
	one := func(change func(m *Model)) *Model {
		m := recipe{typ: CSVC, kernel: "rbf:gamma=0.25"}.train(t)
		change(m)
		return m
	}
	for _, c := range []struct {
		m           *Model
		precomputed bool
		want        string
	}{
		{
			recipe{typ: CSVC, kernel: "linear", scheme: solver.OneVsRest}.train(t), false,
			"scheme one-vs-rest with 3 classes",
		},
		{recipe{typ: CSVC, kernel: "linear", scheme: solver.MultiLabel}.train(t), false, "scheme labels"},
		{
			tiny(), false,
			"LIBSVM does not support kernel diffusion:t=0.5,embed=tfidf-l1-sqrt; use linear, polynomial, rbf, sigmoid",
		},
		{one(func(m *Model) { m.Kernel = "rbf" }), false, "gamma is missing"},
		{one(func(m *Model) { m.Kernel = "rbf:gamma=x" }), false, `got "x"`},
		{one(func(m *Model) { m.Kernel = "rbf:gamma=1,r=2" }), false, `the parameter "coef0"`},
		{one(func(m *Model) { m.Kernel = "polynomial:gamma=1,degree=1.5" }), false, `got "1.5"`},
		{one(func(m *Model) { m.Classes = []string{"1", "2", "2.5"} }), false, `class "2.5" is not a 32-bit integer`},
		{one(func(m *Model) { m.Classes = []string{"1", "2", "1e20"} }), false, `class "1e20" is not a 32-bit integer`},
		{one(func(m *Model) { m.Classes = []string{"1", "2", "1.0"} }), false, `classes "1" and "1.0" are the same`},
		{one(func(m *Model) { m.SupportClasses[0] = (m.SupportClasses[0] + 1) % 3 }), false, "belongs to another class"},
		{one(func(m *Model) { m.SupportDocs[0] = -1 }), true,
			"document of support vector 0 must be between 0 and 2147483646"},
		{
			one(func(m *Model) { m.Embedder.Norm, m.Embedder.Pairing = sparse.NormL1, sparse.ChiSquare }), false,
			"embedding tf-l1-chi2 is not supported; use tf",
		},
	} {
		var b strings.Builder
		if labels, err := c.m.WriteLIBSVM(
			ctx, &b, c.precomputed,
		); err == nil || !strings.Contains(err.Error(), c.want) || labels != nil {
			t.Errorf("%v, %v, expected %q", labels, err, c.want)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	var b strings.Builder
	if _, err := one(func(*Model) {}).WriteLIBSVM(ended, &b, false); err == nil || b.Len() > 0 {
		t.Errorf("after the end: %v and %q", err, b.String())
	}
}

// A class without documents and a support vector without coefficients are left out. Support vectors
// are ordered by class.
func TestLIBSVMText(t *testing.T) {
	m := tiny()
	m.SupportDocs[2] = 4
	m.SupportClasses[0], m.SupportClasses[2] = 2, 0
	m.Classifier.Functions[1].Coef = []float64{-0.1, 10}
	text, labels := libsvmText(t, m, true)
	if fmt.Sprint(labels) != "[1 2 3]" {
		t.Errorf("labels %v", labels)
	}
	if want := "svm_type c_svc\nkernel_type precomputed\nnr_class 2\ntotal_sv 2\nrho -0\nlabel 1 3\nprobA -2\nprobB " +
		"0.3\nnr_sv 1 1\nSV\n10 0:5 \n-0.1 0:9 \n"; text != want {
		t.Errorf("%q, expected %q", text, want)
	}
}

// Large files are written in several pieces.
func TestLargeLIBSVMText(t *testing.T) {
	const n = 30000
	m := &Model{
		Type: OneClass, Kernel: "linear", Support: &sparse.CSR{Cols: n + 1, Offsets: []int64{0}},
		Classifier: solver.Classifier{Scheme: solver.OneVsRest, Classes: 1, Functions: []*solver.DecisionFunction{{}}},
	}
	machine := m.Classifier.Functions[0]
	for s := range n {
		x := m.Support
		x.Terms, x.Values = append(x.Terms, uint32(s+1)), append(x.Values, float32(s+1)/7)
		x.Offsets = append(x.Offsets, int64(s+1))
		m.SupportDocs, m.SupportClasses = append(m.SupportDocs, -1), append(m.SupportClasses, -1)
		machine.Support, machine.Coef = append(machine.Support, s), append(machine.Coef, 1/float64(s+1))
	}
	m.Embedder = sparse.Embedding{}.Fit(m.Support)
	m.Embedder.Open = true
	text, _ := libsvmText(t, m, false)
	if len(text) < 2*archive.BufferBytes {
		t.Fatalf("%d bytes", len(text))
	}
	got := musttest.Get(ReadLIBSVM(ctx, strings.NewReader(text), "text"))(t)
	same(t, got, m)
}

func TestParseKernel(t *testing.T) {
	for spec, want := range map[string]libsvmKernel{
		"linear":                                   {"linear", 3, 0, 0},
		" linear : embed = tf-l2 ":                 {"linear", 3, 0, 0},
		"rbf:embed=tf-l1-sqrt,gamma=1e-3":          {"rbf", 3, 1e-3, 0},
		"sigmoid:gamma=pi,coef0=-1":                {"sigmoid", 3, math.Pi, -1},
		"polynomial:gamma=0.25,r=1,degree=2":       {"polynomial", 2, 0.25, 1},
		"polynomial:gamma=0.25":                    {"polynomial", 3, 0.25, 0},
		"precomputed":                              {Precomputed, 3, 0, 0},
		"polynomial:degree=0,r=1e+18,gamma=1e-18,": {},
	} {
		got, err := parseKernel(spec)
		if spec == "sigmoid:gamma=pi,coef0=-1" && got.String() != "sigmoid:gamma=pi,r=-1" {
			t.Errorf("%q is written as %q", spec, got)
		}
		if (err != nil) != (want == libsvmKernel{}) || err == nil && got != want {
			t.Errorf("%q is %v, %v, expected %v", spec, got, err, want)
		}
	}
}
