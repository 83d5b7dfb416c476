package score

import (
	"math"
	"slices"
)

// Calibration says how good probabilities are of documents whose classes are known.
type Calibration struct {
	// LogLoss is the mean of -log P of the true class, at least 10⁻¹⁵; of separate labels that of all
	// decisions, documents × labels. Classes that the model doesn't know count in ECE alone.
	LogLoss float64

	// ECE is the expected calibration error: the mean over documents of how far, in the document's
	// bin, the mean of the greatest probability is from the share for which that class is right. The
	// bins are 15 of equal width, (0, 1/15], …, (14/15, 1]. Of separate labels it is that of all
	// decisions. Source: Guo and others, ICML 2017, section 2.
	ECE float64

	Bins []Bin `json:"-"` // those of ECE that have documents, ascending
}

// Bin is a bin of [Calibration].
type Bin struct {
	Documents  int     `json:"documents"`  // of separate labels decisions
	Confidence float64 `json:"confidence"` // the mean of the greatest probability
	Right      float64 `json:"right"`      // the share for which that class is right
}

const (
	leastProbability = 1e-15 // bounds what a document can cost in a log loss
	calibrationBins  = 15
)

// Reliability is a [Calibration] under way.
type Reliability struct {
	loss   float64
	losses int
	bins   [calibrationBins]struct{ documents, confidence, right float64 }
}

// AddLabels adds a document with the probabilities of separate labels and the labels that it has.
func (r *Reliability) AddLabels(p []float64, own []int) {
	for k, v := range p {
		if !slices.Contains(own, k) {
			v = 1 - v
		}
		r.lose(v)
		r.answer(max(v, 1-v), v >= 0.5)
	}
}

// Add adds a document with the probabilities of classes and the classes that it has: the most
// probable class counts if it is among them, else the first. Classes that the model doesn't know
// have indices after its own. Add returns the greatest probability and whether that class is right.
func (r *Reliability) Add(p []float64, own []int) (confidence float64, right bool) {
	best := 0
	for k, v := range p {
		if v > p[best] {
			best = k
		}
	}
	is := own[0]
	if slices.Contains(own, best) {
		is = best
	}
	if is < len(p) {
		r.lose(p[is])
	}
	r.answer(p[best], is == best)
	return p[best], is == best
}

func (r *Reliability) lose(p float64) {
	r.loss -= math.Log(max(p, leastProbability))
	r.losses++
}

func (r *Reliability) answer(confidence float64, right bool) {
	at := &r.bins[min(max(int(math.Ceil(confidence*calibrationBins))-1, 0), calibrationBins-1)]
	at.documents++
	at.confidence += confidence
	if right {
		at.right++
	}
}

// Calibration returns the figures of the documents that were added.
func (r *Reliability) Calibration() *Calibration {
	c, n := &Calibration{LogLoss: r.loss / float64(r.losses)}, 0.0
	for _, b := range r.bins {
		c.ECE += math.Abs(b.confidence - b.right)
		if n += b.documents; b.documents > 0 {
			c.Bins = append(c.Bins, Bin{int(b.documents), b.confidence / b.documents, b.right / b.documents})
		}
	}
	c.ECE /= n
	return c
}

// probabilities compares probabilities with the labels: p[i][k] is that of document i for class k,
// and nil leaves the document out, as do missing labels unless labels are separate. It returns nil
// if no document is left.
func (t *tally) probabilities(p [][]float64, separate bool) *Calibration {
	r, some := &Reliability{}, false
	for i, own := range p {
		of := t.of(i)
		if own == nil || t.model == 0 || !separate && len(of) == 0 {
			continue
		}
		if some = true; separate {
			r.AddLabels(own, of)
		} else {
			r.Add(own, of)
		}
	}
	if !some {
		return nil
	}
	return r.Calibration()
}
