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

// Lines writes predictions, one line per document. The line begins with labels joined by commas (-
// if there are none), with a regression estimate, or with 1 or -1 for a one-class model. After the
// labels come the numbers that What selects.
type Lines struct {
	What string // labels (default), probabilities or decisions
	Of   About  // the model
	P    *model.Prediction

	Name func(i int) string // returns the first cell of document i's line; nil = lines begin with labels

	// Separator separates columns: "," (cells are quoted as in CSV) or "\t". If it is "", columns
	// are separated by spaces, or by tabs if class names contain spaces. A tab then follows the
	// cell of Name.
	Separator string
}

// Documents returns the number of documents, or 0 if there are no predictions.
func (l *Lines) Documents() int {
	if l.P == nil {
		return 0
	}
	return max(len(l.P.Decisions), len(l.P.Class), len(l.P.Labels), len(l.P.Value))
}

// NoAnswer is the label of a document that the model rejects.
const NoAnswer = "?"

// Labels returns the predicted labels of document i.
func (a *About) Labels(p *model.Prediction, i int) []string {
	switch {
	case i >= 0 && i < len(p.Rejected) && p.Rejected[i]:
		return []string{NoAnswer}
	case a.OneClass && p.Value[i] > 0:
		return []string{"1"}
	case a.OneClass:
		return []string{"-1"}
	case p.Value != nil:
		return []string{strconv.FormatFloat(p.Value[i], 'g', -1, 64)}
	case p.Labels != nil:
		names := []string{}
		for _, c := range p.Labels[i] {
			names = append(names, a.Classes[c])
		}
		return names
	}
	return []string{a.Classes[p.Class[i]]}
}

// Values returns the numbers that follow the labels of document i.
func (l *Lines) Values(i int) []float64 {
	switch l.What {
	case "probabilities":
		return l.P.Probabilities[i]
	case "decisions":
		return l.P.Decisions[i]
	}
	return nil
}

func (l *Lines) separator() string {
	if l.Separator != "" {
		return l.Separator
	}
	if slices.ContainsFunc(l.Of.Classes, func(name string) bool { return strings.IndexFunc(name, unicode.IsSpace) >= 0 }) {
		return "\t"
	}
	return " "
}

// Header returns the header line with the column names, or "" if lines have only labels.
func (l *Lines) Header() string {
	var columns []string
	switch l.What {
	case "probabilities":
		columns = append([]string{"labels"}, l.Of.Classes...)
	case "decisions":
		columns = append([]string{"machines"}, l.Of.DecisionFunctions...)
	default:
		return ""
	}
	for i := range columns {
		columns[i] = l.cell(columns[i])
	}
	line := strings.Join(columns, l.separator()) + "\n"
	if l.Name != nil {
		line = cmp.Or(l.Separator, "\t") + line
	}
	return line
}

// cell returns text, quoted for CSV if necessary.
func (l *Lines) cell(text string) string {
	if l.Separator != "," || !strings.ContainsAny(text, ",\"\r\n") {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

// Write writes a line for each document.
func (l *Lines) Write(ctx context.Context, w io.Writer) error {
	b := bufio.NewWriterSize(w, 64<<10)
	sep, digits := l.separator(), -1
	if l.What == "probabilities" {
		digits = 6 // as in svm-predict
	}
	for i := range l.Documents() {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if l.Name != nil {
			b.WriteString(l.cell(l.Name(i)))
			b.WriteString(cmp.Or(l.Separator, "\t"))
		}
		names := l.Of.Labels(l.P, i)
		if len(names) == 0 {
			b.WriteByte('-')
		}
		b.WriteString(l.cell(strings.Join(names, ",")))
		for _, v := range l.Values(i) {
			b.WriteString(sep)
			b.Write(strconv.AppendFloat(b.AvailableBuffer(), v, 'g', digits, 64))
		}
		b.WriteByte('\n')
	}
	return b.Flush()
}
