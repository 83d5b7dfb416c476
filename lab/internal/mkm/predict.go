package mkm

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/lab/internal/lmnn"
	"github.com/gramengine/gram/lab/internal/selection"
	"github.com/gramengine/gram/sparse"
)

// PredictAll is like [Model.Predict] for several models. If consecutive models share layers, as
// from [TrainPath], PredictAll computes the features of these layers once.
func PredictAll(ctx context.Context, models []*Model, docs *sparse.CSR, o Options) ([]*model.Prediction, error) {
	need, predicted := int64(0), int64(0) // predicted is the size of the predictions of previous models
	for _, m := range models {
		need = max(need, predicted+m.heldBytes(docs.Rows())+m.maxStageBytes(docs.Rows(), run.NumWorkers(o.Workers)))
		predicted += int64(docs.Rows()) * (8*int64(len(m.Classes)) + 32)
	}
	if err := run.CheckMemory(need, o.MemoryBytes, "mkm: predicting %d documents", docs.Rows()); err != nil {
		return nil, err
	}
	var out []*model.Prediction
	err := run.Tasks(ctx, 1, 1, func(ctx context.Context, _, _ int) error { // run.Tasks turns a panic into an error
		p, predicted := &predictor{o: o}, int64(0)
		for _, m := range models {
			found, left := &model.Prediction{}, o
			if o.MemoryBytes > 0 {
				left.MemoryBytes = o.MemoryBytes - predicted - m.heldBytes(docs.Rows())
			}
			predicted += int64(docs.Rows()) * (8*int64(len(m.Classes)) + 32)
			x, err := p.features(ctx, m, docs)
			if err != nil {
				return err
			}
			if err := m.classify(ctx, found, x, docs.Rows(), left); err != nil {
				return err
			}
			out = append(out, found)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// heldBytes returns the memory in bytes that a prediction holds between stages: the features of
// each layer, two more copies of the widest layer's features, and the prediction.
func (m *Model) heldBytes(rows int) int64 {
	n, widest := int64(rows), int64(m.Width())
	bytes := n * (8*int64(len(m.Classes)) + 32)
	for _, l := range m.Layers {
		bytes += 4 * n * int64(l.Width())
		widest = max(widest, int64(l.Width()))
	}
	return bytes + 24*n*widest
}

// maxStageBytes returns the memory in bytes that the largest stage of a prediction needs. A stage
// is a layer or the classifier.
func (m *Model) maxStageBytes(rows, workers int) (most int64) {
	for _, l := range m.Layers {
		projection := 32 * int64(min(rows, batchSize)) * int64(l.Width())
		most = max(most, engine.MaxEngineBytes(l.Base.Rows(), len(l.Embedder.Terms), l.Base.NNZ())+l.Base.Bytes()+projection)
	}
	switch {
	case m.LMNN != nil:
		most = max(most, m.LMNN.PredictBytes(rows))
	case m.SVM != nil:
		s := m.SVM.Support
		most = max(most, engine.MaxEngineBytes(s.Rows(), m.SVM.Embedder.Cols(), s.NNZ()))
	}
	return most + int64(workers)<<20 // includes a MiB of scratch memory per worker
}

// predictor caches the features of the documents in each layer of the previous model.
type predictor struct {
	o             Options
	columns       []uint32
	layers        []*Layer
	layerFeatures []featureMatrix
}

func (p *predictor) truncate(layers int) {
	p.layers, p.layerFeatures = p.layers[:layers], p.layerFeatures[:layers]
}

func (p *predictor) features(ctx context.Context, m *Model, docs *sparse.CSR) (featureMatrix, error) {
	if len(m.Layers) == 0 {
		return (&level{x: docs, columns: m.Columns}).selectedFeatures(0, docs.Rows()), nil
	}
	shared := 0
	for slices.Equal(m.Columns, p.columns) && shared < min(len(p.layers), len(m.Layers)) &&
		p.layers[shared] == m.Layers[shared] {
		shared++
	}
	p.truncate(shared)
	p.columns = m.Columns
	for l := shared; l < len(m.Layers); l++ {
		x := docs
		if l > 0 {
			x = p.layerFeatures[l-1].toCSR()
		} else if m.Columns != nil {
			x = selection.SelectTerms(docs, slices.Sorted(slices.Values(m.Columns)))
		}
		z, err := m.Layers[l].transform(ctx, l+1, x, p.o)
		if err != nil {
			return featureMatrix{}, err
		}
		p.layers, p.layerFeatures = append(p.layers, m.Layers[l]), append(p.layerFeatures, z)
	}
	return p.layerFeatures[len(p.layerFeatures)-1], nil
}

func (l *Layer) transform(ctx context.Context, level int, x *sparse.CSR, o Options) (featureMatrix, error) {
	r, err := l.open(ctx, o)
	if err != nil {
		return featureMatrix{}, fmt.Errorf("mkm: layer %d: %w", level, err)
	}
	defer r.engine.Close()
	out := featureMatrix{cols: l.Width()}
	for lo := 0; lo < x.Rows(); lo += batchSize {
		hi := min(lo+batchSize, x.Rows())
		z, err := r.transformRows(ctx, x, lo, hi)
		if err != nil {
			return featureMatrix{}, fmt.Errorf("mkm: layer %d: %w", level, err)
		}
		out.values = append(out.values, z...)
		o.reportProgress("features", level, int64(hi), int64(x.Rows()))
	}
	return out, nil
}

func (m *Model) classify(ctx context.Context, p *model.Prediction, x featureMatrix, rows int, o Options) error {
	p.ClassIndices, p.DecisionValues = make([]int, rows), make([][]float64, rows)
	if rows == 0 {
		return nil
	}
	switch {
	case m.KNN != nil:
		classes, err := m.KNN.predict(ctx, x, o)
		if err != nil {
			return err
		}
		for i, class := range classes {
			p.ClassIndices[i], p.DecisionValues[i] = int(class), make([]float64, len(m.Classes))
			p.DecisionValues[i][class] = 1
		}
		return nil
	case m.LMNN != nil:
		found, err := m.LMNN.Predict(ctx, x.toCSR(), lmnn.Options{Workers: o.Workers, MemoryBytes: o.MemoryBytes})
		if err != nil {
			return fmt.Errorf("mkm: %w", err)
		}
		m.copyPredictions(p, m.LMNN.Classes, found.DecisionValues, found.ClassIndices)
		return nil
	}
	q, err := svm.NewPredictor(ctx, m.SVM, svm.Options{
		ISA: o.ISA, Workers: o.Workers, MemoryBytes: o.MemoryBytes,
	})
	if err != nil {
		return fmt.Errorf("mkm: %w", err)
	}
	defer q.Close()
	found, err := q.Predict(ctx, x.toCSR())
	if err != nil {
		return fmt.Errorf("mkm: %w", err)
	}
	m.copyPredictions(p, m.SVM.Classes, found.DecisionValues, found.ClassIndices)
	return nil
}

// copyPredictions copies the predictions of a classifier. The classifier may have fewer classes
// than m, or a different order of classes.
func (m *Model) copyPredictions(p *model.Prediction, classes []string, decisions [][]float64, class []int) {
	to := make([]int, len(classes))
	for c, name := range classes {
		to[c] = m.classIndex(name)
	}
	for i, own := range decisions {
		p.ClassIndices[i], p.DecisionValues[i] = to[class[i]], make([]float64, len(m.Classes))
		for c := range p.DecisionValues[i] {
			p.DecisionValues[i][c] = math.Inf(-1)
		}
		for c, v := range own {
			p.DecisionValues[i][to[c]] = v
		}
	}
}
