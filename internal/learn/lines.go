package learn

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/gramengine/gram/internal/learn/model"
)

// PredictionWriter writes predictions, one line per document. The line begins with labels joined by
// commas (- if there are none), with a regression estimate, or with 1 or -1 for a one-class model.
// After the labels come the numbers that Output selects.
type PredictionWriter struct {
	Output     string // labels (default), probabilities or decisions
	About      About  // properties of the model
	Prediction *model.Prediction

	FirstCell func(i int) string // returns the first cell of document i's line; nil = lines begin with labels

	// Separator separates columns: "," (cells are quoted as in CSV) or "\t". If it is "", columns
	// are separated by spaces, or by tabs if class names contain spaces. A tab then follows the
	// result of FirstCell.
	Separator string
}

// DocumentCount returns the number of documents, or 0 if there are no predictions.
func (l *PredictionWriter) DocumentCount() int {
	if l.Prediction == nil {
		return 0
	}
	return max(len(l.Prediction.DecisionValues), len(l.Prediction.ClassIndices), len(l.Prediction.Labels),
		len(l.Prediction.Values))
}

// RejectedLabel is the label of a document that the model rejects.
const RejectedLabel = "?"

// Labels returns the predicted labels of document i.
func (a *About) Labels(p *model.Prediction, i int) []string {
	switch {
	case i >= 0 && i < len(p.Rejected) && p.Rejected[i]:
		return []string{RejectedLabel}
	case a.OneClass && p.Values[i] > 0:
		return []string{"1"}
	case a.OneClass:
		return []string{"-1"}
	case p.Values != nil:
		return []string{strconv.FormatFloat(p.Values[i], 'g', -1, 64)}
	case p.Labels != nil:
		names := []string{}
		for _, c := range p.Labels[i] {
			names = append(names, a.Classes[c])
		}
		return names
	}
	return []string{a.Classes[p.ClassIndices[i]]}
}

// Values returns the numbers that follow the labels of document i.
func (l *PredictionWriter) Values(i int) []float64 {
	switch l.Output {
	case "probabilities":
		return l.Prediction.Probabilities[i]
	case "decisions":
		return l.Prediction.DecisionValues[i]
	}
	return nil
}

func (l *PredictionWriter) separator() string {
	if l.Separator != "" {
		return l.Separator
	}
	if slices.ContainsFunc(l.About.Classes, func(name string) bool {
		return strings.IndexFunc(name,
			unicode.IsSpace) >= 0
	}) {
		return "\t"
	}
	return " "
}

// Header returns the header line with the column names, or "" if lines have only labels.
func (l *PredictionWriter) Header() string {
	var columns []string
	switch l.Output {
	case "probabilities":
		columns = append([]string{"labels"}, l.About.Classes...)
	case "decisions":
		columns = append([]string{"labels"}, l.About.DecisionNames...)
	default:
		return ""
	}
	for i := range columns {
		columns[i] = l.quoteCell(columns[i])
	}
	line := strings.Join(columns, l.separator()) + "\n"
	if l.FirstCell != nil {
		line = cmp.Or(l.Separator, "\t") + line
	}
	return line
}

func (l *PredictionWriter) quoteCell(text string) string {
	if l.Separator != "," || !strings.ContainsAny(text, ",\"\r\n") {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

func (l *PredictionWriter) Write(ctx context.Context, w io.Writer) error {
	b := bufio.NewWriterSize(w, 64<<10)
	sep, digits := l.separator(), -1
	if l.Output == "probabilities" {
		digits = 6 // as in svm-predict
	}
	for i := range l.DocumentCount() {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if l.FirstCell != nil {
			b.WriteString(l.quoteCell(l.FirstCell(i)))
			b.WriteString(cmp.Or(l.Separator, "\t"))
		}
		names := l.About.Labels(l.Prediction, i)
		if len(names) == 0 {
			b.WriteByte('-')
		}
		b.WriteString(l.quoteCell(strings.Join(names, ",")))
		for _, v := range l.Values(i) {
			b.WriteString(sep)
			b.Write(strconv.AppendFloat(b.AvailableBuffer(), v, 'g', digits, 64))
		}
		b.WriteByte('\n')
	}
	return b.Flush()
}
