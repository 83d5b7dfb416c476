package kernel

import (
	"github.com/gramengine/gram/engine/internal/hyperbolic"
	"github.com/gramengine/gram/engine/kernel/internal/syntax"
)

// Hyperbolic says which kernel of spherical normal distributions is meant: the heat kernel of the
// hyperbolic space that they form with the Fisher metric,
//
//	k = K(t, r)/K(t, 0), or K(t, r) itself
//
// where r is the distance of two distributions, in units of curvature -1, and K the heat kernel of
// Hⁿ. It isn't a [Kernel]: it compares normal distributions, not documents, and isn't a
// function of a cosine.
//
// K is positive definite on Hⁿ, so k is for n = P+1, its default, and above, where the space of the
// distributions is a part of Hⁿ. Source: Lafferty and Lebanon, JMLR 6 (2005), §3.1, equations (5)
// and (6).
type Hyperbolic struct {
	T    float64 // time in squared units of r
	N    int     // dimension of the space, 0 for that of the distributions
	Full bool    // k = K(t, r), not divided by its value at r = 0
}

// hyperbolicName is the kernel's name.
const hyperbolicName = "hyperbolic"

func init() {
	register(family{
		Info: Info{
			Name:    hyperbolicName,
			Summary: "K(t,r)/K(t,0), K the heat kernel of Hⁿ, cosh r = 1 + (‖μ-μ′‖²/2P + (σ-σ′)²)/2σσ′",
			What: "hyperbolic diffusion of sets of points in R^P, each a spherical normal distribution by its " +
				"maximum-likelihood estimate",
			Source: sourceLafferty + ", §3.1", Examples: []string{"hyperbolic:t=1"},
			Properties: nonNegative("for n > P", sourceLafferty+", §3.1"),
		},
		place: 1000, sets: true,
		params: []param{
			positive("t", "diffusion time, in squared units of the distance for curvature -1", 1),
			whole("n", "dimension of the hyperbolic space; auto is that of the distributions, P+1", 1, 1,
				hyperbolic.MaxDimension).
				or("auto", 0).
				because(hyperbolic.Beyond),
			word("constant", "K(t,0), the same for all pairs: divided out or not", constantNames...),
		},
	})
}

// SetKernels describes the kernels of sets of points, which [Parse] doesn't know, as [Catalogue]
// does the others.
func SetKernels() []Info { return []Info{familyOf(hyperbolicName).info()} }

// IsHyperbolic reports whether a specification begins with the name of the hyperbolic kernel, so
// that [ParseHyperbolic] is the one to read it.
func IsHyperbolic(spec string) bool { return syntax.FirstWord(spec) == hyperbolicName }

// ParseHyperbolic reads a specification such as hyperbolic:t=0.5,n=3. What is wrong is answered
// with a [*SpecError].
func ParseHyperbolic(spec string) (Hyperbolic, error) {
	c, err := syntax.ParseCall(spec, &syntax.Vocabulary{
		Names: []string{hyperbolicName},
		Word: func(name string) *syntax.Word {
			if name != hyperbolicName {
				return nil
			}
			return familyOf(name).word()
		},
	})
	if err != nil {
		return Hyperbolic{}, err
	}
	v, err := newBuilder(spec, c).values(c)
	if err != nil {
		return Hyperbolic{}, err
	}
	return Hyperbolic{T: v[0], N: int(v[1]), Full: v[2] > 0}, nil
}

// String returns the specification with all parameters, as [ParseHyperbolic] reads it; an n that is
// 0 is left out.
func (h Hyperbolic) String() string {
	text := hyperbolicName + ":t=" + syntax.FormatNumber(h.T)
	if h.N > 0 {
		text += ",n=" + syntax.FormatNumber(float64(h.N))
	}
	if h.Full {
		text += ",constant=" + constantNames[1]
	}
	return text
}

// PropertiesFor returns what is known of the kernel on points of R^p.
func (h Hyperbolic) PropertiesFor(p int) Properties {
	known := familyOf(hyperbolicName).Properties
	known.Condition = ""
	if h.N > 0 && h.N <= p {
		known.Definite, known.Condition = NotProven, "positive definite for n > P"
	}
	return known
}

// Kernel returns h in the form of a [Kernel], for programs that carry one about, such as those that
// train: it has a specification and properties, and [Resolve] fills n in, but it has no values: it
// is no function of c, and an engine refuses it. Its documents are distributions as vectors, see
// Distributions.Vectors of package normal, raw.
func (h Hyperbolic) Kernel() Kernel { return setKernel{h: h} }

// HyperbolicOf returns what [Hyperbolic.Kernel] was made of; false for other kernels.
func HyperbolicOf(k Kernel) (Hyperbolic, bool) {
	s, ok := k.(setKernel)
	return s.h, ok
}

// setKernel is a kernel of sets of points.
type setKernel struct {
	valueless
	h Hyperbolic
}

func (k setKernel) String() string { return k.h.String() }

// Properties returns what is known of the kernel where n is above the number of coordinates;
// [Hyperbolic.PropertiesFor] knows that.
func (setKernel) Properties() Properties { return familyOf(hyperbolicName).Properties }

// resolve fills n in: the vectors of distributions have P+1 columns.
func (k setKernel) resolve(terms int) Kernel {
	if k.h.N == 0 {
		k.h.N = terms
	}
	return k
}
