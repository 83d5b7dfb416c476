package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/report"
)

// maxTexts limits the number of texts or rows in a request. maxN limits the parameter n.
// maxExplained limits the size in bytes of a text to explain.
const maxTexts, maxN, maxExplained = 1000, 1000, 64 << 10

// request is the decoded body of a request.
type request struct {
	corpus.Raw
	n int // number of terms or neighbours to return
}

// byteOrderMark is ignored at the start of a body.
const byteOrderMark = "\ufeff"

// decode decodes a JSON or plain-text body. columns is nil if the model predicts texts.
func decode(contentType string, body []byte, columns corpus.Columns) (*request, error) {
	kind, parameters, err := mime.ParseMediaType(contentType)
	charset := strings.ToLower(parameters["charset"])
	body = bytes.TrimPrefix(body, []byte(byteOrderMark))
	q := &request{n: 10}
	switch {
	case !utf8.Valid(body):
		return nil, newStatusError(http.StatusUnsupportedMediaType, "the body is not UTF-8")
	case contentType != "" && err != nil || charset != "" && charset != "utf-8" && charset != "us-ascii":
		return nil, newStatusError(http.StatusUnsupportedMediaType,
			"content type must be application/json or text/plain in UTF-8, "+
				"got %q", contentType)
	case kind == "application/json" && columns != nil:
		return q, q.parseRows(body, columns)
	case kind == "application/json":
		return q, q.parse(body)
	case columns != nil:
		return nil, newStatusError(http.StatusUnsupportedMediaType,
			"content type must be application/json with the keys %s, got %q",
			report.Join(columns.Names()), contentType)
	case kind == "" || kind == "text/plain":
		q.Texts = []string{string(body)}
		return q, nil
	}
	return nil, newStatusError(http.StatusUnsupportedMediaType,
		"content type must be application/json or text/plain, got %s",
		kind)
}

// parse parses a JSON body with texts.
func (q *request) parse(body []byte) error {
	bad := func(format string, args ...any) error {
		return newStatusError(http.StatusBadRequest,
			`the body must be {"text": "..."} or {"texts": ["...", ...]}, got `+format,
			args...)
	}
	var fields map[string]json.RawMessage
	var syntax *json.SyntaxError
	if err := json.Unmarshal(body, &fields); errors.As(err, &syntax) {
		return bad("invalid JSON: %v at byte %d", syntax, syntax.Offset)
	} else if err != nil || fields == nil {
		return bad("%s", jsonType(body))
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		value := fields[key]
		switch key {
		case "text":
			var text *string
			if json.Unmarshal(value, &text) != nil || text == nil {
				return bad(`%s for "text"`, jsonType(value))
			}
			q.Texts = []string{*text}
		case "texts":
			var texts []*string
			var wrong *json.UnmarshalTypeError
			if err := json.Unmarshal(value, &texts); errors.As(err, &wrong) && value[0] == '[' {
				return bad(`a value of type %s in "texts"`, wrong.Value)
			} else if err != nil || texts == nil {
				return bad(`%s for "texts"`, jsonType(value))
			}
			if len(texts) < 1 || len(texts) > maxTexts {
				return newStatusError(http.StatusBadRequest, "number of texts must be between 1 and %d, got %d", maxTexts,
					len(texts))
			}
			if at := slices.Index(texts, nil); at >= 0 {
				return bad(`null at %d of "texts"`, at)
			}
			for _, text := range texts {
				q.Texts = append(q.Texts, *text)
			}
		case "n":
			if err := q.parseN(value); err != nil {
				return err
			}
		default:
			return bad("the key %q", key)
		}
	}
	if (fields["text"] != nil) == (fields["texts"] != nil) {
		return newStatusError(http.StatusBadRequest, `either "text" or "texts" is required, but not both`)
	}
	return nil
}

func (q *request) parseN(value []byte) error {
	var n *float64
	if json.Unmarshal(value, &n) != nil || n == nil {
		return newStatusError(http.StatusBadRequest, `"n" must be an integer between 1 and %d, got %s`, maxN, jsonType(value))
	} else if !(*n >= 1 && *n <= maxN) || *n != math.Trunc(*n) {
		return newStatusError(http.StatusBadRequest, `"n" must be an integer between 1 and %d, got %s`, maxN, value)
	}
	q.n = int(*n)
	return nil
}

