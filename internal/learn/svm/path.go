package svm

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/solver"
)

// parametersOf returns the numbers in a kernel's specification, and the text without numbers.
// Kernels with the same text differ only in numbers.
func parametersOf(k kernel.Kernel) (text string, numbers []float64) {
	var words []string
	for _, word := range strings.FieldsFunc(
		k.String(), func(r rune) bool { return strings.ContainsRune(":,()=* ", r) },
	) {
		if word == "pi" {
			numbers = append(numbers, math.Pi)
		} else if v, err := strconv.ParseFloat(word, 64); err == nil {
			numbers = append(numbers, v)
		} else {
			words = append(words, word)
			continue
		}
		words = append(words, "#")
	}
	return strings.Join(words, " "), numbers
}

// pathOrder returns the order of kernels in which similar kernels are consecutive: kernels with the
// same text are sorted by their numbers, widest kernel first. Problems with wide kernels are the
// fastest to solve without a warm start. With eight values of t from 0.1 to 2 on 20 Newsgroups, an
// evaluation took 27 s in ascending order of t, and 24 s in descending order.
func pathOrder(kernels []kernel.Kernel) (order []int) {
	var texts []string
	groups, numbers := map[string][]int{}, make([][]float64, len(kernels))
	for i, k := range kernels {
		var text string
		if text, numbers[i] = parametersOf(k); groups[text] == nil {
			texts = append(texts, text)
		}
		groups[text] = append(groups[text], i)
	}
	for _, text := range texts {
		group := groups[text]
		slices.SortStableFunc(group, func(a, b int) int { return slices.Compare(numbers[a], numbers[b]) })
		if kernelWidth(kernels[group[0]]) < kernelWidth(kernels[group[len(group)-1]]) {
			slices.Reverse(group)
		}
		order = append(order, group...)
	}
	return order
}

// kernelWidth returns the kernel value of two unit vectors at an angle of 60 degrees, relative to
// the value of equal vectors.
func kernelWidth(k kernel.Kernel) float64 { return k.Eval(0.5, 1, 1) / k.Eval(0, 1, 1) }

type path struct {
	kernels     [2]kernel.Kernel // last kernel first
	validations [2]*solver.Validation
}

func (p *path) add(k kernel.Kernel, v *solver.Validation) {
	p.kernels[1], p.validations[1] = p.kernels[0], p.validations[0]
	p.kernels[0], p.validations[0] = k, v
}

// maxExtrapolation limits the extrapolation beyond the last kernel, in units of the last step.
const maxExtrapolation = 2

// warmStarts returns warm starts for kernel k. If k and the last kernel differ in only one number,
// the warm starts are the last kernel's solutions. If the last two kernels also differ only in this
// number, their solutions are extrapolated to k, up to maxExtrapolation. Steps between positive
// numbers are differences of logarithms.
//
// With the diffusion kernel on 20 Newsgroups (eight values of t from 0.1 to 2, five folds, C = 1),
// warm starts from the last kernel reduced the iterations to 75%, extrapolation from the last two
// kernels to 63%, and from the last three to 75%.
func (p *path) warmStarts(k kernel.Kernel) []solver.WarmStart {
	which, last, now := changedParameter(p.kernels[0], k)
	if which < 0 {
		return nil
	}
	at := []solver.WarmStart{{Validation: p.validations[0], Factor: 1}}
	before, x, y := changedParameter(p.kernels[1], p.kernels[0])
	if before != which {
		return at
	}
	scale := func(v float64) float64 { return v }
	if x > 0 && y > 0 && now > 0 {
		scale = math.Log
	}
	by := (scale(now) - scale(last)) / (scale(y) - scale(x))
	if !(by > 0 && by <= maxExtrapolation) {
		return at
	}
	return []solver.WarmStart{{Validation: p.validations[0], Factor: 1 + by}, {Validation: p.validations[1], Factor: -by}}
}

// changedParameter returns the index of the only number in which two kernels differ, and the two
// values. The index is -1 if a kernel is nil, or if the kernels don't differ in just one number.
func changedParameter(a, b kernel.Kernel) (which int, from, to float64) {
	if a == nil || b == nil {
		return -1, 0, 0
	}
	ta, na := parametersOf(a)
	tb, nb := parametersOf(b)
	which = -1
	if ta != tb {
		return which, 0, 0
	}
	for i := range na {
		if na[i] != nb[i] {
			if which >= 0 {
				return -1, 0, 0
			}
			which, from, to = i, na[i], nb[i]
		}
	}
	return which, from, to
}
