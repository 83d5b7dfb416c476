package kernel

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// settings returns values of a parameter as a specification may have them.
func (q param) settings() []string {
	texts := slices.Clone(q.words)
	if q.absent != "" {
		texts = append(texts, q.absent)
	}
	for _, v := range []float64{q.min, -0.25, 0, 3, q.max} {
		if q.words == nil && q.allows(v) {
			texts = append(texts, formatNumber(v))
		}
	}
	return texts
}

// leafSpecs returns specifications of all kernels that aren't made of others: with each of their
// parameters, with two of them, and with an embedding.
func leafSpecs() (specs []string) {
	for _, f := range families {
		if f.combine != nil {
			continue
		}
		specs = append(specs, f.Name, f.Name+":embed=tf-l1-sqrt", f.Name+":embed=tfidf-l1-chi2")
		specs = append(specs, f.Examples...)
		for i, q := range f.params {
			for _, v := range q.settings() {
				specs = append(specs, fmt.Sprintf("%s:%s=%s", f.Name, q.Key, v))
			}
			for _, other := range f.params[i+1:] {
				a, b := q.settings(), other.settings()
				specs = append(specs, fmt.Sprintf("%s:%s=%s,%s=%s", f.Name, q.Key, a[len(a)/2], other.Key, b[len(b)/2]))
			}
		}
	}
	return specs
}

// madeOf returns specifications of all kernels that are made of others, one part in particular: as the only one, the
// first, the last, with a weight, in a sum and in parentheses, with the parameters of the whole in each of the ways to
// write them.
func madeOf(part string) (specs []string) {
	lists := []string{part, "linear," + part, part + ",linear", "(" + part + ")", "2*" + part, "linear + " + part,
		"2*(" + part + ")", "linear,-0.5*(linear + " + part + ")"}
	for _, f := range families {
		if f.combine == nil {
			continue
		}
		for _, list := range lists {
			specs = append(specs, f.Name+"("+list+")")
			for at, q := range f.params {
				v := q.settings()[1]
				specs = append(specs, f.Name+"("+list+"):"+q.Key+"="+v, f.Name+"("+list+","+q.Key+"="+v+")")
				if at < f.positional {
					specs = append(specs, f.Name+"("+list+","+v+")")
				}
			}
		}
	}
	return append(specs, lists...)
}

// Every kernel is written in a way that is read as the same kernel: all leaves with all their parameters, all
// combinations of them, and some of all combinations of combinations. Parse itself asks the same, so it refuses none of
// these.
func TestSpecificationsAreRead(t *testing.T) {
	seen := map[string]bool{}
	check := func(spec string) (text string, first bool) {
		k, err := Parse(spec)
		if err != nil {
			if strings.Contains(err.Error(), "is written") {
				t.Error(err)
			}
			return "", false
		}
		if text = k.String(); seen[text] {
			return text, false
		}
		seen[text] = true
		if again, err := Parse(text); err != nil || !Equal(again, k) || again.String() != text {
			t.Errorf("%q is written %q, which is read as %v, %v", spec, text, again, err)
		}
		return text, true
	}
	var once []string
	for _, leaf := range leafSpecs() {
		text, ok := check(leaf)
		if !ok {
			continue
		}
		for _, spec := range madeOf(text) {
			if text, ok := check(spec); ok {
				once = append(once, text)
			}
		}
	}
	at := 0
	for _, part := range once {
		for _, spec := range madeOf(part) {
			if at++; at%97 == 0 { // no multiple of how many there are of a part, so that each has its turn
				check(spec)
			}
		}
	}
	if len(once) < 1500 || len(seen) < 3000 {
		t.Errorf("%d kernels, %d of one combination, expected thousands", len(seen), len(once))
	}
	t.Logf("%d kernels, %d of one combination, of %d", len(seen), len(once), at)
}

// A kernel that is read but whose text has one parenthesis too many is refused at once, not when a
// model with that text is.
func TestUnreadableText(t *testing.T) {
	within := func(part string) string { return strings.Repeat("exp(", 15) + part + strings.Repeat(")", 15) }
	if _, err := Parse(within("power(linear,p=3)")); err != nil {
		t.Error(err)
	}
	var wrong *SpecError
	if k, err := Parse(within("power(cosine-power,p=3)")); !errors.As(err, &wrong) || wrong.Column != 1 {
		t.Errorf("%v, %v, expected an error of the text that it is written as", k, err)
	}
}
