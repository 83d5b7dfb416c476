//go:build cgo

package main

import (
	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
)

// components are principal components that share no memory with the caller.
type components struct {
	*gram.Components
	of       *corpus.Corpus // has the tokenizer and vocabulary of the documents
	at       *array         // coordinates of the documents
	warnings []string
}

func (*components) kind() string { return "components" }
func (*components) close() error { return nil }

func (p *components) about() any {
	return struct {
		Documents, Components, Landmarks int
		Total, Residual                  float64
		Warnings                         []string
	}{p.Documents, len(p.Eigenvalues), p.Landmarks, p.Total, p.Residual, p.warnings}
}

func (p *components) arrays() map[string]arrayMaker {
	return map[string]arrayMaker{
		"eigenvalues": made(p.Eigenvalues),
		"coordinates": func(*call) (*array, error) { return p.at, nil },
	}
}

// findComponents implements gram_pca.
func findComponents(c *call, a *makeArguments) (object, error) {
	var o gram.PCAOptions
	if err := c.options(a.options, &o, &o.Options); err != nil {
		return nil, err
	}
	in, err := c.corpusOf(a.x, "x", gram.ReadOptions{Options: o.Options})
	if err != nil {
		return nil, err
	}
	out := &components{of: &corpus.Corpus{Tokenizer: in.Tokenizer, Vocabulary: in.Vocabulary}}
	if out.Components, err = gram.PCA(c.ctx, in, o); err != nil {
		return nil, err
	}
	z := out.Coordinates()
	if z == nil { // fitted with landmarks
		if z, err = out.Project(c.ctx, in); err != nil {
			return nil, err
		}
	}
	out.at = &array{z.RawMatrix().Data, in.Documents.Rows(), len(out.Eigenvalues)}
	out.warnings = c.said()
	return out, nil
}

type projectArguments struct {
	options    text
	x          *documents
	components uintptr
	out        span[float64]
}

// project implements gram_project.
func project(c *call, a *projectArguments) error {
	var o gram.Options
	if err := c.options(a.options, &o, &o); err != nil {
		return err
	}
	p, err := objectOf[*components](c, a.components)
	if err != nil {
		return err
	}
	read := likewise(p.of, o)
	read.Vocabulary = p.of.Vocabulary
	in, err := c.corpusOf(a.x, "x", read)
	if err != nil {
		return err
	}
	n := in.Documents.Rows()
	out, err := a.out.exactly(int64(n*len(p.Eigenvalues)), "out")
	if err != nil {
		return err
	}
	at, err := p.Project(c.ctx, in)
	if err != nil {
		return err
	}
	for i := range n {
		copy(out[i*len(p.Eigenvalues):], at.RawRowView(i))
	}
	return nil
}
