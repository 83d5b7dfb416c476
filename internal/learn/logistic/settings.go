package logistic

import (
	"fmt"

	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/solver"
)

// Settings are the parameters of training. The zero value works.
type Settings struct {
	C      float64       `param:"c" default:"10" above:"0" max:"+Inf" flag:""` // +Inf for no regularization
	Scheme solver.Scheme `param:"scheme" default:"one-vs-rest" min:"1" max:"2" flag:""`

	// Weights maps a class name to a factor of the losses of the class's documents in the class's
	// binary classifier. With two classes, both weights apply. Balanced weights the classes that
	// Weights doesn't name, as in linear.Settings. The default weight is 1. Models don't store
	// weights.
	Weights  map[string]float64 `param:"weight" above:"0" wants:"CLASS=W, a number above 0" flag:""`
	Balanced bool               `param:"balanced" flag:""`

	// NoBias sets b = 0.
	NoBias bool `param:"origin" help:"omit the intercept"`

	// Tolerance stops training when the gradient norm is at most Tolerance times the norm at w = 0,
	// or when 10 steps decrease the objective by at most the fraction Tolerance/1000. If C is
	// finite, the duality gap must also be at most Tolerance times the objective.
	Tolerance float64 `param:"tolerance" default:"1e-4" above:"0" below:"1" flag:""`

	Iterations int `param:"iterations" default:"1000" min:"1" help:"maximum number of L-BFGS iterations"`

	SkipGap bool // stop without computing the duality gap, for comparing settings
}

func (s Settings) resolve() (Settings, error) {
	err := params.Resolve(&s)
	if err != nil {
		err = fmt.Errorf("logistic: %w", err)
	}
	return s, err
}

// Options are the options of training and predictions, see package task.
type Options = task.Options
