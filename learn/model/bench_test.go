package model

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// newsgroups is a model of the size of one of 20 Newsgroups: 20 classes, 10,500 support vectors of
// 150 values, 47,000 terms, 600 coefficients a machine.
func newsgroups() *Model {
	const classes, vectors, each, values, terms, coefs = 20, 10500, 525, 150, 47000, 600
	r := rand.New(rand.NewPCG(1, 2))
	m := &Model{Type: CSVC, Kernel: "linear", Documents: 11314, Support: &sparse.CSR{Cols: terms, Offsets: []int64{0}}}
	for t := range terms {
		m.Vocabulary = append(m.Vocabulary, fmt.Sprintf("word%06d", t))
	}
	for s := range vectors {
		for k := range values {
			m.Support.Terms = append(m.Support.Terms, uint32(k*terms/values+r.IntN(terms/values)))
			m.Support.Values = append(m.Support.Values, float32(1+r.IntN(9)))
		}
		m.Support.Offsets = append(m.Support.Offsets, int64(len(m.Support.Values)))
		m.SupportDoc, m.SupportClass = append(m.SupportDoc, int64(s)), append(m.SupportClass, int32(s/each))
	}
	m.Embedder = sparse.Embedding{}.Fit(m.Support)
	m.Classifier.Classes = classes
	for a := range classes {
		m.Classes = append(m.Classes, fmt.Sprint("class ", a))
		for b := a + 1; b < classes; b++ {
			machine := &solver.Machine{Rho: r.NormFloat64()}
			for i := range coefs {
				class, sign := a, 1.0
				if i >= coefs/2 {
					class, sign = b, -1
				}
				machine.Support = append(machine.Support, class*each+i%(coefs/2))
				machine.Coef = append(machine.Coef, sign*10*(1-r.Float64()))
			}
			m.Classifier.Machines = append(m.Classifier.Machines, machine)
		}
	}
	return m
}

func BenchmarkFile(b *testing.B) {
	m := newsgroups()
	run := func(name string, size int, f func() error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				musttest.Do(b, f())
			}
		})
	}
	path := filepath.Join(b.TempDir(), "newsgroups.model")
	musttest.Do(b, m.Save(ctx, path))
	size := len(encode(b, m))
	run("write", size, func() error { return m.Write(ctx, io.Discard) })
	run("save", size, func() error { return m.Save(ctx, path) })
	run("load", size, func() error { _, err := Load(ctx, path, nil); return err })

	var text bytes.Buffer
	if _, err := m.WriteLIBSVM(ctx, &text, LIBSVMOptions{}); err != nil {
		b.Fatal(err)
	}
	run(
		"libsvm=write", text.Len(),
		func() error { _, err := m.WriteLIBSVM(ctx, io.Discard, LIBSVMOptions{}); return err },
	)
	run(
		"libsvm=read", text.Len(),
		func() error { _, err := ReadLIBSVM(ctx, bytes.NewReader(text.Bytes()), "text"); return err },
	)
}
