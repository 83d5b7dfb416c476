package model

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// vectors reads the lines behind SV: the coefficients of a support vector, a row of LIBSVM's
// sv_coef each, and its values. A support vector of class i has in row r its coefficient in the
// machine of i and class r, or r+1 from i on.
func (l *libsvmReader) vectors() error {
	m := l.m
	m.Support = &sparse.CSR{Offsets: []int64{0}}
	for class, size := range l.sizes {
		machines := m.Classifier.Machines
		if m.Type.Classifies() {
			machines = machinesOf(&m.Classifier, class)
		} else {
			class = -1
		}
		for range size {
			if err := l.vector(machines); err != nil {
				return err
			}
			m.SupportClass = append(m.SupportClass, int32(class))
		}
	}
	for {
		text, err := l.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case strings.TrimSpace(text) != "":
			return l.fail(l.line, quote(text), "the end of the file after %d support vectors", l.total)
		}
	}
}

// machinesOf returns the machines of a class against each other, in the order of these.
func machinesOf(c *solver.Classifier, class int) []*solver.Machine {
	k := c.Classes
	of := make([]*solver.Machine, 0, k-1)
	for other := range k {
		if other == class {
			continue
		}
		a, b := min(class, other), max(class, other)
		of = append(of, c.Machines[a*k-a*(a+1)/2+b-a-1])
	}
	return of
}

// vector reads one line, and gives its coefficients to the machines.
func (l *libsvmReader) vector(machines []*solver.Machine) error {
	m := l.m
	s := m.Support.Rows()
	text, err := l.next()
	if errors.Is(err, io.EOF) {
		return l.fail(l.line, fmt.Sprintf("the end of the file after %d support vectors", s), "%d, as total_sv says", l.total)
	}
	if err != nil {
		return err
	}
	for i, machine := range machines {
		var word string
		word, text = cutWord(text)
		c, err := parseFloat(word, 64)
		if err != nil {
			return l.fail(l.line, fmt.Sprintf("coefficient %d: %s", i+1, quote(word)), "%d finite numbers", len(machines))
		}
		if c != 0 {
			machine.Support, machine.Coef = append(machine.Support, s), append(machine.Coef, c)
		}
	}
	doc := int64(-1)
	if l.precomputed {
		if doc, err = l.serial(text); err != nil {
			return err
		}
	} else if err := l.row(text); err != nil {
		return err
	}
	m.Support.Offsets = append(m.Support.Offsets, int64(len(m.Support.Values)))
	m.SupportDoc = append(m.SupportDoc, doc)
	return nil
}

// serial reads 0:n, the support vector of a precomputed kernel, and returns n-1.
func (l *libsvmReader) serial(text string) (int64, error) {
	word, rest := cutWord(text)
	serial, ok := strings.CutPrefix(word, "0:")
	n, err := strconv.Atoi(serial)
	if rest = strings.TrimSpace(rest); !ok || err != nil || n < 1 || n > math.MaxInt32 || rest != "" {
		return 0, l.fail(l.line, quote(strings.TrimSpace(text)), "0:n with the number n of a training document, from 1, for a precomputed kernel")
	}
	return int64(n) - 1, nil
}

// row reads the values index:value of a support vector.
func (l *libsvmReader) row(text string) error {
	m := l.m.Support
	before := int64(-1)
	for {
		var word string
		if word, text = cutWord(text); word == "" {
			return nil
		}
		left, right, colon := strings.Cut(word, ":")
		index, err := strconv.ParseUint(left, 10, 31)
		if !colon || err != nil {
			return l.fail(l.line, quote(word), "index:value with an index from 0 to %d", math.MaxInt32)
		}
		if int64(index) <= before {
			return l.fail(l.line, fmt.Sprintf("index %d behind %d", index, before), "ascending indices")
		}
		v, err := parseFloat(right, 32)
		if err != nil {
			return l.fail(l.line, fmt.Sprintf("index %d: %s", index, quote(right)), "a number within float32")
		}
		before = int64(index)
		m.Terms, m.Values, m.Cols = append(m.Terms, uint32(index)), append(m.Values, float32(v)), max(m.Cols, int(index)+1)
	}
}

// cutWord returns the first word of a text and what is behind it. Unlike strings.Fields it takes no
// memory in proportion to the words.
func cutWord(text string) (word, rest string) {
	text = strings.TrimLeft(text, " \t")
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}

// parseFloat reads a finite decimal number, correctly rounded, and turns -0 into 0. What else
// strconv reads (hexadecimal, underscores, inf, nan) is refused.
func parseFloat(text string, bits int) (float64, error) {
	if strings.Trim(text, "+-.0123456789eE") != "" {
		return 0, strconv.ErrSyntax
	}
	v, err := strconv.ParseFloat(text, bits)
	return v + 0, err
}

// quote quotes what was found, cut to a length that a message can bear.
func quote(s string) string {
	const most = 40
	if len(s) <= most {
		return strconv.Quote(s)
	}
	return strconv.Quote(s[:most]) + "..."
}
