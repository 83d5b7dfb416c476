package source

import (
	"fmt"
	"math"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/sparse"
)

// Kernels holds the flags that select kernels.
type Kernels struct {
	Specs     cli.StringList
	Embedding string
}

// Declare declares the flags. fallback is the default shown in the help.
func (k *Kernels) Declare(f *cli.Flags, fallback string) {
	f.Var(
		&k.Specs,
		"kernel",
		"kernel `SPEC`, see gram kernels; repeatable (default: "+fallback+")",
	)
	k.DeclareEmbedding(f, "embed documents with `EMBEDDING`, such as tfidf-l2 (default: the kernel's own)")
}

// DeclareEmbedding declares only -embed.
func (k *Kernels) DeclareEmbedding(f *cli.Flags, usage string) {
	f.StringVar(&k.Embedding, "embed", "", usage)
	f.AddCheck(func() error {
		if k.Embedding == "" {
			return nil
		}
		if _, err := sparse.ParseEmbedding(k.Embedding); err != nil {
			return cli.UsageError{Err: fmt.Errorf("-embed: %w", err)}
		}
		return nil
	})
}

// Parse returns the kernels selected by the flags, or the kernels specified by fallback if -kernel
// isn't set.
func (k *Kernels) Parse(fallback ...string) ([]kernel.Kernel, error) {
	specs := []string(k.Specs)
	if len(specs) == 0 {
		specs = fallback
	}
	embedding, err := sparse.ParseEmbedding(k.Embedding)
	if err != nil && k.Embedding != "" {
		return nil, cli.UsageError{Err: err}
	}
	var out []kernel.Kernel
	for _, spec := range specs {
		parsed, err := kernel.Parse(spec)
		if k.Embedding != "" {
			parsed, err = kernel.ParseIn(spec, embedding)
		}
		if err != nil {
			return nil, cli.UsageError{Err: err}
		}
		out = append(out, parsed)
	}
	return out, nil
}

// VariantSpecs returns specifications that test other code paths than the catalogue's examples.
func VariantSpecs() []string {
	return []string{"arccos:n=2.5", "arccos:n=0,bias=100", "arccos:n=0,bias=-0.3", "arccos:n=0,bias=0.3,sigma=0.5",
		"arccos:n=0,bias=0.3,embed=tf-l1-sqrt", "arccos:n=0,layers=3", "compose(rbf,arccos:n=1)",
		"compose(polynomial:r=1,degree=2,arccos:n=1,arccos:n=1)", "compose(polynomial:r=1,degree=3,arccos:n=1)",
		"compose(0.5*linear + rbf,arccos:n=1)", "power(rbf):p=0.5", "centred(ned)"}
}

// ExampleSpecs returns the specifications of all examples in the catalogue, followed by
// [VariantSpecs].
func ExampleSpecs() []string {
	var specs []string
	for _, info := range kernel.Catalogue() {
		specs = append(specs, info.Examples...)
	}
	return append(specs, VariantSpecs()...)
}

// WarnIndefinite warns if a kernel's matrices may have negative eigenvalues that aren't rounding
// errors. Conditionally positive definite kernels are accepted, because they can replace positive
// definite kernels in support vector machines and centred matrices.
func WarnIndefinite(e *cli.Env, k kernel.Kernel) {
	if p := kernel.PropertiesOf(k); p.Definiteness == kernel.UnprovenDefiniteness && p.Warning() != "" {
		e.Warnf("%s is not known to be positive definite (%s)", k, p.Condition)
	}
}

// WarnZeroDiagonal warns about documents whose k(x, x) underflows to 0, because kernel values of
// these documents are nearly 0.
func WarnZeroDiagonal(e *cli.Env, eng *engine.Engine, k kernel.Kernel) error {
	if kernel.IsPrecomputed(k) {
		return nil
	}
	zeros, min, max, err := zeroDiagonal(eng, k)
	if err != nil || zeros == 0 {
		return err
	}
	var norms string
	if kernel.UsesNorms(k) {
		norms = fmt.Sprintf(", of norms from %.4g to %.4g", min, max)
	}
	e.Warnf("%s: k(x, x) underflows to 0 for %s of %s%s, so they have almost no influence", k,
		report.FormatCount(zeros), report.FormatDocuments(eng.Len()), norms)
	return nil
}

// zeroDiagonal counts the nonempty documents whose k(x, x) underflows to 0, and returns the range
// of these documents' norms. If the kernel is positive definite, |k(x, y)| <= √(k(x, x) k(y, y)),
// so all kernel values of these documents are nearly 0.
func zeroDiagonal(eng *engine.Engine, k kernel.Kernel) (zeros int, min, max float64, err error) {
	x := eng.Info().Documents
	known := kernel.PropertiesOf(kernel.Resolve(k, len(x.Embedder.Terms)))
	d, err := eng.Diagonal(k)
	if err != nil || !known.PositiveDiagonal {
		return 0, 0, 0, err
	}
	min = math.Inf(1)
	for i, v := range d {
		if norm := x.Norms[i]; v == 0 && !(known.UsesNorms && float32(norm) == 0) {
			zeros++
			min, max = math.Min(min, norm), math.Max(max, norm)
		}
	}
	return zeros, min, max, nil
}
