package learners

import (
	"context"
	"io"

	"github.com/gramengine/gram/internal/learn"
)

// writeLines writes the header, if any, and a line per document.
func writeLines(ctx context.Context, w io.Writer, l *learn.Lines) error {
	if _, err := io.WriteString(w, l.Header()); err != nil {
		return err
	}
	return l.Write(ctx, w)
}

// predictedObject is the prediction for a document in the JSON report.
type predictedObject struct {
	Name          string    `json:"name,omitempty"` // name of the document, with -names
	Labels        []string  `json:"labels"`
	Value         *float64  `json:"value,omitempty"` // estimate of a regression, or decision value of one_class
	Probabilities []float64 `json:"probabilities,omitempty"`
	Decisions     []float64 `json:"decisions,omitempty"`
}

// objectsOf converts predictions to JSON objects.
func objectsOf(l *learn.Lines) []predictedObject {
	out := make([]predictedObject, l.Documents())
	for i := range out {
		out[i].Labels = l.Of.Labels(l.P, i)
		if l.Name != nil {
			out[i].Name = l.Name(i)
		}
		if l.P.Value != nil {
			out[i].Value = new(l.P.Value[i])
		}
		switch l.What {
		case "probabilities":
			out[i].Probabilities = l.P.Probabilities[i]
		case "decisions":
			out[i].Decisions = l.P.Decisions[i]
		}
	}
	return out
}
