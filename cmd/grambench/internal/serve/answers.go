package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/learn"
)

// Bounds on a request: its texts, the terms or neighbours that it asks for, and the bytes of a text to explain.
const mostTexts, mostNamed, mostExplained = 1000, 1000, 64 << 10

// request is the body of a request.
type request struct {
	Text  *string  `json:"text"`
	Texts []string `json:"texts"`
	N     *int     `json:"n"` // terms or neighbours, 10 where it isn't given
}

// decode reads a body of JSON or of plain text, and brings text into Texts and the default into N.
func decode(contentType string, body []byte) (*request, error) {
	kind, parameters, err := mime.ParseMediaType(contentType)
	charset := strings.ToLower(parameters["charset"])
	q := &request{}
	switch {
	case !utf8.Valid(body):
		return nil, failed(http.StatusUnsupportedMediaType, "a body that isn't UTF-8, expected UTF-8")
	case contentType != "" && err != nil || charset != "" && charset != "utf-8" && charset != "us-ascii":
		return nil, failed(http.StatusUnsupportedMediaType, "content type %q, expected application/json or text/plain, "+
			"in UTF-8", contentType)
	case kind == "application/json":
		d := json.NewDecoder(bytes.NewReader(body))
		d.DisallowUnknownFields()
		if err := d.Decode(q); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = errors.New("it ends too soon")
			}
			return nil, failed(http.StatusBadRequest, `not the JSON expected, {"text": "..."} or {"texts": [...]}: %s`,
				strings.TrimPrefix(err.Error(), "json: "))
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return nil, failed(http.StatusBadRequest, "something follows the JSON object, expected one object")
		}
	case kind == "" || kind == "text/plain":
		text := string(body)
		q.Text = &text
	default:
		return nil, failed(http.StatusUnsupportedMediaType, "content type %s, expected application/json or text/plain",
			kind)
	}
	if (q.Text != nil) == (q.Texts != nil) {
		return nil, failed(http.StatusBadRequest, `expected "text" or "texts", and not both`)
	}
	if q.Text != nil {
		q.Texts = []string{*q.Text}
	}
	if len(q.Texts) < 1 || len(q.Texts) > mostTexts {
		return nil, failed(http.StatusBadRequest, "%d texts, expected 1 to %d", len(q.Texts), mostTexts)
	}
	if q.N == nil {
		n := 10
		q.N = &n
	}
	if *q.N < 1 || *q.N > mostNamed {
		return nil, failed(http.StatusBadRequest, `"n" is %d, expected 1 to %d`, *q.N, mostNamed)
	}
	return q, nil
}

// computing is the handler of a path that answers what a body asks.
func computing(answer func(context.Context, *loaded, *request) (any, error), explains bool) func(
	*service, http.ResponseWriter, *http.Request) (*reply, error) {
	return func(s *service, w http.ResponseWriter, r *http.Request) (*reply, error) {
		return s.compute(w, r, explains, func(ctx context.Context, body []byte, l *loaded) (*reply, error) {
			q, err := decode(r.Header.Get("Content-Type"), body)
			if err != nil {
				return nil, err
			}
			s.set.GetOrCreateCounter(fmt.Sprintf("gram_texts_total{path=%q}", r.URL.Path)).Add(len(q.Texts))
			v, err := answer(ctx, l, q)
			if err != nil {
				return nil, err
			}
			return jsonReply(v)
		})
	}
}

// prediction is what is said of a text. Numbers have no labels, labels of their own no second class.
type prediction struct {
	Labels      []string `json:"labels"`
	Probability *float64 `json:"probability,omitempty"` // of the first label
	Value       *float64 `json:"value,omitempty"`       // of a regression
	Margin      *float64 `json:"margin,omitempty"`      // the decision value by which the label leads
	Second      string   `json:"second,omitempty"`
	Known       int      `json:"words_known"`
	Words       int      `json:"words"`
	Note        string   `json:"note,omitempty"`      // no known word
	Threshold   float64  `json:"threshold,omitempty"` // of a text without an answer: Probability, that of Second, is below it
}

func predict(ctx context.Context, l *loaded, q *request) (any, error) {
	p, err := l.model.PredictTexts(ctx, q.Texts)
	if err != nil {
		return nil, err
	}
	out := make([]prediction, len(q.Texts))
	for i := range out {
		out[i] = l.prediction(p, i)
	}
	return map[string]any{"predictions": out}, nil
}

func (l *loaded) prediction(p *gram.Predictions, i int) prediction {
	out := prediction{Labels: []string{}, Known: p.Known[i], Words: p.Words[i]}
	if p.Empty[i] {
		out.Note = learn.NoKnownWord
	}
	switch {
	case p.Values != nil:
		out.Value = &p.Values[i]
		return out
	case p.Margins != nil:
		out.Margin, out.Second = &p.Margins[i], p.Seconds[i]
	}
	out.Labels = append(out.Labels, p.Labels[i]...)
	label := p.Label(i)
	if p.Rejected != nil && p.Rejected[i] {
		label, out.Threshold = p.Seconds[i], l.below
	}
	class, ok := l.classes[label]
	if !ok || p.Probabilities == nil {
		return out
	}
	out.Probability = &p.Probabilities[i][class]
	return out
}

func explain(ctx context.Context, l *loaded, q *request) (any, error) {
	if len(q.Texts) != 1 {
		return nil, failed(http.StatusBadRequest, "%d texts to explain, expected 1", len(q.Texts))
	}
	if n := len(q.Texts[0]); n > mostExplained {
		return nil, failed(http.StatusRequestEntityTooLarge, "a text of %d bytes to explain, expected %d at most", n,
			mostExplained)
	}
	return l.model.ExplainText(ctx, q.Texts[0], *q.N)
}

// neighbour is a document of -of.
type neighbour struct {
	Document string   `json:"document"` // its file, or its number from 1
	Labels   []string `json:"labels,omitempty"`
	C        float32  `json:"c"`
}

func neighbours(ctx context.Context, l *loaded, q *request) (any, error) {
	if l.index == nil {
		return nil, failed(http.StatusNotFound, "no texts to compare with: serve -of SOURCE has them")
	}
	found, err := l.index.Query(ctx, q.Texts, gram.IndexQuery{K: *q.N})
	if err != nil {
		return nil, err
	}
	out := make([][]neighbour, len(found))
	for i, list := range found {
		for _, m := range list {
			n := neighbour{Document: strconv.Itoa(m.Document + 1), C: m.C}
			if l.texts.Names != nil {
				n.Document = l.texts.Names[m.Document]
			}
			if len(l.texts.Labels.IDs) > 0 {
				for _, id := range l.texts.Labels.Of(m.Document) {
					n.Labels = append(n.Labels, l.texts.Classes[id])
				}
			}
			out[i] = append(out[i], n)
		}
	}
	return map[string]any{"neighbours": out}, nil
}
