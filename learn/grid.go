package learn

import (
	"fmt"
	"slices"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/learn/svm"
)

// What a search of support vector machines does by default: the work of its choice, as a multiple of
// the training, and how many of the best it compares on all documents.
const SearchWork, Finalists = 60.0, 3

// DefaultLists are what a grid of a type tries where no lists are given: t of diffusion, unless a
// kernel is given, and nu or C, unless that is.
func DefaultLists(t model.Type, kernelGiven, cGiven bool) (out []kernel.List) {
	if !kernelGiven {
		out = append(out, kernel.List{Name: "t", Values: []float64{0.1, 0.25, 0.5, 1, 2}})
	}
	if t == model.NuSVC {
		out = append(out, kernel.List{Name: "nu", Values: []float64{0.05, 0.1, 0.2, 0.4}})
	} else if !cGiven {
		out = append(out, kernel.List{Name: "C", Values: []float64{0.1, 1, 10, 100}})
	}
	return out
}

// CheckList checks that a list suits a type, and its values the parameter; those of kernels' own
// parameters are checked by [Grid].
func CheckList(t model.Type, list kernel.List) error {
	least, most, has := 0.0, 1e300, true
	switch list.Name {
	case "C":
		has = t != model.NuSVC
	case "nu":
		most, has = 1, t == model.NuSVC || t == model.NuSVR
	case "epsilon":
		has = t == model.EpsilonSVR
	default:
		return nil
	}
	if !has {
		return fmt.Errorf("%s: type %s has no %s", list.Name, t, list.Name)
	}
	for _, v := range list.Values {
		if !(v > least && v <= most) {
			return fmt.Errorf("%s: %v, expected numbers above %v and at most %v", list.Name, v, least, most)
		}
	}
	return nil
}

// Grid makes a grid of kernels and lists: C, nu, epsilon and kernels' parameters. It returns the names
// of lists that none of the kernels takes, too. Errors: values that a kernel refuses, a kernel twice.
func Grid(kernels []engine.Kernel, lists []kernel.List) (out svm.Grid, unused []string, err error) {
	var own []kernel.List
	for _, list := range lists {
		switch list.Name {
		case "C":
			out.C = list.Values
		case "nu":
			out.Nu = list.Values
		case "epsilon":
			out.Epsilon = list.Values
		default:
			own = append(own, list)
		}
	}
	if out.Kernels, unused, err = kernel.Vary(kernels, own); err != nil {
		return out, unused, err
	}
	for i, k := range out.Kernels {
		if slices.ContainsFunc(out.Kernels[:i], func(other engine.Kernel) bool { return engine.SameKernel(other, k) }) {
			return out, unused, fmt.Errorf("kernel %s is in the search twice", k)
		}
	}
	return out, unused, nil
}
