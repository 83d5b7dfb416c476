package source

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/report"
)

// Weights is the flag -weight, which may be given several times: multiples of C by name of the class.
type Weights struct {
	Of       map[string]float64
	Balanced bool
}

func (w *Weights) String() string { return "" }

// Several says that the flag may be given several times.
func (w *Weights) Several() {}

// Given reports whether the flag was given.
func (w *Weights) Given() bool { return len(w.Of) > 0 || w.Balanced }

// Set implements flag.Value.
func (w *Weights) Set(v string) error {
	if w.Balanced = w.Balanced || v == "balanced"; v == "balanced" {
		return nil
	}
	at := strings.LastIndexByte(v, '=')
	if at < 1 {
		return fmt.Errorf("expected CLASS=W, or balanced")
	}
	x, err := strconv.ParseFloat(v[at+1:], 64)
	if err != nil || !(x > 0) || math.IsInf(x, 0) {
		return fmt.Errorf("weight %q of class %s, expected a number above 0", v[at+1:], v[:at])
	}
	if w.Of == nil {
		w.Of = map[string]float64{}
	}
	w.Of[v[:at]] = x
	return nil
}

// For returns the weights of the classes of a corpus, nil for none or without a corpus. Errors: a class that the
// corpus doesn't have.
func (w *Weights) For(c *corpus.Corpus) (map[string]float64, error) {
	if len(w.Of) == 0 || c == nil {
		return nil, nil
	}
	out := map[string]float64{}
	for name, x := range w.Of {
		if !slices.Contains(c.Classes, name) {
			if v, err := strconv.ParseFloat(name, 64); err == nil { // +1 is 1
				name = report.Float(v + 0)
			}
		}
		if !slices.Contains(c.Classes, name) {
			return nil, fmt.Errorf("-weight for class %q, which %s doesn't have, expected one of %s", name, c.Source,
				report.JoinSome(c.Classes, 20))
		}
		out[name] = x
	}
	return out, nil
}
