package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/engine"
)

// A gridList is one -grid: a name and the values that it takes.
type gridList struct {
	name   string
	values []float64
}

// gridLists is the flag -grid, which may be given several times.
type gridLists []gridList

func (g *gridLists) String() string { return "" }

func (g *gridLists) Set(v string) error {
	list, err := parseGridList(v)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(*g, func(other gridList) bool { return other.name == list.name }) {
		return fmt.Errorf("%s a second time, expected all its values in one list", list.name)
	}
	*g = append(*g, list)
	return nil
}

// mostValues is how many values a list may have: more are a slip in a step.
const mostValues = 1000

// parseGridList reads NAME=LIST, whose list has values and ranges, separated by commas. C, nu and epsilon may be written in any case, and C as c.
func parseGridList(s string) (gridList, error) {
	name, values, ok := strings.Cut(s, "=")
	name = strings.TrimSpace(name)
	if !ok || name == "" {
		return gridList{}, fmt.Errorf("%q, expected NAME=VALUE,VALUE,…, such as t=0.1,0.5,1 or C=1..1000*10", s)
	}
	for _, own := range []string{"C", "nu", "epsilon"} {
		if strings.EqualFold(name, own) {
			name = own
		}
	}
	list := gridList{name: name}
	for part := range strings.SplitSeq(values, ",") {
		some, err := parseRange(strings.TrimSpace(part))
		if err != nil {
			return gridList{}, err
		}
		list.values = append(list.values, some...)
		if len(list.values) > mostValues {
			return gridList{}, fmt.Errorf("%s has more than %d values", name, mostValues)
		}
	}
	for i, v := range list.values {
		if slices.Contains(list.values[:i], v) {
			return gridList{}, fmt.Errorf("%s has the value %v twice", name, v)
		}
	}
	return list, nil
}

// parseRange reads a value, FROM..TO*FACTOR or FROM..TO+STEP. The end belongs to the range if a step meets it.
func parseRange(s string) ([]float64, error) {
	from, rest, isRange := strings.Cut(s, "..")
	first, err := gridNumber(from)
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
	last, err := gridNumber(rest[:at])
	if err != nil {
		return nil, err
	}
	step, err := gridNumber(rest[at+1:])
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
	if !(count >= 0 && count < mostValues) {
		return nil, fmt.Errorf("%q, expected a step that leads from %v to %v in at most %d values", s, first, last, mostValues)
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

// steps lists value(0), value(1), …, rounded to twelve digits: 0.1, 0.2, 0.3 and not 0.30000000000000004.
func steps(n int, value func(i float64) float64) []float64 {
	var out []float64
	for i := range n {
		v, _ := strconv.ParseFloat(strconv.FormatFloat(value(float64(i)), 'g', 12, 64), 64)
		out = append(out, v)
	}
	return out
}

func gridNumber(s string) (float64, error) {
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

// log2List reads what LIBSVM's grid.py has for -log2c and -log2g: BEGIN,END,STEP, exponents of 2.
func log2List(name, s string) (gridList, error) {
	var numbers []float64
	for part := range strings.SplitSeq(s, ",") {
		v, err := gridNumber(part)
		if err != nil {
			return gridList{}, err
		}
		numbers = append(numbers, v)
	}
	if len(numbers) != 3 {
		return gridList{}, fmt.Errorf("%q, expected BEGIN,END,STEP, exponents of 2 such as -5,15,2", s)
	}
	count := (numbers[1] - numbers[0]) / numbers[2]
	if !(count >= 0 && count < mostValues) {
		return gridList{}, fmt.Errorf("%q, expected a step that leads from %v to %v in at most %d values", s, numbers[0], numbers[1], mostValues)
	}
	list := gridList{name: name}
	for i := range int(count+1e-9) + 1 {
		list.values = append(list.values, math.Exp2(numbers[0]+float64(i)*numbers[2]))
	}
	return list, nil
}

// alternatives expands a specification with lists of values, such as diffusion:t=0.1|0.5|1, to one for each value; several lists to all combinations.
func alternatives(spec string) ([]string, error) {
	at := strings.IndexByte(spec, '|')
	if at < 0 {
		return []string{spec}, nil
	}
	const ends = ",:()= "
	from := strings.LastIndexAny(spec[:at], ends) + 1
	to := len(spec)
	if n := strings.IndexAny(spec[at:], ends); n >= 0 {
		to = at + n
	}
	var out []string
	for value := range strings.SplitSeq(spec[from:to], "|") {
		if value == "" {
			return nil, fmt.Errorf("-kernel %q, column %d: an empty value in %q", spec, from+1, spec[from:to])
		}
		some, err := alternatives(spec[:from] + value + spec[to:])
		if err != nil {
			return nil, err
		}
		if out = append(out, some...); len(out) > mostValues {
			return nil, fmt.Errorf("-kernel %q stands for more than %d kernels", spec, mostValues)
		}
	}
	return out, nil
}

// takes says whether a kernel that isn't made of others has a parameter, and what it is called in full.
func takes(k engine.Kernel, key string) (string, bool) {
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

// kernelsOn applies lists of parameters to kernels: each kernel is repeated for all combinations of the lists that it takes. It returns the names of lists that none takes, too.
func kernelsOn(kernels []engine.Kernel, lists []gridList) (out []engine.Kernel, unused []string, err error) {
	for _, list := range lists {
		if !slices.ContainsFunc(kernels, func(k engine.Kernel) bool { _, ok := takes(k, list.name); return ok }) {
			unused = append(unused, list.name)
		}
	}
	for _, k := range kernels {
		some := []engine.Kernel{k}
		for _, list := range lists {
			key, ok := takes(k, list.name)
			if !ok {
				continue
			}
			var more []engine.Kernel
			for _, s := range some {
				for _, v := range list.values {
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
