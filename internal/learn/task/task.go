// Package task contains code shared by learners with one binary classifier per class: selection of
// training documents, class weights, the loop over classes, and predictions from decision values.
//
// Train and TrainPath of these learners don't change or retain the corpus. They train on documents
// with a class, or on all documents if labels are independent. They fail if the corpus has no
// training documents, too few classes or repeated class names, if the embedding isn't for dot
// products or rejects a value, if a setting is out of range, if they need more memory than allowed,
// and within a second after ctx is done.
//
// Predict takes valid documents whose terms are numbered as in the training corpus. It fails if the
// embedding rejects a value, if it needs more memory than allowed, and within a second after ctx is
// done. Models and predictions are bit-identical for any number of workers.
package task

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// TrainingRows returns the indices of the training documents: documents with a class, or all
// documents if labels are independent. It fails if there are no such documents, if class names
// repeat, if there are too few classes, or if the embedding isn't for dot products.
func TrainingRows(ctx context.Context, c *corpus.Corpus, e sparse.Embedding, scheme solver.Scheme) ([]int, error) {
	if c.Documents.Rows() == 0 {
		return nil, errors.New("the corpus has no documents")
	}
	if name, twice := archive.FindDuplicate(c.Classes); twice {
		return nil, fmt.Errorf("class names of %s must be unique, but %q occurs twice", c.Source, name)
	}
	least := 2
	if scheme == solver.MultiLabel {
		least = 1
	}
	if len(c.Classes) < least {
		return nil, fmt.Errorf("%s has %d classes, but at least %d are required", c.Source, len(c.Classes), least)
	}
	if e.Pairing != sparse.Cosine {
		return nil, fmt.Errorf("embedding %s is not supported, because it is not for dot products", e)
	}
	var rows []int
	for i := range c.Documents.Rows() {
		if len(c.Labels.Classes(i)) > 0 || scheme == solver.MultiLabel {
			rows = append(rows, i)
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s has no labelled documents", c.Source)
	}
	return rows, nil
}

// ClassWeights returns the factor of C for the documents of each class: explicit[name] if present,
// which must be positive and finite, else 1. If balanced is set, class k with 0 < nₖ < n of n
// documents gets n / (classes · nₖ) instead of 1, or (n - nₖ) / nₖ if labels are independent.
func ClassWeights(
	c *corpus.Corpus, rows []int, explicit map[string]float64, balanced bool, scheme solver.Scheme,
) ([]float64, error) {
	out := make([]float64, len(c.Classes))
	for _, i := range rows {
		for _, k := range c.Labels.Classes(i) {
			out[k]++
		}
	}
	for k, own := range out {
		n := float64(len(rows))
		switch {
		case !balanced || own == 0 || own == n:
			out[k] = 1
		case scheme == solver.MultiLabel:
			out[k] = (n - own) / own
		default:
			out[k] = n / (float64(len(out)) * own)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(explicit)) {
		k, w := slices.Index(c.Classes, name), explicit[name]
		if k < 0 || !(w > 0) || math.IsInf(w, 0) {
			return nil, fmt.Errorf("weights must be positive numbers for classes of %s, got %v for %q", c.Source, w, name)
		}
		out[k] = w
	}
	return out, nil
}

// CheckCValues checks that values of C are positive and strictly increasing.
func CheckCValues(values []float64) error {
	for i, c := range values {
		if !(c > 0) || i > 0 && !(c > values[i-1]) {
			return fmt.Errorf("values of C must be positive and strictly increasing, got %v", values)
		}
	}
	return nil
}

func NewPrediction(n int, scheme solver.Scheme) *model.Prediction {
	p := &model.Prediction{DecisionValues: make([][]float64, n)}
	if scheme == solver.MultiLabel {
		p.Labels = make([][]int, n)
	} else {
		p.ClassIndices = make([]int, n)
	}
	return p
}

// Decide sets the decision values of document i, and the resulting class or labels.
func Decide(p *model.Prediction, i int, f []float64) {
	if p.DecisionValues[i] = f; p.Labels != nil {
		p.Labels[i] = PositiveIndices(f)
	} else {
		p.ClassIndices[i] = ArgMax(f)
	}
}

// AddProducts adds to each f[k] the inner product of the weights w[column·len(f) + k] and row i of
// x, scaled to the given norm. Sums are computed in float64 and column order, without fused
// multiply-adds.
func AddProducts(f, w []float64, x *sparse.Embedded, i int, norm float64) {
	terms, unit := x.Row(i)
	for at, t := range terms {
		v := float64(unit[at]) * norm
		w := w[int(t)*len(f):][:len(f)]
		for k := range f {
			f[k] += float64(v * w[k])
		}
	}
}

const chunkRows = 512

// Options controls training and predictions. Results don't depend on Options.
type Options struct {
	ISA         string             // instruction set of engines; "" for the fastest
	Workers     int                // number of goroutines; 0 for one per CPU
	MemoryBytes int64              // memory limit in addition to the corpus; 0 for none
	Progress    func(run.Progress) // called with the progress, never concurrently; may be nil
}

// PredictionRun embeds documents in chunks and passes the chunks to a model.
type PredictionRun struct {
	Options
	Name             string // package name, for errors
	Embedder         *sparse.Embedder
	BytesPerDocument int64 // memory that the model needs per document
}

// NumWorkers returns the number of goroutines that Run uses for n documents.
func (p *PredictionRun) NumWorkers(n int) int {
	return min(run.NumWorkers(p.Workers), (n+chunkRows-1)/chunkRows)
}

// Run embeds documents in chunks, and calls predict once per chunk, concurrently. x holds the
// chunk, whose first row is document first. docs must be valid.
func (p *PredictionRun) Run(
	ctx context.Context, docs *sparse.CSR, predict func(worker int, x *sparse.Embedded, first int) error,
) (err error) {
	n := docs.Rows()
	workers := p.NumWorkers(n)
	longest := int64(docs.MaxRowLen() + p.Embedder.FilledCount())
	need := int64(n)*p.BytesPerDocument + int64(workers)*sparse.EmbeddedBytes(chunkRows, chunkRows*longest)
	if err := run.CheckMemory(need, p.MemoryBytes, "%s: predicting %d documents", p.Name, n); err != nil {
		return err
	}
	var report func(int64)
	if p.Progress != nil {
		report = func(done int64) { p.Progress(run.Progress{Stage: "predicting", Done: done, Total: int64(n)}) }
	}
	ctx, r := run.StartReporter(ctx, p.Name+": Options.Progress", report)
	defer r.Finish(&err)
	return run.Tasks(ctx, workers, (n+chunkRows-1)/chunkRows, func(ctx context.Context, worker, part int) error {
		rows := run.Range(part*chunkRows, min((part+1)*chunkRows, n))
		x, err := p.Embedder.TransformRows(ctx, docs, rows, 1)
		if err != nil {
			return err
		}
		if err := predict(worker, x, rows[0]); err != nil {
			return err
		}
		r.Add(int64(len(rows)))
		return nil
	})
}

// ArgMax returns the index of the largest value in f. Ties are broken by index.
func ArgMax(f []float64) int {
	top := 0
	for k, v := range f {
		if v > f[top] {
			top = k
		}
	}
	return top
}

// PositiveIndices returns the indices of the positive values in f, in ascending order.
func PositiveIndices(f []float64) []int {
	found := []int{}
	for k, v := range f {
		if v > 0 {
			found = append(found, k)
		}
	}
	return found
}