// parseRows parses a JSON body with rows: an object with a key per column, an array of such
// objects, or {"rows": [...], "n": 10}.
func (q *request) parseRows(body []byte, columns corpus.Columns) error {
	bad := func(format string, args ...any) error {
		return newStatusError(http.StatusBadRequest,
			"the body must be an object with the keys %s, or an array of objects, got %s",
			report.Join(columns.Names()), fmt.Sprintf(format, args...))
	}
	if syntax := json.Unmarshal(body, new(any)); syntax != nil {
		return bad("invalid JSON: %v", syntax)
	}
	list := []json.RawMessage{body}
	switch jsonType(body) {
	case "an array":
		json.Unmarshal(body, &list)
	case "an object":
		var fields map[string]json.RawMessage
		json.Unmarshal(body, &fields)
		rows, wrapped := fields["rows"]
		if !wrapped || slices.Contains(columns.Names(), "rows") {
			break
		}
		if jsonType(rows) != "an array" {
			return bad(`%s for "rows"`, jsonType(rows))
		}
		json.Unmarshal(rows, &list)
		for key, value := range fields {
			switch key {
			case "rows":
			case "n":
				if err := q.parseN(value); err != nil {
					return err
				}
			default:
				return bad(`the key %q in addition to "rows"`, key)
			}
		}
	default:
		return bad("%s", jsonType(body))
	}
	if len(list) < 1 || len(list) > maxTexts {
		return newStatusError(http.StatusBadRequest, "number of rows must be between 1 and %d, got %d", maxTexts, len(list))
	}
	q.Columns = columns.Names()
	for i, row := range list {
		fields, err := columns.ParseObject(row)
		if err != nil {
			return newStatusError(http.StatusBadRequest, "row %d: %v", i, err)
		}
		q.Rows = append(q.Rows, fields)
	}
	return nil
}

