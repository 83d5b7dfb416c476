package search

import (
	"io"

	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/snake"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/solver"
)

// table is the JSON output of gather. It has the same keys as the output of gram grid -json.
type table struct {
	Type    string       `json:"type"`
	Folds   int          `json:"folds"`
	Seed    uint64       `json:"seed"`
	Measure tune.Measure `json:"measure"`
	Points  int          `json:"points"`
	Fits    int          `json:"fits"`
	Best    *row         `json:"best,omitempty"`
	Rows    []row        `json:"rows"`
}

type scores = source.Figures

// row is a candidate with its cross-validation results.
type row struct {
	Kernel    string `json:"kernel"`
	Embedding string `json:"embedding"`
	Scheme    string `json:"scheme,omitempty"`
	solver.Regularization
	Mean       float64          `json:"mean"`
	SD         float64          `json:"standard_deviation"`
	SE         float64          `json:"standard_error"` // standard error of the mean
	ToBest     *tune.Difference `json:"difference_to_best,omitempty"`
	Figures    []float64        `json:"figures"` // values of the measure, one per fold
	Iterations int64            `json:"iterations"`
	Unfinished int              `json:"unfinished_machines"`
	Support    float64          `json:"support_vectors"` // mean number of distinct support vectors per fold
	Best       bool             `json:"is_best,omitempty"`

	scores
}

func newTable(s *spec, found *tune.Found, points int) *table {
	r := &table{Type: s.Type, Folds: s.Folds, Seed: s.Seed, Measure: found.Points[0].Measure, Points: points,
		Fits: found.Fits()}
	for i, p := range found.Points {
		r.Rows = append(r.Rows, newRow(p, model.Type(s.Type), i == found.Best))
	}
	if found.Best >= 0 {
		r.Best = &r.Rows[found.Best]
	}
	return r
}

func newRow(p tune.Point, t model.Type, best bool) row {
	r := row{Kernel: p.Kernel.String(), Embedding: p.Kernel.Embedding().String(),
		Mean: p.Mean, SD: p.SD, SE: p.SE, Figures: p.Figures, ToBest: p.ToBest,
		Iterations: p.Iterations, Unfinished: p.Unfinished, Support: p.Support, Best: best}
	r.Regularization = t.Used(p.Regularization)
	regression := p.Measure == tune.MeanSquaredError
	if r.scores = source.NewFigures(p.Score, regression, p.Measure == tune.MicroF1); !regression {
		r.Scheme = p.Scheme.String()
	}
	return r
}

func (t *table) write(w io.Writer) error { return snake.Write(w, t) }
