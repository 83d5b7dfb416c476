package logistic

import (
	"fmt"

	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/solver"
)

// Settings say what is trained. The zero value works.
type Settings struct {
	C      float64       `param:"c" default:"10" above:"0" max:"+Inf" flag:""` // +Inf for no regularisation
	Scheme solver.Scheme `param:"scheme" default:"one-vs-rest" min:"1" max:"2" flag:""`

	// Weights multiply the losses of documents by name of their class in the machine that tells it
	// from others, and of two classes those of both. Balanced weighs classes that Weights don't name
	// as linear.Settings says. Models don't keep them, and [Problem.Train] ignores them. Default: 1.
	Weights  map[string]float64 `param:"weight" above:"0" wants:"CLASS=W, a number above 0" flag:""`
	Balanced bool               `param:"balanced" flag:""`
	prices   [2]float64         // multiples of the losses of a machine, of positive documents the second; zero for 1

	// NoBias sets b = 0, so that hyperplanes go through the origin.
	NoBias bool `param:"origin" help:"hyperplanes go through the origin"`

	// Tolerance stops the search when the gradient norm falls below Tolerance times its norm at w = 0
	// and, if C is finite, the value is at most Tolerance times itself above its minimum.
	Tolerance float64 `param:"tolerance" default:"1e-4" above:"0" below:"1" flag:""`

	Iterations int `param:"iterations" default:"1000" min:"1" help:"iterations of a search at most"`

	Loose bool // searches end by their gradients alone: their machines are compared, and none says that it has converged
}

// resolve checks the settings and fills in defaults.
func (s Settings) resolve() (Settings, error) {
	err := params.Resolve(&s)
	if err != nil {
		err = fmt.Errorf("logistic: %w", err)
	}
	return s, err
}

// Options are those of package task.
type Options = task.Options
