package learn

import (
	"math"
	"strconv"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/model"
)

// PredictionRow describes the prediction of a document.
type PredictionRow struct {
	Document       string   `json:"document"`       // file name, or number from 1
	Text           string   `json:"text,omitempty"` // text of the document; "" if texts weren't kept
	Truth          string   `json:"truth,omitempty"`
	Prediction     string   `json:"prediction"`             // labels joined by commas
	Probability    *float64 `json:"probability,omitempty"`  // probability of the prediction, if known
	SecondClass    string   `json:"second,omitempty"`       // second class; the most probable class if rejected
	Margin         float64  `json:"margin"`                 // decision value f, see [DocumentExplanation]
	Nearest        *float64 `json:"nearest,omitempty"`      // largest kernel value with a training document
	Rank           *float64 `json:"nearest_rank,omitempty"` // rank of Nearest, small for novel documents
	KnownTermCount int      `json:"terms_known"`            // number of distinct known terms
	Note           string   `json:"note,omitempty"`         // NoKnownTerm or ""
}

// NoKnownTerm is the note for a document without known terms, which is predicted like an empty
// document.
const NoKnownTerm = "no known word"

func PredictionRows(m Model, p *model.Prediction, c *corpus.Corpus) ([]PredictionRow, error) {
	a := m.About()
	l := &PredictionWriter{About: a, Prediction: p}
	out := make([]PredictionRow, l.DocumentCount())
	for i := range out {
		r := &out[i]
		labels := a.Labels(p, i)
		r.Document, r.Prediction = strconv.Itoa(i+1), strings.Join(labels, ",")
		if c.Names != nil {
			r.Document = c.Names[i]
		}
		r.Text = c.Text(i)
		if len(c.Labels.IDs) > 0 {
			var truth []string
			for _, id := range c.Labels.Classes(i) {
				truth = append(truth, c.Classes[id])
			}
			r.Truth = strings.Join(truth, ",")
		}
		terms, _ := c.Documents.Row(i)
		if r.KnownTermCount = a.CountKnown(terms); r.KnownTermCount == 0 && a.Kernel != model.Precomputed {
			r.Note = NoKnownTerm
		}
		if p.Ranks != nil {
			if r.Rank = &p.Ranks[i]; !math.IsNaN(p.NearestValues[i]) {
				r.Nearest = &p.NearestValues[i]
			}
		}
		var err error
		if r.Margin, r.SecondClass, err = a.Margin(m, p, i); err != nil {
			return nil, err
		}
		if p.ClassIndices != nil && i < len(p.Rejected) && p.Rejected[i] {
			r.SecondClass = a.Classes[p.ClassIndices[i]]
		}
		if p.Probabilities != nil && p.ClassIndices != nil {
			r.Probability = &p.Probabilities[i][p.ClassIndices[i]]
		} else if p.Probabilities != nil && p.Labels != nil && len(p.Labels[i]) == 1 {
			r.Probability = &p.Probabilities[i][p.Labels[i][0]]
		}
	}
	return out, nil
}
