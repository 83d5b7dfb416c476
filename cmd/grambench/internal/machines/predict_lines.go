package machines

import (
	"bufio"
	"context"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/solver"
)

// predictionLines writes predictions, a document a line.
type predictionLines struct {
	what string // one of outputs
	of   *kind
	p    *svm.Prediction

	names func(i int) string // what a line begins with; nil for nothing
}

// documents returns the number of documents.
func (l *predictionLines) documents() int { return len(l.p.Decisions) }

// labels returns what document i was given; none is an empty list.
func (l *predictionLines) labels(i int) []string {
	switch {
	case l.of.oneClass && l.p.Value[i] > 0:
		return []string{"1"}
	case l.of.oneClass:
		return []string{"-1"}
	case l.p.Value != nil:
		return []string{report.Float(l.p.Value[i])}
	case l.p.Labels != nil:
		names := []string{}
		for _, c := range l.p.Labels[i] {
			names = append(names, l.of.classes[c])
		}
		return names
	}
	return []string{l.of.classes[l.p.Class[i]]}
}

// values returns the numbers that stand behind the label of document i.
func (l *predictionLines) values(i int) []float64 {
	switch l.what {
	case "probabilities":
		return l.p.Probabilities[i]
	case "decisions":
		return l.p.Decisions[i]
	}
	return nil
}

// header returns the names of the columns, the first of which says what they are; nil for labels
// alone.
func (l *predictionLines) header() []string {
	switch l.what {
	case "probabilities":
		return append([]string{"labels"}, l.of.classes...)
	case "decisions":
		return append([]string{"machines"}, l.of.machines...)
	}
	return nil
}

// machineNames names the machines of a model: by a class, or two with / between, or by the type
// where there are no classes.
func machineNames(m *model.Model) []string {
	if !m.Type.Classifies() {
		return []string{string(m.Type)}
	}
	if m.Classifier.Scheme != solver.OneVsOne {
		return m.Classes
	}
	var names []string
	for a, class := range m.Classes {
		for _, other := range m.Classes[a+1:] {
			names = append(names, class+"/"+other)
		}
	}
	return names
}

// separator returns what stands between columns: a blank, or a TAB where names hold blanks.
func (l *predictionLines) separator() string {
	for _, name := range l.of.classes {
		if strings.IndexFunc(name, unicode.IsSpace) >= 0 {
			return "\t"
		}
	}
	return " "
}

// write writes the header, where there is one, and a line for each document.
func (l *predictionLines) write(ctx context.Context, w io.Writer) error {
	b := bufio.NewWriterSize(w, 64<<10)
	sep, digits := l.separator(), -1
	if l.what == "probabilities" {
		digits = 6 // svm-predict writes as many
	}
	if header := l.header(); header != nil {
		if l.names != nil {
			b.WriteByte('\t')
		}
		b.WriteString(strings.Join(header, sep) + "\n")
	}
	var number []byte
	for i := range l.documents() {
		if i%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if l.names != nil {
			b.WriteString(l.names(i))
			b.WriteByte('\t')
		}
		names := l.labels(i)
		if len(names) == 0 {
			b.WriteByte('-')
		}
		for k, name := range names {
			if k > 0 {
				b.WriteByte(',')
			}
			b.WriteString(name)
		}
		for _, v := range l.values(i) {
			b.WriteString(sep)
			number = strconv.AppendFloat(number[:0], v, 'g', digits, 64)
			b.Write(number)
		}
		b.WriteByte('\n')
	}
	return b.Flush()
}

// predictedObject is the prediction of one document in JSON.
type predictedObject struct {
	Name          string         `json:"name,omitempty"` // with -names
	Labels        []string       `json:"labels"`
	Value         *report.Number `json:"value,omitempty"` // regression: the estimate; one_class: the decision value
	Probabilities []float64      `json:"probabilities,omitempty"`
	Decisions     []float64      `json:"decisions,omitempty"`
}

// objects returns what the lines say, for JSON.
func (l *predictionLines) objects() []predictedObject {
	out := make([]predictedObject, l.documents())
	for i := range out {
		out[i].Labels = l.labels(i)
		if l.names != nil {
			out[i].Name = l.names(i)
		}
		if l.p.Value != nil {
			v := report.Number(l.p.Value[i])
			out[i].Value = &v
		}
		switch l.what {
		case "probabilities":
			out[i].Probabilities = l.p.Probabilities[i]
		case "decisions":
			out[i].Decisions = l.p.Decisions[i]
		}
	}
	return out
}

// mostProbable gives each document the class of the greatest probability, the first of several, in
// place of that of the votes or decision values, as svm-predict -b 1 does. Separate labels stay as
// they are.
func mostProbable(p *svm.Prediction) {
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

// hasProbabilities says whether a model gives probabilities: of its classes, each of its machines
// has a sigmoid.
func hasProbabilities(m *model.Model) bool {
	for _, machine := range m.Classifier.Machines {
		if machine != nil && machine.Sigmoid == nil {
			return false
		}
	}
	return m.Type.Classifies()
}

// modelBytes returns about what a model takes in memory.
func modelBytes(m *model.Model) int64 {
	const aText, aTerm, aVector, aCoefficient = 16, 16, 12, 16
	n := m.Support.Bytes() + aVector*int64(m.Support.Rows()) + aTerm*int64(len(m.Embedder.Terms))
	for _, text := range m.Vocabulary {
		n += aText + int64(len(text))
	}
	for _, machine := range m.Classifier.Machines {
		if machine != nil {
			n += aCoefficient * int64(len(machine.Coef))
		}
	}
	return n
}
