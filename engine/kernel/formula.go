package kernel

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/kernel/internal/table"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// formula describes a kernel with its parameters. With k(x, y) = ⟨φ(x), φ(y)⟩,
//
//	c2 = 1 - k(x, y) / √(k(x, x) k(y, y)),   x2 = √k(x, x),   y2 = √k(y, y)
//
// are 1 - cosine and the norms of φ(x) and φ(y). They are the input of kernels on the feature
// space.
type formula struct {
	value func(a input) ref // adds the nodes of k to a.e

	// deficit adds the nodes of c2 ≥ 0 to a.e, without cancellation for small c2. The default
	// evaluates the definition for each pair. deficit is used only if Properties.PositiveDiagonal
	// is set.
	deficit func(a input) ref

	norm       func(n norm) norm       // x2 as a function of x; default: by definition
	log        func(c float64) float64 // ln k, if k depends only on c and spans many orders of magnitude
	direct     *directMap              // hand-written map, or nil
	properties Properties              // properties except UsesNorms
	variable   Variable
}

type directMap struct {
	apply func(k *asm.Kernels, dst, c, x, y []float32)
	error func(c, x, y float64) float64
}

// kernel is a base kernel with its parameters, or a combination with its parts. It is immutable.
type kernel struct {
	formula
	family    *family
	embedding sparse.Embedding
	values    []float64 // parameters
	parts     []*kernel
	weights   []float64 // weights of the parts, for a sum

	text          string // the specification
	hasCustom     bool   // true if the kernel is or contains a user-defined kernel
	dependsOnData bool   // true if a parameter depends on the data
	leafCount     int    // number of kernels without parts
	p             float64
	separable     bool // true if k = (xy)^p g(c)
	tabled        bool // true if maps use a table of g

	exact          *expr
	deficitExpr    func() *expr           // expression of c2, built at the first call
	g, deficitFunc *function              // g(c) and c2 of a separable kernel
	mapPlan        func() *plan           // plan of the map, built at the first call
	resolved       atomic.Pointer[kernel] // last result of resolve
	terms          int                    // number of terms for which resolve made this kernel
}

func newKernel(f *family, values []float64) *kernel {
	k := &kernel{embedding: f.embedding, family: f, values: values, formula: f.build(values), leafCount: 1}
	k.text = k.spec(k.embedding)
	k.dependsOnData = f.resolve != nil && f.resolve(values, 1) != nil
	return k.finish()
}

func newCombination(f *family, parts []*kernel, weights, values []float64) *kernel {
	k := &kernel{embedding: parts[0].embedding, family: f, values: values, parts: parts, weights: weights}
	k.formula = f.combine(k)
	for _, p := range parts {
		k.leafCount, k.hasCustom, k.dependsOnData = k.leafCount+p.leafCount, k.hasCustom || p.hasCustom, k.dependsOnData ||
			p.dependsOnData
	}
	k.text = k.spec(k.embedding)
	return k.finish()
}

func (k *kernel) withEmbedding(e sparse.Embedding) *kernel {
	if k.embedding != e {
		k.embedding, k.text = e, k.spec(e)
	}
	return k
}

func (k *kernel) finish() *kernel {
	if k.deficit == nil {
		plain := &goFunc{k.plainDeficit}
		k.deficit = func(a input) ref { return a.callFunc(plain) }
	}
	k.exact = newExpr(true, k.value)
	k.p, k.separable = k.exact.power()
	// Tables hold float32. Values that overflow at norms of 1 may be finite at other norms.
	k.separable = k.separable && (k.p == 0 || !(math.Abs(k.exact.eval(0, 1, 1)) > maxDiagonal))
	k.tabled = k.separable && (len(k.parts) > 0 || !k.exact.isSimple())
	k.properties.UsesNorms = !k.separable || k.p != 0
	k.deficitExpr = sync.OnceValue(func() *expr { return newExpr(true, k.deficitAt) })
	if k.separable {
		k.g, k.deficitFunc = tabulate(func() *expr { return k.exact }, k.log), tabulate(k.deficitExpr, nil)
	}
	k.mapPlan = sync.OnceValue(func() *plan { return newPlan(newExpr(false, k.valueAt)) })
	return k
}

// maxDiagonal limits |k(x, x)| at ‖x‖ = 1 for tabulated kernels that depend on norms. Tables hold
// float32, whose maximum is 3.4e38.
const maxDiagonal = 1e36

// tabulate returns the expression e, with norms of 1, as a tabulated function of c. log is the
// logarithm of the function, or nil.
func tabulate(e func() *expr, log func(c float64) float64) *function {
	f := tabulatedFunction(func(c float64) float64 { return e().eval(c, 1, 1) })
	f.table = sync.OnceValue(func() *table.Piecewise { return table.New(f.f, log) })
	f.absError = func(c float64) float64 { return e().error(c, 1, 1, false) }
	return f
}

func (k *kernel) valueAt(a input) ref {
	if a.e.exact || !k.tabled {
		return k.value(a)
	}
	g := a.fn(k.g, a.c)
	if k.p == 0 {
		return g
	}
	return a.mul(a.normProduct(a.norm.scaledPower(1, k.p)), g)
}

