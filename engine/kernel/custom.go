package kernel

import (
	"fmt"
	"math"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Custom describes a kernel of one's own for [New]. Name and Eval are needed, the rest is optional.
type Custom struct {
	// Name is what String returns, and what files of models name the kernel by: a program that loads
	// one brings the kernel again, see svm.PredictOptions.Kernels. It should say all parameters. It is a word that
	// [Parse] doesn't know, after which may stand a colon and keys with values, such as cauchy:s=3.
	Name string

	// Embedding says how counts become vectors. Default: the counts themselves.
	Embedding sparse.Embedding

	// Eval returns the kernel's value for c = 1 - cosine in [0, 2] and the norms x and y of two
	// documents, in float64, and the same bits with x and y exchanged. It is called from several
	// goroutines at a time. A kernel that doesn't use norms becomes a table of Eval, as those of this
	// package have it: for functions that are smooth, apart from steepness near c = 0, 1 and 2. A jump
	// or a peak narrower than some 1/64 of its distance from these may escape it.
	Eval func(c, x, y float64) float64

	// Properties say what is known of the kernel. What they don't say is taken to be unknown;
	// UsesNorms false is a promise that Eval doesn't look at x and y, which [New] tries.
	Properties Properties
}

// New returns a kernel of one's own, which gets the same tiles, workers and cache as those of this
// package. Two calls give two different kernels, whatever their names. What its functions panic
// with comes back from computations as a [PanicError].
//
// Errors: no name, that of another kernel, no Eval, an Eval that changes with the norms where
// Properties.UsesNorms is false, a [PanicError] where Eval panics at c = 0, ¼ or 1.
func New(c Custom) (k Kernel, err error) {
	switch {
	case c.Name == "":
		return nil, fmt.Errorf("engine: a kernel without a name")
	case !readable(c.Name):
		return nil, fmt.Errorf("engine: a kernel of one's own is called %q, expected a word of letters, digits, - and _, "+
			"or one with parameters such as cauchy:s=3, so that specifications can name it", c.Name)
	case known(c.Name):
		return nil, fmt.Errorf("engine: a kernel of one's own is called %s, expected a name that no other kernel has",
			c.Name)
	case c.Eval == nil:
		return nil, fmt.Errorf("engine: kernel %s: no function Eval", c.Name)
	}
	if !c.Properties.UsesNorms {
		defer func() {
			if v := recover(); v != nil {
				k, err = nil, run.NewPanicError("engine: kernel "+c.Name, v)
			}
		}()
		for _, v := range [...]float64{0, 0.25, 1} {
			if one, other := c.Eval(v, 1, 1), c.Eval(v, 2, 3); one != other && (one == one || other == other) {
				return nil, fmt.Errorf("engine: kernel %s: Eval depends on the norms, expected Properties.UsesNorms: "+
					"at c = %g it is %g for the norms 1 and 1, %g for 2 and 3", c.Name, v, one, other)
			}
		}
	}
	g, value := onUnit(func(v float64) float64 { return c.Eval(v, 1, 1) }), &call{c.Eval}
	own := &kernel{in: in{c.Embedding}, text: c.Name, own: true, leaves: 1}
	own.formula = formula{known: c.Properties, value: func(a at) ref {
		if c.Properties.UsesNorms {
			return a.by(value)
		}
		return a.fn(g, a.c)
	}}
	return own.ready(), nil
}

// readable reports whether the grammar of specifications takes a name for a kernel without parts.
func readable(name string) bool {
	p := parser{spec: name, any: true}
	t, err := p.call()
	return err == nil && t.Parts == "" && t.pos == 0 && t.end == len(name)
}

// known reports whether a name is the specification of another kernel, so that a file that holds it
// would be read as that.
func known(name string) bool {
	word := firstWord(name)
	return familyOf(word) != nil || word == precomputedName
}

// precomputedName is the specification of [Precomputed], which [Parse] doesn't know.
const precomputedName = "precomputed"

// Precomputed returns the kernel of a Gram matrix that was computed elsewhere, as for
// LIBSVM's -t 4. It stands for the matrix where a kernel is asked for, and has no values of its own: an
// engine refuses it.
func Precomputed() Kernel { return precomputed{} }

// IsPrecomputed reports whether k is [Precomputed].
func IsPrecomputed(k Kernel) bool { return k == precomputed{} }

type precomputed struct{}

func (precomputed) String() string { return precomputedName }

// Properties returns that nothing is known of the matrix but by its user.
func (precomputed) Properties() Properties {
	return Properties{Condition: "as the matrix is", Unrefuted: true}
}

// Embedding implements [Kernel].
func (precomputed) Embedding() sparse.Embedding { return sparse.Embedding{} }

// Eval implements [Kernel]: there is no value.
func (precomputed) Eval(c, x, y float64) float64 { return math.NaN() }

// mapTo implements [Kernel]: there is no value.
func (precomputed) mapTo(_ *asm.Kernels, dst, c, x, y []float32) {
	for i := range dst {
		dst[i] = float32(math.NaN())
	}
}

// Error implements [Kernel].
func (precomputed) Error(c, x, y float64) float64 { return math.Inf(1) }

// Check checks that a kernel is there, and a function of c and norms: others have no values.
func Check(k Kernel) error {
	if k == nil {
		return errNil
	}
	if IsPrecomputed(k) {
		return fmt.Errorf("engine: kernel %s is a matrix that was computed elsewhere, and can't be computed "+
			"from documents", k)
	}
	return nil
}
