package source

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/engine"
)

// Values are a name and the numbers that it takes, such as a kernel's parameter in a search.
type Values struct {
	Name   string
	Values []float64
}

// MostValues is how many values a list may have: more are a slip in a step.
const MostValues = 1000

// ParseValues reads NAME=LIST, whose list has values and ranges, separated by commas. C, nu and
// epsilon may be written in any case, and C as c.
func ParseValues(s string) (Values, error) {
	name, values, ok := strings.Cut(s, "=")
	name = strings.TrimSpace(name)
	if !ok || name == "" {
		return Values{}, fmt.Errorf("%q, expected NAME=VALUE,VALUE,…, such as t=0.1,0.5,1 or C=1..1000*10", s)
	}
	for _, own := range []string{"C", "nu", "epsilon"} {
		if strings.EqualFold(name, own) {
			name = own
		}
	}
	list := Values{Name: name}
	for part := range strings.SplitSeq(values, ",") {
		some, err := parseRange(strings.TrimSpace(part))
		if err != nil {
			return Values{}, err
		}
		list.Values = append(list.Values, some...)
		if len(list.Values) > MostValues {
			return Values{}, fmt.Errorf("%s has more than %d values", name, MostValues)
		}
	}
	for i, v := range list.Values {
		if slices.Contains(list.Values[:i], v) {
			return Values{}, fmt.Errorf("%s has the value %v twice", name, v)
		}
	}
	return list, nil
}

// parseRange reads a value, FROM..TO*FACTOR or FROM..TO+STEP. The end belongs to the range if a
// step meets it.
func parseRange(s string) ([]float64, error) {
	from, rest, isRange := strings.Cut(s, "..")
	first, err := ParseNumber(from)
	if err != nil || !isRange {
		if err == nil {
			return []float64{first}, nil
		}
		return nil, err
	}
	at := strings.LastIndexByte(rest, '*')
	factor := at >= 0
	if at < 0 {
		at = stepSign(rest)
	}
	if at < 0 {
		return nil, fmt.Errorf("%q has no step, expected FROM..TO*FACTOR or FROM..TO+STEP, such as 1..1000*10", s)
	}
	last, err := ParseNumber(rest[:at])
	if err != nil {
		return nil, err
	}
	step, err := ParseNumber(rest[at+1:])
	if err != nil {
		return nil, err
	}
	count := (last - first) / step
	if factor {
		if !(first > 0 && last > 0 && step > 0 && step != 1) {
			return nil, fmt.Errorf("%q, expected numbers above 0 and a factor other than 1", s)
		}
		count = math.Log(last/first) / math.Log(step)
	}
	if !(count >= 0 && count < MostValues) {
		return nil, fmt.Errorf("%q, expected a step that leads from %v to %v in at most %d values", s, first, last,
			MostValues)
	}
	return steps(int(count+1e-9)+1, func(i float64) float64 {
		if factor {
			return first * math.Pow(step, i)
		}
		return first + i*step
	}), nil
}

// stepSign finds the plus in front of a step: the last one that isn't the sign of an exponent.
func stepSign(s string) int {
	for at := len(s) - 1; at > 0; at-- {
		if s[at] == '+' && s[at-1] != 'e' && s[at-1] != 'E' {
			return at
		}
	}
	return -1
}

// steps lists value(0), value(1), …, rounded to twelve digits: 0.1, 0.2, 0.3 and not
// 0.30000000000000004.
func steps(n int, value func(i float64) float64) []float64 {
	var out []float64
	for i := range n {
		v, _ := strconv.ParseFloat(strconv.FormatFloat(value(float64(i)), 'g', 12, 64), 64)
		out = append(out, v)
	}
	return out
}

// ParseNumber reads a finite number, or pi.
func ParseNumber(s string) (float64, error) {
	s = strings.TrimSpace(s)
	if s == "pi" {
		return math.Pi, nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	return v, nil
}

// Takes says whether a kernel that isn't made of others has a parameter, and what it is called in
// full.
func Takes(k engine.Kernel, key string) (string, bool) {
	if strings.ContainsAny(k.String(), "( *") {
		return "", false
	}
	name, _, _ := strings.Cut(k.String(), ":")
	for _, info := range engine.Catalogue() {
		if info.Name != name {
			continue
		}
		for _, q := range info.Params {
			if q.Key != "embed" && (q.Key == key || slices.Contains(q.Aliases, key)) {
				return q.Key, true
			}
		}
	}
	return "", false
}

// ValueOf returns the value of a parameter of a kernel that isn't made of others.
func ValueOf(spec, key string) (float64, bool) {
	k, err := engine.ParseKernel(spec)
	if err != nil {
		return 0, false
	}
	key, ok := Takes(k, key)
	_, rest, _ := strings.Cut(spec, ":")
	for part := range strings.SplitSeq(rest, ",") {
		if own, value, _ := strings.Cut(part, "="); ok && own == key {
			v, err := ParseNumber(value)
			return v, err == nil
		}
	}
	return 0, false
}

// withValue returns a kernel with another value of a parameter that it takes.
func withValue(k engine.Kernel, key string, v float64) (engine.Kernel, error) {
	name, rest, _ := strings.Cut(k.String(), ":")
	parts := []string{key + "=" + strconv.FormatFloat(v, 'g', -1, 64)}
	for part := range strings.SplitSeq(rest, ",") {
		if own, _, _ := strings.Cut(part, "="); own != key && part != "" {
			parts = append(parts, part)
		}
	}
	return engine.ParseKernel(name + ":" + strings.Join(parts, ","))
}

// KernelsOn applies lists of parameters to kernels: each kernel is repeated for all combinations of
// the lists that it takes. It returns the names of lists that none takes, too.
func KernelsOn(kernels []engine.Kernel, lists []Values) (out []engine.Kernel, unused []string, err error) {
	for _, list := range lists {
		if !slices.ContainsFunc(kernels, func(k engine.Kernel) bool { _, ok := Takes(k, list.Name); return ok }) {
			unused = append(unused, list.Name)
		}
	}
	for _, k := range kernels {
		some := []engine.Kernel{k}
		for _, list := range lists {
			key, ok := Takes(k, list.Name)
			if !ok {
				continue
			}
			var more []engine.Kernel
			for _, s := range some {
				for _, v := range list.Values {
					next, err := withValue(s, key, v)
					if err != nil {
						return nil, nil, err
					}
					more = append(more, next)
				}
			}
			some = more
		}
		out = append(out, some...)
	}
	return out, unused, nil
}
