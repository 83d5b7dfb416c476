package score

import (
	"math"
	"slices"
)

// Calibration measures how well probabilities match true classes.
type Calibration struct {
	// LogLoss is the mean of -log max(P(true class), 10⁻¹⁵) over documents or, for independent
	// labels, over decisions. Documents whose class is unknown to the model are only used for ECE.
	LogLoss float64

	// ECE is the expected calibration error. Documents are put into bins by their largest
	// probability. ECE is the mean over documents of the absolute difference between mean largest
	// probability and accuracy in the document's bin. There are 15 bins of equal width, (0, 1/15],
	// …, (14/15, 1]. For independent labels, the mean is over all decisions. Source: Guo and
	// others, ICML 2017, section 2.
	ECE float64

	Bins []Bin `json:"-"` // nonempty bins of ECE, ascending
}

// Bin holds the predictions whose largest probability is in one interval, see [Calibration].
type Bin struct {
	Documents  int     `json:"documents"`  // number of documents, or of decisions for independent labels
	Confidence float64 `json:"confidence"` // mean of the largest probability
	Accuracy   float64 `json:"accuracy"`   // fraction of correct predictions
}

const (
	minProbability = 1e-15 // lower bound on probabilities, which limits the loss of a document
	numBins        = 15
)

// CalibrationAccumulator accumulates predictions for a [Calibration].
type CalibrationAccumulator struct {
	loss      float64
	lossCount int
	bins      [numBins]struct{ documents, confidence, right float64 }
}

// AddLabels adds a document with the probabilities of independent labels, and its true labels.
func (r *CalibrationAccumulator) AddLabels(p []float64, own []int) {
	for k, v := range p {
		if !slices.Contains(own, k) {
			v = 1 - v
		}
		r.addLoss(v)
		r.addToBin(max(v, 1-v), v >= 0.5)
	}
}

// Add adds a document with its class probabilities and its true classes. The log loss is for the
// most probable class if it is a true class, else for the first true class. Classes unknown to the
// model have indices from len(p) on. Add returns the largest probability, and reports whether the
// most probable class is a true class.
func (r *CalibrationAccumulator) Add(p []float64, own []int) (confidence float64, right bool) {
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
		r.addLoss(p[is])
	}
	r.addToBin(p[best], is == best)
	return p[best], is == best
}

func (r *CalibrationAccumulator) addLoss(p float64) {
	r.loss -= math.Log(max(p, minProbability))
	r.lossCount++
}

func (r *CalibrationAccumulator) addToBin(confidence float64, right bool) {
	at := &r.bins[min(max(int(math.Ceil(confidence*numBins))-1, 0), numBins-1)]
	at.documents++
	at.confidence += confidence
	if right {
		at.right++
	}
}

// Calibration returns the calibration of the added documents.
func (r *CalibrationAccumulator) Calibration() *Calibration {
	c, n := &Calibration{LogLoss: r.loss / float64(r.lossCount)}, 0.0
	for _, b := range r.bins {
		c.ECE += math.Abs(b.confidence - b.right)
		if n += b.documents; b.documents > 0 {
			c.Bins = append(c.Bins, Bin{int(b.documents), b.confidence / b.documents, b.right / b.documents})
		}
	}
	c.ECE /= n
	return c
}

// calibration returns the calibration of probabilities: p[i][k] is for document i and class k. It
// skips documents with nil probabilities and, unless labels are independent, unlabelled documents.
// It returns nil if all documents are skipped.
func (t *tally) calibration(p [][]float64, separate bool) *Calibration {
	r, some := &CalibrationAccumulator{}, false
	for i, own := range p {
		of := t.classesOf(i)
		if own == nil || t.numModelClasses == 0 || !separate && len(of) == 0 {
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
