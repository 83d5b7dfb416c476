package learn_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/gramengine/gram/learn"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/sparse"
)

// Rows hold what lines, explanations and the corpus say, and come back from every format.
func TestRows(t *testing.T) {
	text := "a\tred, \"round\" apple\nb\tgreen pea\nc\tsour plum\na\tred cherry\nb\tgreen bean\nc\tsour  plum\tplum\n"
	opt := sparse.Options{MinDF: 1, KeepTexts: 1 << 20}
	c, err := sparse.ReadFrom(t.Context(), strings.NewReader(text), "fruit.tsv", opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range []string{"linear", "logistic", "knn:k=2"} {
		_, trainer, err := learn.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		m, err := trainer.Train(t.Context(), c, learn.Options{C: 1})
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Predict(t.Context(), c.Documents, learn.Options{})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := learn.RowsOf(m, p, c)
		if err != nil {
			t.Fatal(err)
		}
		a := m.About()
		for i, r := range rows {
			x, err := learn.ExplainDocument(t.Context(), m, c.Documents, i, 1, learn.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Prediction != a.Labels(p, i)[0] || r.Second != x.Against || r.Margin != x.Value || r.Known != x.Known ||
				r.Text != c.Texts[i] || r.Truth != c.Classes[c.Labels.Of(i)[0]] || (r.Probability != nil) != a.Probabilities {
				t.Errorf("%s: document %d: %+v, explained as %+v", spec, i, r, x)
			}
		}
		written := func(format string) *bytes.Buffer {
			var b bytes.Buffer
			if err := learn.WriteRows(t.Context(), &b, format, rows); err != nil {
				t.Fatal(err)
			}
			return &b
		}
		lines := json.NewDecoder(written("jsonl"))
		for i := range rows {
			var r learn.Row
			if err := lines.Decode(&r); err != nil || !reflect.DeepEqual(r, rows[i]) {
				t.Errorf("%s: %+v, %v, expected %+v", spec, r, err, rows[i])
			}
		}
		for format, comma := range map[string]rune{"csv": ',', "tsv": '\t'} {
			in := csv.NewReader(written(format))
			in.Comma = comma
			records, err := in.ReadAll()
			if err != nil || len(records) != len(rows)+1 {
				t.Fatalf("%s: %d records, %v", format, len(records), err)
			}
			for i, r := range rows {
				if v := records[i+1]; v[0] != r.Document || v[1] != r.Text || v[2] != r.Truth || v[3] != r.Prediction {
					t.Errorf("%s: %q, expected %+v", format, v, r)
				}
			}
		}
	}
	if err := learn.WriteRows(t.Context(), &bytes.Buffer{}, "xlsx", nil); err == nil {
		t.Error("xlsx was written")
	}
}

// Wilson's interval has the ends where a test of the true accuracy p would just reject what was seen:
// |right/n - p| = z·√(p(1-p)/n).
func TestInterval(t *testing.T) {
	for _, c := range [][2]int{{0, 1}, {1, 1}, {1, 2}, {442, 500}, {5741, 7532}, {0, 10000}} {
		s := svm.Score{Right: c[0], Documents: c[1]}
		low, high := s.Interval()
		n, seen := float64(c[1]), float64(c[0])/float64(c[1])
		if !(low < seen || low == 0 && seen == 0) || !(seen < high || high == 1 && seen == 1) {
			t.Errorf("%v: %v to %v", c, low, high)
		}
		for _, p := range []float64{low, high} {
			if p == seen && (p == 0 || p == 1) { // no p beyond it
				continue
			}
			if z := math.Abs(seen-p) / math.Sqrt(p*(1-p)/n); !(math.Abs(z-1.959963984540054) <= 1e-6) {
				t.Errorf("%v: the end %v is %v standard errors away", c, p, z)
			}
		}
	}
	if low, high := new(svm.Score).Interval(); low != 0 || high != 1 {
		t.Errorf("nothing was seen: %v to %v", low, high)
	}
}