func (k *kernel) deficitAt(a input) ref {
	if !a.e.exact && k.separable && !k.deficitExpr().isSimple() {
		return a.fn(k.deficitFunc, a.c)
	}
	return k.deficit(a)
}

// imageNorm returns the norm of φ(x) for documents x with norm n.
func (k *kernel) imageNorm(n norm) norm {
	switch {
	case k.separable && k.family != nil && !k.hasCustom:
		return n.scaledPower(math.Sqrt(k.exact.eval(0, 1, 1)), k.p)
	case k.norm != nil:
		return k.norm(n)
	}
	return n.compose("norm of "+k.text, func(x float64) float64 { return math.Sqrt(max(k.exact.eval(0, x, x), 0)) })
}

// plainDeficit returns c2 by its definition. Its absolute error is the rounding error of 1.
func (k *kernel) plainDeficit(c, x, y float64) float64 {
	return min(max(1-k.Eval(c, x, y)/(math.Sqrt(k.Eval(0, x, x))*math.Sqrt(k.Eval(0, y, y))), 0), 2)
}

func (k *kernel) String() string { return k.text }

func (k *kernel) Embedding() sparse.Embedding { return k.embedding }

func (k *kernel) Eval(c, x, y float64) float64 { return k.exact.eval(c, x, y) }

func (k *kernel) resolve(terms int) *kernel {
	if !k.dependsOnData {
		return k
	}
	r := k.resolved.Load()
	if r != nil && r.terms == terms {
		return r
	}
	if len(k.parts) == 0 {
		r = newKernel(k.family, k.family.resolve(k.values, terms))
	} else {
		parts := slices.Clone(k.parts)
		for i, p := range parts {
			parts[i] = p.resolve(terms)
		}
		r = newCombination(k.family, parts, k.weights, k.values)
	}
	r.withEmbedding(k.embedding).terms = terms
	k.resolved.Store(r)
	return r
}

func (k *kernel) mapTo(asm *asm.Kernels, dst, c, x, y []float32) {
	switch {
	case k.direct != nil:
		k.direct.apply(asm, dst, c, x, y)
	case k.tabled && k.p == 0:
		k.g.table().Apply(asm, dst, c)
	default:
		k.mapPlan().run(asm, dst, c, x, y)
	}
}

// Error implements [Kernel]. It propagates errors through the expression.
func (k *kernel) Error(c, x, y float64) float64 {
	if k.direct != nil {
		return nanToInf(k.direct.error(c, x, y))
	}
	err := k.mapPlan().e.error(c, x, y, true)
	return nanToInf(err + unitRoundoff*(math.Abs(k.Eval(c, x, y))+err) + underflowError)
}

func nanToInf(v float64) float64 {
	if v >= 0 {
		return v
	}
	return math.Inf(1)
}

var errNil = errors.New("engine: kernel is nil")

// Apply maps a tile of c = 1 - cosine to kernel values,
//
//	dst[i*len(y)+j] = k.Eval(c[i*len(y)+j], x[i], y[j])
//
// for the norms x of its rows and y of its columns. The error is at most k.Error. dst and c have
// len(x)*len(y) values. They may be the same slice, but must not overlap otherwise. x and y may
// both be empty if the kernel doesn't use norms. c must be in [0, 2], and norms must be finite and
// nonnegative. Results for other values are unspecified.
//
// If the lengths don't match, Apply fails and leaves dst unchanged. It returns a [PanicError] if a
// user-defined kernel panics. Values are NaN if a parameter that depends on the documents isn't
// resolved. Apply may be called concurrently.
func Apply(k Kernel, table *asm.Kernels, dst, c, x, y []float32) (err error) {
	if k == nil {
		return errNil
	}
	plain := len(x) == 0 && len(y) == 0 && !UsesNorms(k)
	if len(dst) != len(c) || !plain && len(dst) != len(x)*len(y) {
		return fmt.Errorf("engine: kernel %s: c has %d values and dst has %d, but both must have one value per pair of "+
			"%d row norms and %d column norms", k, len(c), len(dst), len(x), len(y))
	}
	defer Recover(k, &err)
	k.mapTo(table, dst, c, x, y)
	return nil
}

// PanicError reports that a function of a user-defined kernel panicked. Function names this
// function. Value is the panic value, and Stack the stack trace of the goroutine. Unwrap returns
// Value if it is an error. Computations, [New] and [Apply] return a PanicError because callers
// can't recover from a panic in a worker goroutine. The engine and the kernel remain usable.
// Kernel.Eval and Kernel.Error panic in the caller's goroutine.
type PanicError = run.PanicError

// Recover turns a panic into a [PanicError] and stores it in err. Callers of a kernel's functions
// defer Recover. If err is nil, Recover panics with the PanicError.
func Recover(k Kernel, err *error) {
	if v := recover(); v != nil {
		failed := run.NewPanicError("engine: kernel "+k.String(), v)
		if err == nil {
			panic(failed)
		}
		*err = failed
	}
}
