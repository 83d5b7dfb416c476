package matrices

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// matrixFile describes the output matrix. If -test is set, the matrix has a row per test document.
type matrixFile struct {
	header matrixio.Header
	test   *corpus.Corpus // test documents; nil for a square matrix
}

// readTest reads the test documents, with the vocabulary of the training documents. It returns nil
// if -test isn't set.
func (g *gramFlags) readTest(
	ctx context.Context, e *cli.Env, p *cli.Progress, train *corpus.Corpus,
) (*corpus.Corpus, error) {
	if g.test == "" {
		return nil, nil
	}
	like := g.Documents.WithTermsOf(g.test, train)
	test, err := like.Read(ctx, e, p)
	if err != nil {
		return nil, err
	}
	if text := test.Vocabulary != nil; text != (train.Vocabulary != nil) {
		kinds := map[bool]string{true: "text", false: "vectors"}
		return nil, fmt.Errorf("%s contains %s, but %s contains %s", test.Source, kinds[text], train.Source, kinds[!text])
	}
	return test, nil
}

// newMatrixFile returns the description of the matrix. It fails if disk space is insufficient. If
// -o-labels is set, it writes the label file.
func (g *gramFlags) newMatrixFile(e *cli.Env, k kernel.Kernel, train, test *corpus.Corpus) (*matrixFile, error) {
	f := &matrixFile{test: test, header: matrixio.Header{Rows: train.Documents.Rows(),
		Comment: fmt.Sprintf("%s of %s", k, filepath.Base(train.Source))}}
	rows, classes, none := train, train.Classes, ""
	if test != nil {
		f.header.Rows, f.header.Cols = test.Documents.Rows(), train.Documents.Rows()
		if rows, none = withClassesOf(test, train), "0"; len(rows.Classes) > 0 {
			classes = rows.Classes
		}
	}
	if g.format == "libsvm" {
		var err error
		if f.header.Labels, err = numbersOfDocuments(rows, classNumbers(classes, e), none); err != nil {
			return nil, err
		}
	}
	if err := g.checkDiskSpace(g.out, f.header); err != nil || g.labelsPath == "" {
		return f, err
	}
	_, err := matrixio.WriteFile(g.labelsPath, func(w io.Writer) error { return writeLabels(w, rows) })
	return f, err
}

func (g *gramFlags) checkDiskSpace(path string, h matrixio.Header) error {
	need := h.MinBytes(g.format)
	if free, ok := matrixio.FreeSpace(path); ok && need > free {
		return fmt.Errorf("%s needs %s of disk space, but only %s are free", path, report.FormatBytes(need),
			report.FormatBytes(free))
	}
	return nil
}

// writeCross computes and writes the matrix with a row per test document, several rows at a time.
func (g *gramFlags) writeCross(
	ctx context.Context, p *cli.Progress, eng *engine.Engine, embedder *sparse.Embedder, k kernel.Kernel, f *matrixFile,
	row *gramRow,
) error {
	docs, n := f.test.Documents, eng.Len()
	m, base := docs.Rows(), backend.RuntimeBytes+eng.Info().Bytes+docs.Bytes()
	row.Method = "stripes"
	what := fmt.Sprintf("a matrix of %s with %s", report.FormatDocuments(m), report.FormatDocuments(n))
	rows, err := g.rowsPerPart(eng, m, what, func(rows int) int64 { return base + crossBytes(eng, docs, rows) })
	if err != nil {
		return err
	}
	return row.save(ctx, f.header, func(writeRow func([]float32) error) error {
		return computeInParts(ctx, m, n, rows, func(ctx context.Context, first int, part *engine.Dense) error {
			p.StartStage(stageName(k, first, part.Rows, m))
			x, err := embedder.TransformRows(ctx, docs, run.Range(first, first+part.Rows), g.Workers)
			if err != nil {
				return fmt.Errorf("embedding %s: %w", embedder.Embedding, err)
			}
			_, err = eng.Rows(ctx, k, engine.Request{TestDocuments: x}, part)
			return err
		}, writeRow)
	})
}

// testBytes estimates the memory in bytes for the kernel values of one panel of test documents.
func testBytes(docs, others *sparse.CSR) int64 {
	const rows = 64 // maximum number of rows of a panel
	values := rows * int64(docs.MaxRowLen())
	return sparse.EmbeddedBytes(rows, values) + engine.MaxEngineBytes(rows, others.MaxTerms()+1, values) +
		2*4*rows*int64(others.Rows())
}

// crossBytes returns an upper bound on the memory in bytes for a part of the matrix: the embedded
// test documents of the part, the engine's copy of these documents, and two parts of the matrix.
func crossBytes(eng *engine.Engine, docs *sparse.CSR, rows int) int64 {
	most := int64(0)
	for first := 0; first < docs.Rows(); first += rows {
		most = max(most, docs.Offsets[min(first+rows, docs.Rows())]-docs.Offsets[first])
	}
	return sparse.EmbeddedBytes(rows, most) + eng.EachTileBytes(rows, most) + 2*engine.MatrixBytes(rows, eng.Len())
}
