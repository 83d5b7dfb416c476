package predict

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"

	"github.com/gramengine/gram/learn/svm"
)

// lines writes predictions as grambench predict does, a document a line.
type lines struct {
	what string
	of   *model
	p    *svm.Prediction
	name func(i int) string // what a line begins with; nil for nothing
}

// separator is what stands between columns: a blank, or a TAB where names hold blanks.
func (l *lines) separator() string {
	for _, name := range l.of.classes {
		if strings.IndexFunc(name, unicode.IsSpace) >= 0 {
			return "\t"
		}
	}
	return " "
}

// header returns the first line, which names the columns; "" for labels alone.
func (l *lines) header(names bool) string {
	var columns []string
	switch l.what {
	case probabilities:
		columns = append([]string{"labels"}, l.of.classes...)
	case decisions:
		columns = append([]string{"machines"}, l.of.machines...)
	default:
		return ""
	}
	line := strings.Join(columns, l.separator()) + "\n"
	if names {
		line = "\t" + line
	}
	return line
}

// write writes the lines of n documents.
func (l *lines) write(b *bytes.Buffer, n int) {
	sep, digits := l.separator(), -1
	if l.what == probabilities {
		digits = 6 // svm-predict writes as many
	}
	for i := range n {
		if l.name != nil {
			b.WriteString(l.name(i) + "\t")
		}
		b.WriteString(l.label(i))
		var values []float64
		switch l.what {
		case probabilities:
			values = l.p.Probabilities[i]
		case decisions:
			values = l.p.Decisions[i]
		}
		for _, v := range values {
			b.WriteString(sep)
			b.Write(strconv.AppendFloat(b.AvailableBuffer(), v, 'g', digits, 64))
		}
		b.WriteByte('\n')
	}
}

// label returns what document i was given; of several classes it is a list, "-" for none.
func (l *lines) label(i int) string {
	switch {
	case l.of.oneClass && l.p.Value[i] > 0:
		return "1"
	case l.of.oneClass:
		return "-1"
	case l.p.Value != nil:
		return strconv.FormatFloat(l.p.Value[i], 'g', -1, 64)
	case l.p.Labels != nil:
		var names []string
		for _, c := range l.p.Labels[i] {
			names = append(names, l.of.classes[c])
		}
		if names == nil {
			return "-"
		}
		return strings.Join(names, ",")
	case l.what == probabilities: // that of the greatest, the first of several, as svm-predict -b 1
		best := 0
		for k, v := range l.p.Probabilities[i] {
			if v > l.p.Probabilities[i][best] {
				best = k
			}
		}
		return l.of.classes[best]
	}
	return l.of.classes[l.p.Class[i]]
}
