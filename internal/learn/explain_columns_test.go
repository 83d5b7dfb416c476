package learn

import (
	"math"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/corpus/token"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// A column's effect is the loss in decision value when its terms are removed by hand. Notes name
// missing, unseen and extrapolated values.
func TestExplainColumns(t *testing.T) {
	columns := []string{"title", "body", "zip", "price"}
	rows := [][]string{{"red bike", "for sale", "07", "1"}, {"a house", "wanted", "11", "9"},
		{"blue bike", "sale", "07", ""}, {"flat", "is wanted", "11", "8"}, {"bike", "old", "", "2"},
		{"house", "big", "11", "7"}}
	opt := corpus.Options{MinDF: 1, Tokenizer: musttest.Get(token.ParseViews(
		"title,body=words + zip=categories + price=numbers"))(t)}
	c := musttest.Get(corpus.FromRows(t.Context(), columns, rows, strings.Fields("a b a b a b"), opt))(t)
	trainer := TrainerOf(t, "c_svc")
	m := musttest.Get(trainer.Train(t.Context(), c, Options{}))(t)
	a := m.About()
	counter := musttest.Get(corpus.NewCounter(a.Tokenizer, a.Vocabulary))(t)
	for _, row := range [][]string{
		{"red bike", "wanted", "07", "5"}, {"a bike", "", "99", "30"}, {"a house", "x", "", ""},
	} {
		raw := corpus.Raw{Columns: a.Tokenizer.Columns().Names(), Rows: [][]string{row}}
		docs, _, err := counter.CountUnknown(t.Context(), raw)
		musttest.NoError(t, err)
		value := func(docs *sparse.CSR) float64 {
			p := musttest.Get(m.Predict(t.Context(), docs, Options{}))(t)
			return p.DecisionValues[0][0]
		}
		f := value(docs)
		sign := math.Copysign(1, f) // effects are for the predicted class
		o := Options{Predictor: musttest.Get(NewPredictor(t.Context(), m, Options{}))(t)}
		for _, e := range musttest.Get(ExplainColumns(t.Context(), m, docs, raw, 0, o))(t) {
			rest := &sparse.CSR{Cols: docs.Cols, Offsets: []int64{0}}
			terms, counts := docs.Row(0)
			for k, term := range terms {
				text := a.Tokenizer.FormatTerm(a.Vocabulary[term])
				if !strings.HasPrefix(text, e.Column+":") && !strings.HasPrefix(text, e.Column+" ") {
					rest.Terms, rest.Values = append(rest.Terms, term), append(rest.Values, counts[k])
				}
			}
			rest.Offsets = append(rest.Offsets, int64(len(rest.Terms)))
			if want := sign * (f - value(rest)); !(math.Abs(e.Effect-want) <= 1e-5*(1+math.Abs(want))) {
				t.Errorf("%q: %s has the effect %v, expected %v", row, e.Column, e.Effect, want)
			}
			want := map[string]string{"zip99": "not in training", "zip": "missing", "price": "missing",
				"price30": "outside of training, 1 to 9"}[e.Column+e.Value]
			if e.Note != want {
				t.Errorf("%q: %s has the note %q, expected %q", row, e.Column, e.Note, want)
			}
		}
	}
}
