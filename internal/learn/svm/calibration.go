package svm

import (
	"math"
	"slices"

	"github.com/gramengine/gram/corpus"
)

// Calibration says how good probabilities are of documents whose classes are known.
type Calibration struct {
	// LogLoss is the mean of -log P of the true class, at least 10⁻¹⁵; of separate labels that of all
	// decisions, documents × labels. Classes that the model doesn't know count in ECE alone.
	LogLoss float64

	// ECE is the expected calibration error: the mean over documents of how far, in the document's bin, the
	// mean of the greatest probability is from the share for which that class is right. The bins are 15
	// of equal width, (0, 1/15], …, (14/15, 1]. Of separate labels it is that of all decisions. Source: Guo
	// and others, ICML 2017, section 2.
	ECE float64

	Bins []Bin `json:"-"` // those of ECE that have documents, ascending

	Alternatives *Alternatives `json:"-"` // to the threshold of Settings.Reject; nil without
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

// reliability is a [Calibration] under way.
type reliability struct {
	loss   float64
	losses int
	bins   [calibrationBins]struct{ documents, confidence, right float64 }

	keeps   bool // answers, of a part
	part    int
	answers []answer
}

// add adds a document with its probabilities and classes, those that the model doesn't know behind its own.
func (r *reliability) add(p []float64, own []int, separate bool) {
	if separate {
		for k, v := range p {
			if !slices.Contains(own, k) {
				v = 1 - v
			}
			r.lose(v)
			r.answer(max(v, 1-v), v >= 0.5)
		}
		return
	}
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
}

func (r *reliability) lose(p float64) {
	r.loss -= math.Log(max(p, leastProbability))
	r.losses++
}

func (r *reliability) answer(confidence float64, right bool) {
	at := &r.bins[min(max(int(math.Ceil(confidence*calibrationBins))-1, 0), calibrationBins-1)]
	at.documents++
	at.confidence += confidence
	if right {
		at.right++
	}
	if r.keeps {
		r.answers = append(r.answers, answer{Probability: confidence, Right: right, Part: r.part})
	}
}

func (r *reliability) result() *Calibration {
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

// ScoreProbabilities compares probabilities with the true labels: p[i][k] is that of document i for class k,
// and nil leaves the document out. Of several classes per document, where they aren't separate labels, the
// most probable one counts if it is among them, and else the first. Documents without labels are left out
// unless labels are separate. It returns nil if none is left.
func ScoreProbabilities(classes []string, p [][]float64, separate bool, truth *corpus.Corpus) *Calibration {
	t := newTally(classes, truth)
	r, some := &reliability{}, false
	for i, own := range p {
		if own == nil {
			continue
		}
		if of := t.of(i); len(classes) > 0 && (separate || len(of) > 0) {
			r.add(own, of, separate)
			some = true
		}
	}
	if !some {
		return nil
	}
	return r.result()
}
