package learn

import (
	"cmp"
	"slices"

	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/solver"
)

// Curve describes how well a score separates the documents of a class from other documents at each
// threshold. The score is the probability of the class, or the decision value if there are no
// probabilities. In one-vs-one, the decision value of a class is its mean decision value against
// the other classes. For TP true positives, FP false positives, P positives and N negatives,
//
//	ROC: (FP/N, TP/P),   AUC = ∫ TP/P d(FP/N),   precision and recall: (TP/P, TP/(TP+FP)),
//	AveragePrecision = Σₖ (Rₖ - Rₖ₋₁) Pₖ over descending thresholds
//
// AUC uses the trapezoidal rule. AUC is the probability that a positive scores above a negative,
// with ties counted half. scikit-learn has the same definitions. Sources: Fawcett, Pattern
// Recognition Letters 27 (2006); Davis and Goadrich, ICML 2006.
type Curve struct {
	// "" for the pooled decisions of all classes (micro average)
	Class                string       `json:"class,omitempty"`
	PositiveCount        int          `json:"documents"` // number of documents of the class
	AUC                  float64      `json:"roc_auc"`
	AveragePrecision     float64      `json:"average_precision"`
	ROC, PrecisionRecall [][2]float64 `json:"-"` // points at least 1/200 apart
}

// maxPooled is the maximum number of decisions in a pooled curve. If there are more decisions,
// evenly spaced documents are sampled.
const maxPooled = 1 << 20

type decision struct {
	score    float64
	positive bool
}

// computeCurves sets v.Curves: the pooled curve, then a curve for each class that has positives and
// negatives.
func (v *Evaluation) computeCurves(a *About, p *model.Prediction) {
	var pooled, own []decision
	var classes []Curve
	scores := make([][]float64, len(v.Outcomes))
	for i := range scores {
		scores[i] = classScores(a, p, i)
	}
	step := 1 + len(scores)*len(a.Classes)/maxPooled
	for k, name := range a.Classes {
		own = own[:0]
		for i := range v.Outcomes {
			x := &v.Outcomes[i]
			if !x.Scored {
				continue
			}
			d := decision{scores[i][k], slices.Contains(x.trueLabels, name)}
			if own = append(own, d); i%step == 0 {
				pooled = append(pooled, d)
			}
		}
		if c, ok := curveOf(name, own); ok {
			classes = append(classes, c)
		}
	}
	if micro, ok := curveOf("", pooled); ok {
		v.Curves = append([]Curve{micro}, classes...)
	}
}

func classScores(a *About, p *model.Prediction, i int) []float64 {
	if p.Probabilities != nil {
		return p.Probabilities[i]
	}
	d, n := p.DecisionValues[i], len(a.Classes)
	if a.Scheme == solver.OneVsOne && len(d) == n*(n-1)/2 {
		out := make([]float64, n)
		for k, pair := range solver.ClassPairs(n) {
			out[pair[0]] += d[k] / float64(n-1)
			out[pair[1]] -= d[k] / float64(n-1)
		}
		return out
	}
	// If the predicted class doesn't have the largest value, smaller values are better. They are
	// negated.
	if p.ClassIndices != nil && d[p.ClassIndices[i]] < slices.Max(d) {
		d = slices.Clone(d)
		for k := range d {
			d[k] = -d[k]
		}
	}
	return d
}

// curveOf sorts own by descending score and returns the curve. ok is false if there are no
// positives or no negatives.
func curveOf(name string, own []decision) (c Curve, ok bool) {
	slices.SortFunc(own, func(a, b decision) int { return cmp.Compare(b.score, a.score) })
	for _, d := range own {
		if d.positive {
			c.PositiveCount++
		}
	}
	positives, negatives := float64(c.PositiveCount), float64(len(own)-c.PositiveCount)
	if positives == 0 || negatives == 0 {
		return c, false
	}
	c.Class, c.ROC = name, [][2]float64{{0, 0}}
	var tp, fp, recall, fall float64
	for k, d := range own {
		if d.positive {
			tp++
		} else {
			fp++
		}
		last := k == len(own)-1
		if !last && own[k+1].score == d.score {
			continue
		}
		r, f := tp/positives, fp/negatives
		c.AUC += (f - fall) * (r + recall) / 2
		c.AveragePrecision += (r - recall) * tp / (tp + fp)
		recall, fall = r, f
		c.ROC = appendPoint(c.ROC, [2]float64{f, r}, last)
		c.PrecisionRecall = appendPoint(c.PrecisionRecall, [2]float64{r, tp / (tp + fp)}, last)
	}
	return c, true
}

// appendPoint appends p if points is empty, if last is true, or if p and the last point differ by
// at least 1/200 in one coordinate.
func appendPoint(points [][2]float64, p [2]float64, last bool) [][2]float64 {
	const near = 1.0 / 200
	if n := len(points); n > 0 && !last && max(p[0]-points[n-1][0], p[1]-points[n-1][1], points[n-1][1]-p[1]) < near {
		return points
	}
	return append(points, p)
}
