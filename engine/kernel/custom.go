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
	// goroutines at a time.
	Eval func(c, x, y float64) float64

	// Row computes dst[j] = Eval(c[j], x, y[j]) for a row of values; dst may be the same slice as
	// c. An element must depend on its own c, x and y[j] alone, with the same bits for x and y[j]
	// exchanged; rows come in any length, that of c, and y may be nil for a kernel that doesn't use
	// norms. Default: Eval, value by value; or, for a kernel that doesn't use norms, a table of
	// Eval, as those of this package have it, which takes a nanosecond a value. The table is for
	// functions that are smooth, apart from steepness near c = 0, 1 and 2: a jump or a peak
	// narrower than some 1/64 of its distance from these may escape it.
	Row func(dst, c []float32, x float32, y []float32)

	// Error bounds the absolute error of a value of Row, see Kernel.Error. Default: one rounding to
	// float32.
	Error func(c, x, y float64) float64

	// Properties say what is known of the kernel. What they don't say is taken to be unknown;
	// UsesNorms false is a promise that Eval doesn't look at x and y, which [New] tries.
	Properties Properties
}

// New returns a kernel of one's own, which gets the same tiles, workers and cache as those of this
// package. Two calls give two different kernels, whatever their names. What its functions panic
// with comes back from computations as a [PanicError].
//
// Errors: no name, that of another kernel, no Eval, an Error without Row, an Eval that changes with the norms where
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
	case c.Error != nil && c.Row == nil:
		return nil, fmt.Errorf("engine: kernel %s: the function Error without Row, whose error it bounds", c.Name)
	}
	if !c.Properties.UsesNorms {
		defer func() {
			if v := recover(); v != nil {
				k, err = nil, run.NewPanicError("engine: kernel "+c.Name, v)
			}
		}()
		for _, v := range [...]float64{0, 0.25, 1} {
			if one, other := c.Eval(v, 1, 1), c.Eval(v, 2, 3); one != other && (one == one || other == other) {
				return nil, fmt.Errorf(
					"engine: kernel %s: Eval depends on the norms, expected Properties.UsesNorms: at c = %g it is %g "+
						"for the norms 1 and 1, %g for 2 and 3",
					c.Name,
					v,
					one,
					other,
				)
			}
		}
	}
	own := &kernel{in: in{c.Embedding}, formula: customFormula(c), text: c.Name, own: true, leaves: 1}
	own.ready()
	own.known.UsesNorms = c.Properties.UsesNorms
	return own, nil
}

// customFormula makes the formula: of c alone, unless the kernel has a map or uses norms.
func customFormula(c Custom) formula {
	if c.Row == nil && !c.Properties.UsesNorms {
		g := onUnit(func(v float64) float64 { return c.Eval(v, 1, 1) })
		return formula{value: func(a at) ref { return a.fn(g, a.c) }, known: c.Properties}
	}
	value := &call{c.Eval}
	f := formula{value: func(a at) ref { return a.by(value) }, known: c.Properties}
	f.direct = &direct{
		apply: func(_ *asm.Kernels, dst, cs, x, y []float32) {
			if len(x) == 0 { // a kernel of c alone may be given no norms
				c.Row(dst, cs, 1, nil)
				return
			}
			n := len(y)
			for i, xi := range x {
				dst, cs := dst[i*n:][:n:n], cs[i*n:][:n:n]
				if c.Row != nil {
					c.Row(dst, cs, xi, y)
					continue
				}
				for j, yj := range y {
					dst[j] = float32(c.Eval(float64(cs[j]), float64(xi), float64(yj)))
				}
			}
		},
		error: func(v, x, y float64) float64 {
			if c.Error != nil {
				return c.Error(v, x, y)
			}
			return unit*math.Abs(c.Eval(v, x, y)) + underflow
		},
	}
	return f
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
