package mkm

import (
	"fmt"
	"slices"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/learn/pca"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/lab/internal/lmnn"
	"github.com/gramengine/gram/solver"
)

func (o Options) reportProgress(stage string, level int, done, total int64) {
	if o.Progress != nil {
		defer run.Rethrow("mkm: Options.Progress")
		o.Progress(run.Progress{Stage: fmt.Sprintf("level %d: %s", level, stage), Done: done, Total: total})
	}
}

func (t *training) notifyChoice(c LevelChoice) {
	if t.o.OnChoice != nil {
		defer run.Rethrow("mkm: Options.OnChoice")
		t.o.OnChoice(c)
	}
}

// heldBytes returns the memory in bytes that a training run holds between stages: documents,
// features of two levels, and models.
func (t *training) heldBytes(models int64) int64 {
	return 2*t.c.Documents.Bytes() + 20*int64(len(t.y))*int64(t.s.maxTriedWidth()) + models
}

// remainingBytes returns the unused memory if a stage uses stage bytes, or 0 if there is no limit.
func (t *training) remainingBytes(stage int64) int64 {
	if t.o.MemoryBytes == 0 {
		return 0
	}
	models := int64(0)
	for _, m := range t.models {
		models += m.Bytes()
	}
	return max(t.o.MemoryBytes-t.heldBytes(models)-stage, 1)
}

// requiredBytes returns the memory in bytes that a training run needs: the maximum over
// the stages of all levels, including the models trained so far. It doesn't include the lists of
// document pairs in package lmnn.
func (t *training) requiredBytes() (most int64) {
	n, docs, workers := len(t.y), t.c.Documents, run.NumWorkers(t.o.Workers)
	b := min(n, t.s.BaseSize)
	lengths := make([]int64, n)
	for i := range lengths {
		lengths[i] = docs.Offsets[i+1] - docs.Offsets[i]
	}
	slices.Sort(lengths)
	values := int64(0) // number of values in Base if Base consists of the longest documents
	for _, length := range lengths[n-b:] {
		values += length
	}
	columns, below, models, layers := docs.MaxTerms(), docs.Bytes(), int64(0), int64(0)
	for l := range len(t.kernels) + 1 {
		w := min(columns, t.s.maxTriedWidth())
		if wanted := t.s.fixedWidth(l); wanted > 0 {
			w = min(columns, wanted)
		}
		if t.s.KeepAllFeatures && w < columns {
			w = columns
		}
		if l > 0 {
			layers += denseBytes(b, w) + 8*int64(b+2)*int64(w)
		}
		for _, f := range t.finals {
			if l < t.firstLevel || w > MaxWidth {
				continue
			}
			stage, model := below, layers+4*int64(n)*int64(w)
			switch f {
			case FinalLMNN:
				tests := 0
				if t.s.Steps == 0 {
					tests = n/t.s.Folds + len(t.c.Classes)
				}
				stage += lmnn.TrainBytes(n, tests, w)
				model += 16*int64(n) + 8*int64(w)*int64(w)
			case FinalSVM:
				size := corpus.Size{Documents: n, Terms: w, Classes: len(t.c.Classes), Values: int64(n) * int64(w), LongestRow: w}
				stage += svm.EstimateBytes(size, workers, svm.PlannedRun{Settings: svm.Settings{Scheme: solver.OneVsRest}})
				model = layers + denseBytes(n, w)
			}
			most = max(most, t.heldBytes(models)+stage)
			models += model
		}
		if l == len(t.kernels) {
			return most
		}
		base, x := values*8+8*int64(b), docs.Bytes()
		if l > 0 {
			base, x, values = denseBytes(b, w), denseBytes(n, w), int64(b)*int64(w)
		}
		least := pca.MinFitBytes(b, workers, pca.Options{NumComponents: t.s.MaxComponents})
		most = max(most, t.heldBytes(models)+engine.MaxEngineBytes(b, w, values)+base+x+least)
		columns = min(t.s.MaxComponents, b)
		below = denseBytes(n, columns)
	}
	return most
}

// denseBytes returns the size in bytes of a CSR matrix in which no value is 0.
func denseBytes(rows, columns int) int64 { return 8 * (int64(rows)*int64(columns) + int64(rows) + 1) }
