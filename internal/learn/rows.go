package learn

import (
	"math"
	"strconv"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/model"
)

// Row describes the prediction of a document.
type Row struct {
	Document    string   `json:"document"`       // file name, or number from 1
	Text        string   `json:"text,omitempty"` // set if texts were kept
	Truth       string   `json:"truth,omitempty"`
	Prediction  string   `json:"prediction"`             // labels joined by commas
	Probability *float64 `json:"probability,omitempty"`  // probability of the prediction, if known
	Second      string   `json:"second,omitempty"`       // second class; the most probable class if rejected
	Margin      float64  `json:"margin"`                 // decision value f, see [DocumentExplanation]
	Nearest     *float64 `json:"nearest,omitempty"`      // largest kernel value with a training document
	Rank        *float64 `json:"nearest_rank,omitempty"` // rank of Nearest: small means new, see [Novelty]
	Known       int      `json:"terms_known"`            // number of distinct known terms
	Note        string   `json:"note,omitempty"`         // NoKnownTerm, or empty
}

// NoKnownTerm is the note for a document without known terms, which is predicted like an empty
// document.
const NoKnownTerm = "no known word"

// RowsOf returns a description of each document's prediction.
func RowsOf(m Model, p *model.Prediction, c *corpus.Corpus) ([]Row, error) {
	a := m.About()
	l := &Lines{Of: a, P: p}
	out := make([]Row, l.Documents())
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
			for _, id := range c.Labels.Of(i) {
				truth = append(truth, c.Classes[id])
			}
			r.Truth = strings.Join(truth, ",")
		}
		terms, _ := c.Documents.Row(i)
		if r.Known = a.Known(terms); r.Known == 0 && a.Kernel != model.Precomputed {
			r.Note = NoKnownTerm
		}
		if p.Rank != nil {
			if r.Rank = &p.Rank[i]; !math.IsNaN(p.Nearest[i]) {
				r.Nearest = &p.Nearest[i]
			}
		}
		var err error
		if r.Margin, r.Second, err = a.Margin(m, p, i); err != nil {
			return nil, err
		}
		if p.Class != nil && i < len(p.Rejected) && p.Rejected[i] {
			r.Second = a.Classes[p.Class[i]]
		}
		if p.Probabilities != nil && p.Class != nil {
			r.Probability = &p.Probabilities[i][p.Class[i]]
		} else if p.Probabilities != nil && p.Labels != nil && len(p.Labels[i]) == 1 {
			r.Probability = &p.Probabilities[i][p.Labels[i][0]]
		}
	}
	return out, nil
}
