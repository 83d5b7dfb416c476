package matrices

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// If the engine fails, no file remains, because rows of zeros would look like results.
func TestCrossOfFailingEngine(t *testing.T) {
	c := musttest.Get(corpus.Read(t.Context(), "synthetic:docs=20,terms=50,length=10", corpus.Options{}))(t)
	embedder := sparse.SphereEmbedding.Fit(c.Documents)
	x := musttest.Get(embedder.Transform(c.Documents))(t)
	eng := musttest.Get(engine.New(x, engine.Options{}))(t)
	for _, closed := range []bool{false, true} {
		if closed {
			musttest.NoError(t, eng.Close())
		}
		row := &gramRow{File: filepath.Join(t.TempDir(), "X.npy"), Format: "npy"}
		file := &matrixFile{header: matrixio.Header{Rows: 20, Cols: 20}, test: c}
		k := kernel.MustParse("diffusion")
		err := (&gramFlags{}).writeCross(t.Context(), &cli.Progress{}, eng, embedder, k, file, row)
		_, missing := os.Stat(row.File)
		if (missing != nil) != closed || strings.Contains(fmt.Sprint(err), "engine: the engine is closed") != closed {
			t.Errorf("engine closed: %v; error %v, file missing: %v", closed, err, missing)
		}
	}
}

// If the disk is too small, neither matrix nor labels are written.
func TestNoRoom(t *testing.T) {
	huge := &corpus.Corpus{Documents: &sparse.CSR{Offsets: make([]int64, 1<<24)}}
	small := &corpus.Corpus{Documents: &sparse.CSR{Offsets: make([]int64, 11)}}
	if _, ok := matrixio.FreeSpace(t.TempDir()); !ok {
		t.Skip("the system doesn't tell how much is free")
	}
	for _, c := range []struct {
		corpus *corpus.Corpus
		format string
		fits   bool
	}{{small, "npy", true}, {small, "mm", true}, {huge, "npy", false}, {huge, "mm", false}} {
		folder := t.TempDir()
		g := &gramFlags{out: filepath.Join(folder, "K"), labelsPath: filepath.Join(folder, "labels"), format: c.format}
		_, err := g.newMatrixFile(nil, kernel.MustParse("diffusion"), c.corpus, nil)
		_, missing := os.Stat(g.labelsPath)
		if c.fits != (err == nil) || c.fits != (missing == nil) || err != nil && !strings.Contains(err.Error(), "are free") {
			t.Errorf("%s: error %v, labels %v", c.format, err, missing)
		}
	}
}
