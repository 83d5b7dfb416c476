package learn

import (
	"cmp"
	"slices"

	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/solver"
)

// Curve says how well a score tells documents of a class from others, over all thresholds. The score is the class's
// probability, or without these its decision value; of machines for pairs of classes the mean over the pairs. With
// TP and FP positives and negatives of at least the threshold, of P and N in all,
//
//	ROC: (FP/N, TP/P),   AUC = ∫ TP/P d(FP/N),   precision and recall: (TP/P, TP/(TP+FP)),
//	AveragePrecision = Σₖ (Rₖ - Rₖ₋₁) Pₖ over the thresholds, falling
//
// AUC is by trapezoids: the probability that a positive scores above a negative, ties count half. Sources: Fawcett,
// Pattern Recognition Letters 27 (2006); Davis and Goadrich, ICML 2006. Both are those of scikit-learn.
type Curve struct {
	Class            string       `json:"class,omitempty"` // "" for all classes' decisions pooled: micro
	Documents        int          `json:"documents"`       // positives
	AUC              float64      `json:"roc_auc"`
	AveragePrecision float64      `json:"average_precision"`
	ROC, Precision   [][2]float64 `json:"-"` // points at least 1/200 apart
}

// mostPooled are the decisions of which a pooled curve is made, of evenly spaced documents where there are more.
const mostPooled = 1 << 20

// decision is a score, and whether it is of a positive.
type decision struct {
	score    float64
	positive bool
}

// curves finds the pooled curve, then those of classes that have positives and negatives.
func (v *Evaluation) curves(a *About, p *model.Prediction) {
	var pooled, own []decision
	var classes []Curve
	scores := make([][]float64, len(v.Outcomes))
	for i := range scores {
		scores[i] = classScores(a, p, i)
	}
	step := 1 + len(scores)*len(a.Classes)/mostPooled
	for k, name := range a.Classes {
		own = own[:0]
		for i := range v.Outcomes {
			x := &v.Outcomes[i]
			if !x.Scored {
				continue
			}
			d := decision{scores[i][k], slices.Contains(x.own, name)}
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

// classScores returns a score for each class of document i.
func classScores(a *About, p *model.Prediction, i int) []float64 {
	if p.Probabilities != nil {
		return p.Probabilities[i]
	}
	d, n := p.Decisions[i], len(a.Classes)
	if a.Scheme == solver.OneVsOne && len(d) == n*(n-1)/2 {
		out := make([]float64, n)
		for k, pair := range solver.Pairs(n) {
			out[pair[0]] += d[k] / float64(n-1)
			out[pair[1]] -= d[k] / float64(n-1)
		}
		return out
	}
	if p.Class != nil && d[p.Class[i]] < slices.Max(d) { // energies: the least wins
		d = slices.Clone(d)
		for k := range d {
			d[k] = -d[k]
		}
	}
	return d
}

// curveOf makes a curve of decisions, which it sorts; not ok without positives or negatives.
func curveOf(name string, own []decision) (c Curve, ok bool) {
	slices.SortFunc(own, func(a, b decision) int { return cmp.Compare(b.score, a.score) })
	for _, d := range own {
		if d.positive {
			c.Documents++
		}
	}
	positives, negatives := float64(c.Documents), float64(len(own)-c.Documents)
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
		c.ROC = apart(c.ROC, [2]float64{f, r}, last)
		c.Precision = apart(c.Precision, [2]float64{r, tp / (tp + fp)}, last)
	}
	return c, true
}

// apart adds a point that is away from the one before it, or the last.
func apart(points [][2]float64, p [2]float64, last bool) [][2]float64 {
	const near = 1.0 / 200
	if n := len(points); n > 0 && !last && max(p[0]-points[n-1][0], p[1]-points[n-1][1], points[n-1][1]-p[1]) < near {
		return points
	}
	return append(points, p)
}
