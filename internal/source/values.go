package source

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
)

// MaxValues is the maximum number of values in a list. A longer list probably has a wrong step.
const MaxValues = 1000

// ParseValues parses NAME=LIST, where LIST contains values and ranges, separated by commas. The
// names C, nu and epsilon aren't case-sensitive.
func ParseValues(s string) (kernel.ParamGrid, error) {
	name, values, ok := strings.Cut(s, "=")
	name = strings.TrimSpace(name)
	if !ok || name == "" {
		return kernel.ParamGrid{}, fmt.Errorf(
			"%q is not of the form NAME=VALUE,VALUE,…, such as t=0.1,0.5,1 or C=1..1000*10", s)
	}
	for _, own := range []string{"C", "nu", "epsilon"} {
		if strings.EqualFold(name, own) {
			name = own
		}
	}
	list := kernel.ParamGrid{Name: name}
	for part := range strings.SplitSeq(values, ",") {
		some, err := parseRange(strings.TrimSpace(part))
		if err != nil {
			return kernel.ParamGrid{}, err
		}
		list.Values = append(list.Values, some...)
		if len(list.Values) > MaxValues {
			return kernel.ParamGrid{}, fmt.Errorf("%s has more than %d values", name, MaxValues)
		}
	}
	for i, v := range list.Values {
		if slices.Contains(list.Values[:i], v) {
			return kernel.ParamGrid{}, fmt.Errorf("%s has the value %v twice", name, v)
		}
	}
	return list, nil
}

// parseRange parses a value, FROM..TO*FACTOR or FROM..TO+STEP. TO is included if a step reaches it.
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
		at = stepSignIndex(rest)
	}
	if at < 0 {
		return nil, fmt.Errorf("%q has no step; use FROM..TO*FACTOR or FROM..TO+STEP, such as 1..1000*10", s)
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
			return nil, fmt.Errorf("%q: numbers must be positive and the factor must not be 1", s)
		}
		count = math.Log(last/first) / math.Log(step)
	}
	if !(count >= 0 && count < MaxValues) {
		return nil, fmt.Errorf("%q: steps must lead from %v to %v in at most %d values", s, first, last, MaxValues)
	}
	return roundedSequence(int(count+1e-9)+1, func(i float64) float64 {
		if factor {
			return first * math.Pow(step, i)
		}
		return first + i*step
	}), nil
}

// stepSignIndex returns the index of the last plus that isn't an exponent's sign.
func stepSignIndex(s string) int {
	for at := len(s) - 1; at > 0; at-- {
		if s[at] == '+' && s[at-1] != 'e' && s[at-1] != 'E' {
			return at
		}
	}
	return -1
}

// roundedSequence returns value(0), …, value(n-1), rounded to twelve digits, so that
// 0.30000000000000004 becomes 0.3.
func roundedSequence(n int, value func(i float64) float64) []float64 {
	var out []float64
	for i := range n {
		out = append(out, run.RoundSignificant(value(float64(i)), 12))
	}
	return out
}

// ParseNumber parses a finite number or the word pi.
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

// ExpandAlternatives expands lists of values in a kernel specification, such as
// diffusion:t=0.1|0.5|1, to all combinations. It fails if a value is empty or if there are more
// than MaxValues combinations.
func ExpandAlternatives(spec string) ([]string, error) {
	at := strings.IndexByte(spec, '|')
	if at < 0 {
		return []string{spec}, nil
	}
	const ends = ",:()= "
	from, to := strings.LastIndexAny(spec[:at], ends)+1, len(spec)
	if n := strings.IndexAny(spec[at:], ends); n >= 0 {
		to = at + n
	}
	var out []string
	for value := range strings.SplitSeq(spec[from:to], "|") {
		if value == "" {
			return nil, fmt.Errorf("-kernel %q, column %d: %q has an empty value", spec, from+1, spec[from:to])
		}
		some, err := ExpandAlternatives(spec[:from] + value + spec[to:])
		if err != nil {
			return nil, err
		}
		if out = append(out, some...); len(out) > MaxValues {
			return nil, fmt.Errorf("-kernel %q expands to more than %d kernels", spec, MaxValues)
		}
	}
	return out, nil
}
