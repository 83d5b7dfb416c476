package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/gramengine/gram/cmd/grambench/internal/matrixio"
	"github.com/gramengine/gram/sparse"
)

// vectorFile is the file of vectors that the command corpus writes.
type vectorFile struct {
	File      string `json:"file"`
	Embedding string `json:"embedding"` // "" for values as they were read
	Bytes     int64  `json:"file_bytes"`
}

// readLike reads the documents, and before them the source that they shall be like, whose vocabulary is then theirs.
func (f *flags) readLike(ctx context.Context, e *env, p *progress, like string) (c, model *sparse.Corpus, err error) {
	if like == "" {
		c, err = f.read(ctx, e, p)
		return c, c, err
	}
	in := f.in
	f.in = like
	model, err = f.read(ctx, e, p)
	f.in = in
	if err != nil {
		return nil, nil, err
	}
	f.vocabulary = model.Vocabulary
	c, err = f.read(ctx, e, p)
	return c, model, err
}

// writeVectors writes the documents of c in svmlight form, embedded as -embed says. model is what c is like, or c itself.
func (f *flags) writeVectors(ctx context.Context, e *env, p *progress, c, model *sparse.Corpus, to *vectorFile) error {
	labels, err := numericLabels(sameClasses(c, model), e.stderr)
	if err != nil {
		return err
	}
	n, first := c.Documents.Rows(), uint64(0)
	if model.Vocabulary != nil {
		first = 1 // words are numbered from 1, as LIBSVM has it; vectors keep their own indices
	}
	row := func(i int, indices []uint64, values []float64) ([]uint64, []float64) {
		terms, raw := c.Documents.Row(i)
		for k, t := range terms {
			indices, values = append(indices, uint64(t)+first), append(values, float64(raw[k]))
		}
		return indices, values
	}
	bits := 32
	if f.embed != "" {
		embedded, _ := workBytes(c.Documents)
		if err := f.fits("embedding the documents", runtimeBytes+c.Documents.Bytes()+model.Documents.Bytes()+embedded); err != nil {
			return err
		}
		emb, err := sparse.ParseEmbedding(f.embed)
		if err != nil {
			return err
		}
		x, err := emb.Fit(model.Documents).Transform(c.Documents)
		if err != nil {
			return nameValue(c, fmt.Errorf("embedding %s: %w", emb, err))
		}
		warnEmptied(e.stderr, c, x)
		to.Embedding, bits = emb.String(), 64
		row = func(i int, indices []uint64, values []float64) ([]uint64, []float64) {
			columns, _ := x.Row(i)
			for _, column := range columns {
				term := uint64(model.Documents.Cols) // the last column, of documents without known terms
				if int(column) < len(x.Embedder.Terms) {
					term = uint64(x.Embedder.Terms[column])
				}
				indices = append(indices, term+first)
			}
			return indices, x.Vector64(i, values)
		}
	}

	p.stage("writing " + to.File)
	file, err := matrixio.Create(to.File)
	if err != nil {
		return err
	}
	defer file.Abort()
	var indices []uint64
	var values []float64
	var line []byte
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		label := "0"
		if labels != nil {
			label = labels[i]
		}
		indices, values = row(i, indices[:0], values[:0])
		line = matrixio.AppendVector(line[:0], label, indices, values, bits)
		if _, err := file.Write(line); err != nil {
			return err
		}
		p.update(int64(i+1), int64(n))
	}
	to.Bytes, err = file.Commit()
	return err
}

// sameClasses returns c with its classes numbered as those of model, classes that model doesn't have behind them.
func sameClasses(c, model *sparse.Corpus) *sparse.Corpus {
	if c == model || len(c.Classes) == 0 {
		return c
	}
	same := *c
	same.Classes = slices.Clone(model.Classes)
	number := make([]int32, len(c.Classes))
	for id, name := range c.Classes {
		at := slices.Index(same.Classes, name)
		if at < 0 {
			at = len(same.Classes)
			same.Classes = append(same.Classes, name)
		}
		number[id] = int32(at)
	}
	same.Labels.IDs = make([]int32, len(c.Labels.IDs))
	for k, id := range c.Labels.IDs {
		same.Labels.IDs[k] = number[id]
	}
	return &same
}
