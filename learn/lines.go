package learn

import (
	"bufio"
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/gramengine/gram/learn/svm"
)

// Lines writes predictions, one line per document: its labels, several with commas between and - for
// none, the estimate of a regression, or 1 or -1 of one class; then the numbers that What asks for.
type Lines struct {
	What string // labels (default), probabilities or decisions
	Of   About  // the model
	P    *svm.Prediction

	Name func(i int) string // what the line of document i begins with; nil for nothing
}

// Documents returns the number of documents.
func (l *Lines) Documents() int {
	return max(len(l.P.Decisions), len(l.P.Class), len(l.P.Labels), len(l.P.Value))
}

// Labels returns what document i was given; none is an empty list.
func (a *About) Labels(p *svm.Prediction, i int) []string {
	switch {
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

// Values returns the numbers that stand behind the label of document i.
func (l *Lines) Values(i int) []float64 {
	switch l.What {
	case "probabilities":
		return l.P.Probabilities[i]
	case "decisions":
		return l.P.Decisions[i]
	}
	return nil
}

// separator returns what stands between columns: a blank, or a TAB where names hold blanks.
func (l *Lines) separator() string {
	if slices.ContainsFunc(l.Of.Classes, func(name string) bool { return strings.IndexFunc(name, unicode.IsSpace) >= 0 }) {
		return "\t"
	}
	return " "
}

// Header returns the first line, which names the columns; "" for labels alone.
func (l *Lines) Header() string {
	var columns []string
	switch l.What {
	case "probabilities":
		columns = append([]string{"labels"}, l.Of.Classes...)
	case "decisions":
		columns = append([]string{"machines"}, l.Of.Machines...)
	default:
		return ""
	}
	line := strings.Join(columns, l.separator()) + "\n"
	if l.Name != nil {
		line = "\t" + line
	}
	return line
}

// Write writes a line for each document. Errors: those of w and of ctx.
func (l *Lines) Write(ctx context.Context, w io.Writer) error {
	b := bufio.NewWriterSize(w, 64<<10)
	sep, digits := l.separator(), -1
	if l.What == "probabilities" {
		digits = 6 // svm-predict writes as many
	}
	for i := range l.Documents() {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if l.Name != nil {
			b.WriteString(l.Name(i))
			b.WriteByte('\t')
		}
		names := l.Of.Labels(l.P, i)
		if len(names) == 0 {
			b.WriteByte('-')
		}
		b.WriteString(strings.Join(names, ","))
		for _, v := range l.Values(i) {
			b.WriteString(sep)
			b.Write(strconv.AppendFloat(b.AvailableBuffer(), v, 'g', digits, 64))
		}
		b.WriteByte('\n')
	}
	return b.Flush()
}

// MostProbable gives each document the class of the greatest probability, the first of several, in
// place of that of the votes or decision values, as svm-predict -b 1 does. Separate labels stay as
// they are.
func MostProbable(p *svm.Prediction) {
	for i := range p.Class {
		best := 0
		for k, v := range p.Probabilities[i] {
			if v > p.Probabilities[i][best] {
				best = k
			}
		}
		p.Class[i] = best
	}
}
