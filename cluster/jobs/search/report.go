package search

import (
	"io"

	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/snake"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/solver"
)

// searchReport is the JSON output of gather. gram grid -json uses the same keys.
type searchReport struct {
	Type      string         `json:"type"`
	Folds     int            `json:"folds"`
	Seed      uint64         `json:"seed"`
	Measure   tune.Measure   `json:"measure"`
	NumPoints int            `json:"points"`
	NumFits   int            `json:"fits"`
	Best      *candidateRow  `json:"best,omitempty"`
	Rows      []candidateRow `json:"rows"`
}

type scores = source.Metrics

type candidateRow struct {
	Kernel    string `json:"kernel"`
	Embedding string `json:"embedding"`
	Scheme    string `json:"scheme,omitempty"`
	solver.Regularization
	Mean             float64          `json:"mean"`
	SD               float64          `json:"standard_deviation"`
	SE               float64          `json:"standard_error"` // standard error of the mean
	DifferenceToBest *tune.Difference `json:"difference_to_best,omitempty"`
	FoldScores       []float64        `json:"figures"` // values of the measure, one per fold
	Iterations       int64            `json:"iterations"`
	NumUnconverged   int              `json:"unconverged"`
	MeanSupport      float64          `json:"support_vectors"` // mean number of distinct support vectors per fold
	IsBest           bool             `json:"is_best,omitempty"`

	scores
}

func newSearchReport(s *spec, found *tune.SearchResult, points int) *searchReport {
	r := &searchReport{Type: s.Type, Folds: s.Folds, Seed: s.Seed, Measure: found.Points[0].Measure, NumPoints: points,
		NumFits: found.FitCount()}
	for i, p := range found.Points {
		r.Rows = append(r.Rows, newRow(p, model.Type(s.Type), i == found.BestIndex))
	}
	if found.BestIndex >= 0 {
		r.Best = &r.Rows[found.BestIndex]
	}
	return r
}

func newRow(p tune.Point, t model.Type, best bool) candidateRow {
	r := candidateRow{Kernel: p.Kernel.String(), Embedding: p.Kernel.Embedding().String(),
		Mean: p.Mean, SD: p.SD, SE: p.SE, FoldScores: p.FoldValues, DifferenceToBest: p.DifferenceToBest,
		Iterations: p.Iterations, NumUnconverged: p.UnfinishedCount, MeanSupport: p.MeanSupportVectorCount, IsBest: best}
	r.Regularization = t.UsedRegularization(p.Regularization)
	regression := p.Measure == tune.MeanSquaredError
	if r.scores = source.NewMetrics(p.Score, regression, p.Measure == tune.MicroF1); !regression {
		r.Scheme = p.Scheme.String()
	}
	return r
}

func (t *searchReport) write(w io.Writer) error { return snake.Write(w, t) }
