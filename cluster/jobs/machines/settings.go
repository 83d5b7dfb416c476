package machines

import (
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/solver"
)

// Settings are those of machines, as a description has them.
type Settings struct {
	Type          string             `json:"type"`
	Kernel        string             `json:"kernel"`
	Scheme        string             `json:"scheme"`
	C             float64            `json:"c"`
	Nu            float64            `json:"nu"`
	Epsilon       float64            `json:"epsilon"`
	Weights       map[string]float64 `json:"weights,omitempty"` // JSON sorts them by name
	Balanced      bool               `json:"balanced,omitempty"`
	Tolerance     float64            `json:"tolerance"`
	KeepAll       bool               `json:"keep_all,omitempty"`
	Probabilities bool               `json:"probabilities,omitempty"`
	Thresholds    bool               `json:"thresholds,omitempty"`
	Seed          uint64             `json:"seed"`
}

var schemes = []solver.Scheme{solver.OneVsOne, solver.OneVsRest, solver.Labels}

// ParseScheme reads the name of a scheme.
func ParseScheme(name string) (solver.Scheme, error) {
	for _, s := range schemes {
		if s.String() == name {
			return s, nil
		}
	}
	return 0, fmt.Errorf("scheme %q, expected one of %v", name, schemes)
}

// SVM returns the settings as the solver has them. The solver checks numbers.
func (s *Settings) SVM() (out svm.Settings, err error) {
	out = svm.Settings{
		Type: model.Type(s.Type), C: s.C, Nu: s.Nu, Epsilon: s.Epsilon, Weights: s.Weights, Balanced: s.Balanced,
		Tolerance: s.Tolerance, KeepAll: s.KeepAll, Probabilities: s.Probabilities, Thresholds: s.Thresholds, Seed: s.Seed,
	}
	if !slices.Contains(model.Types, out.Type) {
		return out, fmt.Errorf("type %q, expected one of %v", s.Type, model.Types)
	}
	if out.Kernel, err = kernel.Parse(s.Kernel); err != nil {
		return out, err
	}
	out.Scheme, err = ParseScheme(s.Scheme)
	return out, err
}

// Labelled checks that documents have labels.
func Labelled(c *corpus.Corpus) error {
	if len(c.Classes) == 0 {
		return fmt.Errorf("%s has no labels, expected classes to tell apart (-labels FILE reads those of documents)",
			c.Source)
	}
	return nil
}

// suit checks settings against the classes of documents, and fills in the scheme that follows from them.
func (s *Settings) suit(c *corpus.Corpus) error {
	if model.Type(s.Type).Classifies() {
		if err := Labelled(c); err != nil {
			return err
		}
	}
	l, t, err := learn.Parse(s.Type)
	if err == nil && s.Scheme != "" && params.Has(t, "scheme") {
		err = params.Set(t, "scheme", s.Scheme)
	}
	if err == nil {
		err = l.Suit(t, c)
	}
	if err != nil {
		return err
	}
	s.Scheme = learn.SchemeOf(t).String()
	return nil
}

// positive checks a flag's number.
func positive(name string, v, most float64) error {
	if !(v > 0 && v <= most) || math.IsInf(v, 0) {
		if math.IsInf(most, 0) {
			return fmt.Errorf("%s %v, expected a number above 0", name, v)
		}
		return fmt.Errorf("%s %v, expected a number above 0, at most %v", name, v, most)
	}
	return nil
}