// jsonType returns the name of a JSON value's type, with an article.
func jsonType(value []byte) string {
	switch value = bytes.TrimLeft(value, " \t\r\n"); value[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// computeHandler returns a handler that decodes the request body and calls answer.
func computeHandler(answer func(context.Context, *loadedModel, *request, *response) error, explains bool) func(
	*service, http.ResponseWriter, *http.Request, *response) error {
	return func(s *service, w http.ResponseWriter, r *http.Request, out *response) error {
		return s.compute(w, r, explains, func(ctx context.Context, body []byte, l *loadedModel) error {
			q, err := decode(r.Header.Get("Content-Type"), body, l.columns)
			if err != nil {
				return err
			}
			s.metricSet.GetOrCreateCounter(fmt.Sprintf("gram_texts_total{path=%q}", r.URL.Path)).Add(q.Len())
			return answer(ctx, l, q, out)
		})
	}
}

// predictionObject is the JSON object of a prediction for a text or row. It has no labels in a
// regression, and no second class in a multi-label model.
type predictionObject struct {
	Labels        []string `json:"labels"`
	Probability   *float64 `json:"probability,omitempty"` // probability of the first label
	Value         *float64 `json:"value,omitempty"`       // estimate of a regression
	Margin        *float64 `json:"margin,omitempty"`      // decision value for the prediction against SecondClass, if any
	SecondClass   string   `json:"second,omitempty"`
	NumKnownWords int      `json:"words_known"`
	NumWords      int      `json:"words"`
	Note          string   `json:"note,omitempty"` // remark, for example that no word of the text is known
	// Threshold is set if the prediction is rejected. Probability then refers to SecondClass.
	Threshold float64 `json:"threshold,omitempty"`
}

// batchSize is the number of texts predicted at a time. It is small, because decision values for
// many classes need more memory than the texts.
const batchSize = 64

func predict(ctx context.Context, l *loadedModel, q *request, out *response) error {
	before := `{"predictions":[`
	for first := 0; first < q.Len(); first += batchSize {
		some := q.Raw
		if end := min(first+batchSize, q.Len()); some.Rows != nil {
			some.Rows = some.Rows[first:end]
		} else {
			some.Texts = some.Texts[first:end]
		}
		p, err := l.predict(ctx, some)
		if err != nil {
			return err
		}
		for i := range some.Len() {
			if err := out.add(before, l.prediction(p, i), ""); err != nil {
				return err
			}
			before = ","
		}
	}
	_, err := out.Write([]byte("]}\n"))
	return err
}

func (l *loadedModel) predict(ctx context.Context, raw corpus.Raw) (*gram.Predictions, error) {
	if raw.Rows != nil {
		return l.model.PredictRows(ctx, raw.Columns, raw.Rows)
	}
	return l.model.PredictTexts(ctx, raw.Texts)
}

// explain explains the prediction for the first text or row.
func (l *loadedModel) explain(ctx context.Context, raw corpus.Raw, n int) (*gram.DocumentExplanation, error) {
	if raw.Rows != nil {
		return l.model.ExplainRow(ctx, raw.Columns, raw.Rows[0], n)
	}
	return l.model.ExplainText(ctx, raw.Texts[0], n)
}

func (l *loadedModel) prediction(p *gram.Predictions, i int) predictionObject {
	out := predictionObject{Labels: []string{}, NumKnownWords: p.KnownWordCounts[i], NumWords: p.WordCounts[i]}
	var notes []string
	if p.Empty[i] {
		notes = append(notes, learn.NoKnownTerm)
	}
	if p.Remarks != nil {
		notes = append(notes, p.Remarks[i]...)
	}
	out.Note = strings.Join(notes, "; ")
	switch {
	case p.Values != nil:
		out.Value = &p.Values[i]
		return out
	case p.Margins != nil:
		out.Margin, out.SecondClass = &p.Margins[i], p.SecondClasses[i]
	}
	out.Labels = append(out.Labels, p.Labels[i]...)
	label := p.Label(i)
	if p.Rejected != nil && p.Rejected[i] {
		label, out.Threshold = p.SecondClasses[i], l.minProbability
	}
	class, ok := l.classes[label]
	if !ok || p.Probabilities == nil {
		return out
	}
	out.Probability = &p.Probabilities[i][class]
	if refusal := out.rejectionReason(); refusal != "" {
		out.Note = strings.TrimPrefix(out.Note+"; "+refusal, "; ")
	}
	return out
}

// rejectionReason returns the reason for rejecting a prediction, or "". It rounds the probability
// down and the threshold up, so that the printed probability is below the threshold.
func (p *predictionObject) rejectionReason() string {
	if p.Threshold == 0 || p.Probability == nil {
		return ""
	}
	return fmt.Sprintf("No answer: the most probable class is %s (%.2f, below the threshold %.4g)",
		report.Truncate(p.SecondClass),
		math.Floor(100**p.Probability)/100, math.Ceil(1000*p.Threshold)/1000)
}

func explain(ctx context.Context, l *loadedModel, q *request, out *response) error {
	if q.Len() != 1 {
		return newStatusError(http.StatusBadRequest, "only one text can be explained per request, got %d", q.Len())
	}
	if n := len(q.Text(0)); n > maxExplained {
		return newStatusError(http.StatusRequestEntityTooLarge, "text to explain must have at most %d bytes, got %d",
			maxExplained, n)
	}
	why, err := l.explain(ctx, q.Raw, q.n)
	if err != nil {
		return err
	}
	return out.writeJSON(why)
}

// neighbourObject is the JSON object of a neighbour among the -of texts.
type neighbourObject struct {
	Document string   `json:"document"` // file name, or index from 1
	Labels   []string `json:"labels,omitempty"`
	Value    float32  `json:"c"`
}

func neighbours(ctx context.Context, l *loadedModel, q *request, out *response) error {
	if l.index == nil {
		return newStatusError(http.StatusNotFound,
			"neighbour search is disabled; start the server with -of SOURCE to enable it")
	}
	before := `{"neighbours":[[`
	for i := range q.Len() {
		found, err := l.index.Query(ctx, []string{q.Text(i)}, gram.IndexQuery{K: q.n})
		if err != nil {
			return err
		}
		if _, err := out.Write([]byte(before)); err != nil {
			return err
		}
		before = ""
		for _, m := range found[0] {
			n := neighbourObject{Document: strconv.Itoa(m.Document + 1), Value: m.C}
			if l.texts.Names != nil {
				n.Document = l.texts.Names[m.Document]
			}
			if len(l.texts.Labels.IDs) > 0 {
				for _, id := range l.texts.Labels.Classes(m.Document) {
					n.Labels = append(n.Labels, l.texts.Classes[id])
				}
			}
			if err := out.add(before, n, ""); err != nil {
				return err
			}
			before = ","
		}
		before = "],["
	}
	_, err := out.Write([]byte("]]}\n"))
	return err
}
