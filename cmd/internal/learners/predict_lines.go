package learners

import (
	"context"
	"io"

	"github.com/gramengine/gram/internal/learn"
)

// writeLines writes the header, if the format has one, and a line per document.
func writeLines(ctx context.Context, w io.Writer, l *learn.PredictionWriter) error {
	if _, err := io.WriteString(w, l.Header()); err != nil {
		return err
	}
	return l.Write(ctx, w)
}

// predictionObject is the prediction for a document in the JSON report.
type predictionObject struct {
	Name          string    `json:"name,omitempty"` // name of the document; empty unless -names is set
	Labels        []string  `json:"labels"`
	Value         *float64  `json:"value,omitempty"` // estimate of a regression, or decision value of one_class
	Probabilities []float64 `json:"probabilities,omitempty"`
	Decisions     []float64 `json:"decisions,omitempty"`
}

func predictionObjects(l *learn.PredictionWriter) []predictionObject {
	out := make([]predictionObject, l.DocumentCount())
	for i := range out {
		out[i].Labels = l.About.Labels(l.Prediction, i)
		if l.FirstCell != nil {
			out[i].Name = l.FirstCell(i)
		}
		if l.Prediction.Values != nil {
			out[i].Value = new(l.Prediction.Values[i])
		}
		switch l.Output {
		case "probabilities":
			out[i].Probabilities = l.Prediction.Probabilities[i]
		case "decisions":
			out[i].Decisions = l.Prediction.DecisionValues[i]
		}
	}
	return out
}
