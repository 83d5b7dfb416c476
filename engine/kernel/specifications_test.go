package kernel

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// settings returns values of a parameter in the syntax of specifications.
func (q param) settings() []string {
	texts := slices.Clone(q.words)
	if q.defaultWord != "" {
		texts = append(texts, q.defaultWord)
	}
	for _, v := range []float64{q.min, -0.25, 0, 3, q.max} {
		if q.words == nil && q.allows(v) {
			texts = append(texts, formatNumber(v))
		}
	}
	return texts
}

// leafSpecs returns specifications of all base kernels: with each parameter, with two parameters,
// and with an embedding.
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

// madeOf returns specifications of all combinations that contain part: as the only, first or last
// operand, with a weight, in a sum and in parentheses, and with every notation of the combination's
// parameters.
func madeOf(part string) (specs []string) {
	lists := []string{part, "linear," + part, part + ",linear", "(" + part + ")", "2*" + part, "linear + " + part,
		"2*(" + part + ")", "linear,-0.5*(linear + " + part + ")"}
	for _, f := range families {
		if f.combine == nil {
			continue
		}
		for _, list := range lists {
			specs = append(specs, f.Name+"("+list+")")
			for _, q := range f.params {
				specs = append(specs, f.Name+"("+list+"):"+q.Key+"="+q.settings()[1])
			}
		}
	}
	return append(specs, lists...)
}

// The String of every kernel parses to the same kernel: base kernels with all parameters, all their
// combinations, and some combinations of combinations.
func TestSpecificationsAreRead(t *testing.T) {
	musttest.SkipRace(t)
	musttest.SkipIfEmulated(t)
	seen := map[string]bool{}
	check := func(spec string) (text string, first bool) {
		k, err := Parse(spec)
		if err != nil {
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
			if at++; at%97 == 0 { // not a multiple of the number of specifications per part, so each occurs
				check(spec)
			}
		}
	}
	if len(once) < 1500 || len(seen) < 3000 {
		t.Errorf("%d kernels, %d of one combination, expected thousands", len(seen), len(once))
	}
	t.Logf("%d kernels, %d of one combination, of %d", len(seen), len(once), at)
}
