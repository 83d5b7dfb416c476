package source

import (
	"fmt"
	"strings"

	"github.com/gramengine/gram/internal/learn/score"
	"github.com/gramengine/gram/internal/report"
)

// Metrics are the scores of predictions. Fields that don't apply are nil. Classification has the
// fields up to ECE, with HammingLoss only for label sets. Regression has the other fields.
type Metrics struct {
	Accuracy    *float64 `json:"accuracy,omitempty"` // for label sets: fraction of documents with all labels correct
	MicroF1     *float64 `json:"micro_f1,omitempty"`
	MacroF1     *float64 `json:"macro_f1,omitempty"`
	HammingLoss *float64 `json:"hamming_loss,omitempty"`
	LogLoss     *float64 `json:"log_loss,omitempty"` // nil if there are no probabilities
	ECE         *float64 `json:"expected_calibration_error,omitempty"`
	MSE         *float64 `json:"mean_squared_error,omitempty"`
	R2          *float64 `json:"r2,omitempty"` // coefficient of determination

	SquaredCorrelation *float64 `json:"squared_correlation,omitempty"`
}

// NewMetrics returns the metrics in s for regression, for label sets (labels), or for classes.
func NewMetrics(s *score.Score, regression, labels bool) (f Metrics) {
	of := func(v float64) *float64 { return new(v) }
	if regression {
		f.MSE, f.R2, f.SquaredCorrelation = of(s.MeanSquaredError), of(s.Regression.R2.Value), of(s.Correlation)
		return f
	}
	f.Accuracy, f.MicroF1, f.MacroF1 = of(s.Accuracy), of(s.MicroF1), of(s.MacroF1)
	if labels {
		f.HammingLoss = of(s.Hamming)
	}
	if c := s.Calibration; c != nil {
		f.LogLoss, f.ECE = of(c.LogLoss), of(c.ECE)
	}
	return f
}

// DescribeAll adds the macro F1, the losses and, for label sets, the micro F1 to a report.
func (f *Metrics) DescribeAll(d *report.Document) {
	text := f.FormatLosses()
	if f.HammingLoss != nil {
		text = fmt.Sprintf("micro F1 %.4f, %s", *f.MicroF1, text)
	}
	if text != "" {
		d.AddFact("all documents", "%s", text)
	}
}

// FormatLosses formats the macro F1 and the losses as text for a report.
func (f *Metrics) FormatLosses() string {
	var parts []string
	add := func(name, format string, v *float64) {
		if v != nil {
			parts = append(parts, fmt.Sprintf(name+" "+format, *v))
		}
	}
	add("macro F1", "%.4f", f.MacroF1)
	add("Hamming loss", "%.4g", f.HammingLoss)
	add("log loss", "%.4f", f.LogLoss)
	add("expected calibration error", "%.4f", f.ECE)
	return strings.Join(parts, ", ")
}
