package matrices

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/sparse"
)

// vectorFile describes a file of vectors for the report.
type vectorFile struct {
	File      string `json:"file"`
	Embedding string `json:"embedding"` // value of -embed; empty if the values are unchanged
	Bytes     int64  `json:"file_bytes"`
}

// read reads the documents. If -like is set, model is the -like corpus, and the documents are read
// with the vocabulary of model. Otherwise, documents and model are the same corpus.
func (c *corpusFlags) read(
	ctx context.Context, e *cli.Env, p *cli.Progress,
) (documents, model *corpus.Corpus, err error) {
	if c.vocabularySource != "" {
		training := c.Documents
		training.Source = c.vocabularySource
		if model, err = training.Read(ctx, e, p); err != nil {
			return nil, nil, err
		}
		c.Vocabulary = model.Vocabulary
	}
	documents, err = c.Read(ctx, e, p)
	if model == nil {
		model = documents
	}
	return documents, model, err
}

// write writes the documents of c as svmlight vectors, embedded as set by -embed. The embedding is
// fitted to model.
func (w *corpusFlags) write(
	ctx context.Context, e *cli.Env, p *cli.Progress, c, model *corpus.Corpus, to *vectorFile,
) error {
	labels, err := numericLabels(withClassesOf(c, model), e)
	if err != nil {
		return err
	}
	n := c.Documents.Rows()
	row := func(i int, indices []uint64, values []float64) ([]uint64, []float64) {
		terms, raw := c.Documents.Row(i)
		for k, t := range terms {
			indices, values = append(indices, uint64(t)), append(values, float64(raw[k]))
		}
		return indices, values
	}
	bits := 32
	if w.Embedding != "" {
		embedded, _ := source.ScratchBytes(c.Size())
		if err := w.CheckMemory("embedding the documents",
			backend.RuntimeBytes+c.Documents.Bytes()+model.Documents.Bytes()+embedded); err != nil {
			return err
		}
		emb, err := sparse.ParseEmbedding(w.Embedding)
		if err != nil {
			return err
		}
		x, err := corpus.Fit(emb, model).Transform(c.Documents)
		if err != nil {
			return c.DescribeError(fmt.Errorf("embedding %s: %w", emb, err))
		}
		source.WarnEmptyDocuments(e, c, x)
		to.Embedding, bits = emb.String(), 64
		row = func(i int, indices []uint64, values []float64) ([]uint64, []float64) {
			columns, _ := x.Row(i)
			for _, column := range columns {
				term := uint64(model.Documents.Cols) // column of documents without known terms
				if int(column) < len(x.Embedder.Terms) {
					term = uint64(x.Embedder.Terms[column])
				}
				indices = append(indices, term)
			}
			return indices, x.Vector64(i, values)
		}
	}

	p.StartStage("writing " + to.File)
	to.Bytes, err = matrixio.WriteFile(to.File, func(file io.Writer) error {
		var indices []uint64
		var values []float64
		var line []byte
		label := "0"
		for i := range n {
			if err := ctx.Err(); err != nil {
				return err
			}
			if labels != nil {
				label = labels[i]
			}
			indices, values = row(i, indices[:0], values[:0])
			line = matrixio.AppendVector(line[:0], label, indices, values, bits)
			if _, err := file.Write(line); err != nil {
				return err
			}
			p.Update(int64(i+1), int64(n))
		}
		return nil
	})
	return err
}

// withClassesOf returns c with the class indices of model. Classes that model lacks come last.
func withClassesOf(c, model *corpus.Corpus) *corpus.Corpus {
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
