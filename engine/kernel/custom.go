package kernel

import (
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/gramengine/gram/sparse"
)

// Custom describes a user-defined kernel for [New]. Name and Eval are required.
type Custom struct {
	// Name is a word of letters, digits, - and _ that isn't in [Names], such as cauchy-3. Model
	// files store only the name, so programs that load a model must pass the kernel again.
	Name string

	// Embedding is the embedding of the documents. Default: counts.
	Embedding sparse.Embedding

	// Eval returns the value in float64 for c = 1 - cosine in [0, 2] and the norms x and y of two
	// documents. It must be symmetric in x and y, bit for bit, and safe for concurrent use. A
	// function of c alone is tabulated. The table may miss a discontinuity, or a peak narrower than
	// 1/64 of its distance from c = 0, 1 and 2.
	Eval func(c, x, y float64) float64

	// Properties are the known properties of the kernel. If UsesNorms is false, Eval must not
	// depend on x and y. [New] checks this at three values of c.
	Properties Properties
}

// New returns a user-defined kernel. Kernels from different calls aren't equal, even if the names
// are equal. New fails if the name is empty, invalid or taken, if Eval is nil, or if Eval depends
// on the norms although Properties.UsesNorms is false. It returns a [PanicError] if
// Properties.UsesNorms is false and Eval panics at c = 0, ¼ or 1.
func New(c Custom) (k Kernel, err error) {
	switch {
	case c.Name == "":
		return nil, fmt.Errorf("engine: Custom.Name is empty")
	case strings.ContainsFunc(c.Name, func(r rune) bool { return r > 'z' || !isWord("", byte(r)) }):
		return nil, fmt.Errorf("engine: name of a user-defined kernel must consist of letters, digits, - and _, such as "+
			"cauchy-3, got %q", c.Name)
	case findFamily(c.Name) != nil || c.Name == precomputedName:
		return nil, fmt.Errorf("engine: name %s of a user-defined kernel is already in use", c.Name)
	case c.Eval == nil:
		return nil, fmt.Errorf("engine: kernel %s: Eval is nil", c.Name)
	}
	own := newCustom(c)
	if !c.Properties.UsesNorms {
		defer Recover(own, &err)
		for _, v := range [...]float64{0, 0.25, 1} {
			if one, other := c.Eval(v, 1, 1), c.Eval(v, 2, 3); one != other && (one == one || other == other) {
				return nil, fmt.Errorf("engine: kernel %s: Eval depends on the norms, so set Properties.UsesNorms; "+
					"at c = %g it returns %g for norms 1 and 1, but %g for norms 2 and 3", c.Name, v, one, other)
			}
		}
	}
	return own, nil
}

func newCustom(c Custom) *kernel {
	g, value := tabulatedFunction(func(v float64) float64 { return c.Eval(v, 1, 1) }), &goFunc{c.Eval}
	f := &family{Name: c.Name, embedding: c.Embedding}
	own := &kernel{embedding: c.Embedding, family: f, text: c.Name, hasCustom: true, leafCount: 1}
	own.formula = formula{properties: c.Properties, value: func(a input) ref {
		if c.Properties.UsesNorms {
			return a.callFunc(value)
		}
		return a.fn(g, a.c)
	}}
	return own.finish()
}

// precomputedName is the specification of [Precomputed]. [Parse] doesn't accept it.
const precomputedName = "precomputed"

// Precomputed returns the kernel of a Gram matrix that another program computed, as with LIBSVM's
// -t 4. Its values are NaN, and engines reject it.
func Precomputed() Kernel { return precomputed() }

// IsPrecomputed reports whether k is [Precomputed].
func IsPrecomputed(k Kernel) bool { return k != nil && k == precomputed() }

var precomputed = sync.OnceValue(func() Kernel {
	return newCustom(Custom{Name: precomputedName, Eval: func(_, _, _ float64) float64 { return math.NaN() },
		Properties: Properties{Condition: "depends on the matrix", Unrefuted: true}})
})

// Check returns an error if k is nil or is [Precomputed].
func Check(k Kernel) error {
	if k == nil {
		return errNil
	}
	if IsPrecomputed(k) {
		return fmt.Errorf("engine: kernel %s is a precomputed matrix, so it cannot be computed "+
			"from documents", k)
	}
	return nil
}
