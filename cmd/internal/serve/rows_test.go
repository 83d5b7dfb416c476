package serve

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus/token"
	"github.com/gramengine/gram/internal/musttest"
)

var ticketColumns = []string{"subject", "product", "priority"}

// tickets returns a service for a model of rows, which are also the candidates for neighbours.
func tickets(t testing.TB) *service {
	t.Helper()
	rows := [][]string{
		{"printer jam", "R&D <2>", "1"}, {"printer toner empty", "R&D <2>", "2"}, {"printer on fire", "", "1"},
		{"invoice wrong", "shop", "5"}, {"invoice twice", "shop", "4"}, {"refund missing", "shop", ""},
	}
	read := gram.ReadOptions{MinDF: 1,
		Tokenizer: gram.Must(token.ParseViews("subject=words + product=categories + priority=numbers"))}
	labels := []string{"help", "help", "help", "money", "money", "money"}
	c := gram.Must(gram.FromRows(t.Context(), ticketColumns, rows, labels, read))
	model := filepath.Join(t.TempDir(), "tickets.model")
	musttest.NoError(t, gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Kernel: "linear", C: 1})).Save(model))
	s := newService(2, 1<<14, time.Minute)
	s.setModel(musttest.Get((&serveFlags{model: model}).load(t.Context()))(t))
	return s
}

// Rows are sent as an object, an array, or with n. Predictions are the same as in package gram.
func TestRows(t *testing.T) {
	s := tickets(t)
	m := s.current.Load().model
	for _, c := range []struct {
		body string
		rows [][]string
	}{
		{`{"subject": "printer", "product": "R&D <2>", "priority": 1}`, [][]string{{"printer", "R&D <2>", "1"}}},
		{`{"priority": "4.50", "subject": "a refund", "product": null}`, [][]string{{"a refund", "", "4.5"}}},
		{`{"subject": "printer"}`, [][]string{{"printer", "", ""}}},
		{`[{"subject": "printer"}, {"subject": "invoice", "priority": 5}]`,
			[][]string{{"printer", "", ""}, {"invoice", "", "5"}}},
		{`{"rows": [{"subject": "printer", "product": true}], "n": 3}`, [][]string{{"printer", "true", ""}}},
		{"\ufeff" + ` {"subject": "printer", "product": "shop", "priority": "NA", "id": 17, "more": ["x"]} `,
			[][]string{{"printer", "shop", ""}}},
	} {
		body, rows := c.body, c.rows
		r := ask(s, "POST", "/predict", asJSON, body)
		var got struct{ Predictions []predictionObject }
		if err := json.Unmarshal([]byte(bodyOf(t, r)), &got); err != nil || r.StatusCode != 200 {
			t.Fatal(body, r.Status, got, err)
		}
		want := gram.Must(m.PredictRows(t.Context(), ticketColumns, rows))
		for i, p := range got.Predictions {
			if p.Labels[0] != want.Label(i) || *p.Margin != want.Margins[i] || p.NumWords != want.WordCounts[i] {
				t.Errorf("%s: row %d: %+v, expected %+v", body, i, p, want)
			}
		}
		if len(got.Predictions) != len(rows) {
			t.Errorf("%s: %d predictions, expected %d", body, len(got.Predictions), len(rows))
		}
	}
	unseen := bodyOf(t, ask(s, "POST", "/predict", asJSON, `{"subject": "printer", "product": "ZZ", "priority": 9}`))
	if want := `"note":"product = ZZ (not in training); priority = 9 (outside of training, 1 to 5)"`; !strings.Contains(
		unseen, want) {
		t.Errorf("%s, expected %s", unseen, want)
	}
	why := bodyOf(t, ask(s, "POST", "/explain", asJSON, `{"rows": [{"subject": "printer", "priority": 5}], "n": 2}`))
	want, _ := json.Marshal(gram.Must(m.ExplainRow(t.Context(), ticketColumns, []string{"printer", "", "5"}, 2)))
	if why != string(want)+"\n" {
		t.Errorf("explained by %s, expected %s", why, want)
	}
}

