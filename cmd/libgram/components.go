//go:build cgo

package main

import (
	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
)

// components is the result of gram_pca. It shares no memory with the caller.
type components struct {
	*gram.Components
	source      *corpus.Corpus // tokenizer and vocabulary of the documents, without the documents
	coordinates *array         // coordinates of the documents
}

func (*components) kind() string { return "components" }

func (p *components) about() any {
	return struct {
		Documents, Components, Landmarks int
		Total, Residual                  float64
	}{p.Documents, len(p.Eigenvalues), p.Landmarks, p.Total, p.Residual}
}

func (p *components) arrays() map[string]arrayMaker {
	return map[string]arrayMaker{
		"eigenvalues": existingArray(p.Eigenvalues),
		"coordinates": func(*call) (*array, error) { return p.coordinates, nil },
	}
}

func computeComponents(c *call, a *arguments, o *gram.PCAOptions) (object, error) {
	in, err := c.corpusOf(a.x, "x", gram.ReadOptions{Options: o.Options})
	if err != nil {
		return nil, err
	}
	out := &components{source: &corpus.Corpus{Tokenizer: in.Tokenizer, Vocabulary: in.Vocabulary}}
	if out.Components, err = gram.PCA(c.ctx, in, *o); err != nil {
		return nil, err
	}
	z := out.Coordinates()
	if z == nil { // fitted with landmarks
		if z, err = out.Project(c.ctx, in); err != nil {
			return nil, err
		}
	}
	out.coordinates = &array{z.RawMatrix().Data, in.Documents.Rows(), len(out.Eigenvalues)}
	return out, nil
}

func project(c *call, a *arguments, o *gram.Options) (object, error) {
	p, err := objectOf[*components](c, a.object)
	if err != nil {
		return nil, err
	}
	read := sameTokenizer(p.source, *o)
	read.Vocabulary = p.source.Vocabulary
	in, err := c.corpusOf(a.x, "x", read)
	if err != nil {
		return nil, err
	}
	out, err := a.doubles.sliceN(int64(in.Documents.Rows()*len(p.Eigenvalues)), "out")
	if err != nil {
		return nil, err
	}
	at, err := p.Project(c.ctx, in)
	if err == nil {
		copy(out, at.RawMatrix().Data)
	}
	return nil, err
}
