package learn

import (
	"math"
	"strconv"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/model"
)

// Row says what is known of a document that was predicted.
type Row struct {
	Document    string   `json:"document"`       // its file, or its number from 1
	Text        string   `json:"text,omitempty"` // where texts were kept
	Truth       string   `json:"truth,omitempty"`
	Prediction  string   `json:"prediction"`             // several labels have commas between them
	Probability *float64 `json:"probability,omitempty"`  // of the prediction, where the model has them
	Second      string   `json:"second,omitempty"`       // the class that comes second; of ? that which it would be
	Margin      float64  `json:"margin"`                 // the decision value f, see [DocumentExplanation]
	Nearest     *float64 `json:"nearest,omitempty"`      // the greatest kernel value to a training document
	Rank        *float64 `json:"nearest_rank,omitempty"` // among these documents' own: small is new, see [Novelty]
	Known       int      `json:"terms_known"`            // different terms that the model knows
	Note        string   `json:"note,omitempty"`         // NoKnownWord, or nothing
}

// NoKnownWord notes a document of which the model knows nothing: what is predicted is that of an empty one.
const NoKnownWord = "no known word"

// RowsOf describes predictions of a corpus, one row per document.
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
			r.Note = NoKnownWord
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