// Errors in a row name the column, and never a Go type.
func TestBadRows(t *testing.T) {
	s := tickets(t)
	const keys = "the body must be an object with the keys subject, product, priority"
	for _, c := range [][2]string{
		{`{"priority": 3}`, "column subject: no such column among priority"},
		{`{"subject": "a", "priority": "high"}`, `\"high\" in the column priority`},
		{`{"subject": ["a"]}`, `column subject: the value \"[a]\", expected a string, a number or null`},
		{`{"subject": "a", "prority": 3}`, `column product: missing key, but unknown key \"prority\"`},
		{`[{"subject": "a"}, {"subject": "b", "priority": []}]`, `row 1: column priority: the value \"[]\"`},
		{`["a"]`, `row 0: \"\\\"a\\\"\" is not a JSON object with the keys subject, product, priority`},
		{`"a"`, keys + ", or an array of objects, got a string"},
		{`[]`, "number of rows must be between 1 and 1000, got 0"},
		{`{"rows": {"subject": "a"}}`, `an object for \"rows\"`},
		{`{"rows": [{}], "k": 3}`, `the key \"k\" in addition to \"rows\"`},
		{`{"rows": [{}], "n": 0}`, `\"n\" must be an integer between 1 and 1000, got 0`},
		{`{"text": {"subject": "a"}}`, "column subject: no such column among text"},
		{`{"subject": "a"`, "invalid JSON"},
		{`{"text": "{\"subject\": \"\"}"}`, "column subject: no such column among text"},
	} {
		body, want := c[0], c[1]
		r := ask(s, "POST", "/predict", asJSON, body)
		if got := bodyOf(t, r); r.StatusCode != 400 || !strings.Contains(got, want) || strings.Contains(got, "Go ") ||
			strings.Contains(got, "struct") {
			t.Errorf("%s: %s %s, expected %s", body, r.Status, got, want)
		}
	}
	r := ask(s, "POST", "/predict", "text/plain", "printer")
	if got := bodyOf(t, r); r.StatusCode != 415 || !strings.Contains(got, "keys subject, product, priority") {
		t.Errorf("plain text: %s %s", r.Status, got)
	}
}

// The form has a field per column, of a suitable kind, and keeps the submitted values.
func TestPageOfRows(t *testing.T) {
	s := tickets(t)
	page := bodyOf(t, ask(s, "GET", "/", "", ""))
	for _, want := range []string{
		`<label for="c0">subject</label>` + "\n" + `<textarea id="c0" name="subject" rows="4">`,
		`<label for="c1">product (category)</label>` + "\n" + `<select id="c1" name="product">`,
		`<option value="R&amp;D &lt;2&gt;">R&amp;D &lt;2&gt;</option>`, `<option value="shop">shop</option>`,
		`<label for="c2">priority (number)</label>` + "\n" + `<input id="c2" name="priority" inputmode="decimal" value="">`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s:\n%s", want, page)
		}
	}
	form := url.Values{"subject": {"invoice <late>"}, "product": {"shop"}, "priority": {"5"}}.Encode()
	page = bodyOf(t, ask(s, "POST", "/", formType, form))
	for _, want := range []string{"<h2>money</h2>", "invoice &lt;late&gt;</textarea>",
		`<option value="shop" selected>shop</option>`, `value="5">`, "product: shop",
		"<td>priority = 5</td>", "<td>subject = invoice &lt;late&gt;</td>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s:\n%s", want, page)
		}
	}
	r := ask(s, "POST", "/", formType, url.Values{"subject": {"a"}, "priority": {"high"}}.Encode())
	if page = bodyOf(t, r); r.StatusCode != 400 || !strings.Contains(page, "&quot;high&quot; in the column priority") {
		t.Errorf("%s: %s", r.Status, page)
	}
}

// Any body is either refused with a 4xx status, or has rows within the limits.
func FuzzRows(f *testing.F) {
	for _, body := range []string{`{"subject": "a"}`, `[{"subject": 1, "priority": null}]`, `{"rows": [], "n": 1}`, "1"} {
		f.Add([]byte(body))
	}
	columns := token.Columns{{Name: "subject", IsText: true}, {Name: "priority", IsNumber: true}}
	f.Fuzz(func(t *testing.T, body []byte) {
		q, err := decode(asJSON, body, columns)
		if err != nil {
			if s := statusErrorOf(err).status; s != 400 && s != 415 {
				t.Errorf("%v: status %d", err, s)
			}
			return
		}
		if q.Len() < 1 || q.Len() > maxTexts || q.n < 1 || len(q.Rows[0]) != 2 {
			t.Errorf("%d rows, n %d, %q", q.Len(), q.n, q.Rows[0])
		}
	})
}
