package learn

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Importance is the mean drop in accuracy, or in R² of a regression, when the values of a column
// are permuted among the scored rows. MeanDrop is 0 for a column that the model doesn't use.
// Source: Breiman, Machine Learning 45 (2001), section 10.
type Importance struct {
	Column   string  `json:"column"` // column name, as in ColumnEffect
	MeanDrop float64 `json:"drop"`
	SE       float64 `json:"standard_error"` // standard error over rows; for R², the variance of targets is assumed exact
}

const (
	permutationBatchRows = 4096    // number of rows per call of Predict
	maxPermutedRows      = 200_000 // maximum number of predictions; rows are sampled if there would be more
	minPermutedRows      = 200     // minimum number of sampled rows, even if predictions then exceed maxPermutedRows
)

func (v *Evaluation) computeImportances(
	ctx context.Context, a *About, p *model.Prediction, c *corpus.Corpus, o Options, e EvaluateOptions,
) error {
	columns, err := newTermColumns(a)
	if err != nil {
		return err
	}
	var rows []int
	for i := range v.Outcomes {
		if v.Outcomes[i].Scored {
			rows = append(rows, i)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	if most := max(maxPermutedRows/(len(columns.names)*e.Permutations), minPermutedRows); len(rows) > most {
		random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		rows = slices.Sorted(slices.Values(rows[:most]))
	}
	scale := 1.0
	if a.IsRegression {
		var targets []float64
		for _, i := range rows {
			target, _ := strconv.ParseFloat(v.Outcomes[i].trueLabels[0], 64)
			targets = append(targets, target)
		}
		if scale = 1 / stat.PopVariance(targets, nil); math.IsInf(scale, 0) {
			return nil // R² is undefined
		}
	}
	for column, name := range columns.names {
		drops := make([]float64, len(rows)) // drop in quality by row, summed over permutations
		for k := range e.Permutations {
			from := run.Select(rows, random.Perm(len(rows)))
			for first := 0; first < len(rows); first += permutationBatchRows {
				end := min(first+permutationBatchRows, len(rows))
				docs := mixTerms(c.Documents, rows[first:end], from[first:end],
					func(term uint32) bool { return columns.columnIndex(term) == column })
				predicted, err := o.Predictor.Predict(ctx, docs)
				if err != nil {
					return err
				}
				predicted.Rejected = nil
				for j, i := range rows[first:end] {
					own := v.Outcomes[i].trueLabels
					drops[first+j] += scale * (quality(a, p, i, own) - quality(a, predicted, j, own)) / float64(e.Permutations)
				}
			}
			o.ReportProgress("permuting columns", int64(column*e.Permutations+k+1), int64(len(columns.names)*e.Permutations))
		}
		mean, sd := stat.MeanStdDev(drops, nil)
		v.Importances = append(v.Importances, Importance{name, mean, sd / math.Sqrt(float64(len(rows)))})
	}
	slices.SortStableFunc(v.Importances, func(a, b Importance) int { return cmp.Compare(b.MeanDrop, a.MeanDrop) })
	return nil
}

// quality returns 1 if prediction i is right and 0 if it is wrong. For regression, it returns the
// negative squared error. own holds the document's true classes, sorted.
func quality(a *About, p *model.Prediction, i int, own []string) float64 {
	if a.IsRegression {
		target, _ := strconv.ParseFloat(own[0], 64)
		return -(p.Values[i] - target) * (p.Values[i] - target)
	}
	if isCorrect(a, a.Labels(p, i), own) {
		return 1
	}
	return 0
}

// isCorrect reports whether predicted labels are correct. own holds the document's classes. For
// independent labels, own must be sorted.
func isCorrect(a *About, given, own []string) bool {
	if a.Scheme == solver.MultiLabel {
		slices.Sort(given)
		return slices.Equal(own, given)
	}
	return slices.Contains(own, given[0])
}

// mixTerms returns copies of the documents with the indices in rows. In copy k, the terms for which
// other returns true come from document from[k].
func mixTerms(docs *sparse.CSR, rows, from []int, other func(term uint32) bool) *sparse.CSR {
	out := &sparse.CSR{Cols: docs.Cols, Offsets: []int64{0}}
	for k, i := range rows {
		terms, values := docs.Row(i)
		others, given := docs.Row(from[k])
		for len(terms)+len(others) > 0 {
			if len(others) == 0 || len(terms) > 0 && terms[0] <= others[0] {
				if !other(terms[0]) {
					out.Terms, out.Values = append(out.Terms, terms[0]), append(out.Values, values[0])
				}
				terms, values = terms[1:], values[1:]
				continue
			}
			if other(others[0]) {
				out.Terms, out.Values = append(out.Terms, others[0]), append(out.Values, given[0])
			}
			others, given = others[1:], given[1:]
		}
		out.Offsets = append(out.Offsets, int64(len(out.Terms)))
	}
	return out
}
