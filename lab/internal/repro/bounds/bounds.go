// Package bounds computes covering numbers and Rademacher averages of kernels on documents, as
// defined in §4 of Lafferty and Lebanon, JMLR 6 (2005). It estimates the eigenvalues of the
// kernel's integral operator by the eigenvalues λ of K/n, where K is the Gram matrix of n
// documents. It estimates the eigenfunctions by √n times the eigenvectors.
package bounds

import (
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/engine/spectrum"
)

type bounds struct {
	// C_K, the maximum absolute value of eigenfunctions with eigenvalues above the rounding error
	maxEigenfunction float64
	coverings        []covering
	averages         []rademacherAverage
}

// covering holds j* and ε* of Theorem 2 for R = 1, so that ln N(ε*) <= ln n.
type covering struct {
	index  int     // j*
	radius float64 // ln ε*
}

// rademacherAverage holds the Rademacher average of functions with norm up to 1 and mean square up
// to r. mean is an estimate with random signs. bound is the upper bound in Theorem 5, √(2/n Σ
// min(r, λ)).
type rademacherAverage struct{ r, mean, bound float64 }

const signVectorCount = 100

// computeBounds computes the bounds for the Gram matrix a, for each ln n in logs and each r in
// radii. It sets eigenvalues below the rounding error to 0.
func computeBounds(a mat.Symmetric, logs, radii []float64) (*bounds, error) {
	var e mat.EigenSym
	if !e.Factorize(a, true) {
		return nil, errors.New("bounds: the eigenvalue decomposition did not converge")
	}
	values, columns, n := e.Values(nil), &mat.Dense{}, a.SymmetricDim()
	e.VectorsTo(columns)
	rounding := spectrum.RoundingBound(n, math.Max(math.Abs(values[0]), math.Abs(values[n-1])))
	largest, lambda := 0.0, make([]float64, n) // eigenvalues of K/n in descending order
	for j, v := range values {
		if v > rounding {
			lambda[n-1-j] = v / float64(n)
			largest = math.Max(largest, math.Sqrt(float64(n))*mat.Norm(columns.ColView(j), math.Inf(1)))
		}
	}
	b := &bounds{maxEigenfunction: largest}
	for _, l := range logs {
		j, radius := coveringRadius(lambda, l)
		b.coverings = append(b.coverings, covering{j, radius + math.Log(6*largest)})
	}
	random := rand.New(rand.NewPCG(1, uint64(n)))
	signs := mat.NewDense(n, signVectorCount, nil)
	for i := range n {
		for d := range signVectorCount {
			signs.Set(i, d, float64(1-2*random.IntN(2)))
		}
	}
	var products mat.Dense
	products.Mul(columns.T(), signs)
	for _, r := range radii {
		sum, rich, of := 0.0, 0.0, make([]float64, n)
		for d := range signVectorCount {
			for j := range n {
				of[j] = products.At(n-1-j, d)
			}
			sum += supremum(lambda, of, r)
		}
		for _, v := range lambda {
			rich += math.Min(r, v)
		}
		b.averages = append(b.averages, rademacherAverage{r, sum / signVectorCount, math.Sqrt(2 / float64(n) * rich)})
	}
	return b, nil
}

// coveringRadius returns j and the logarithm of ε/(6 C R). On any sample, functions of norm up to R
// in a kernel's Hilbert space have a covering number of at most n for
//
//	ε = 6 C R √(j (λ_1 … λ_j/n²)^(1/j) + Σ_{i>=j} λ_i)
//
// C is the maximum absolute value of the eigenfunctions, and j the smallest index for which λ_{j+1}
// < (λ_1 … λ_j/n²)^(1/j). Eigenvalues of K/n must be in descending order. Missing and negative
// eigenvalues are treated as 0. Source: Theorem 2, after Guo et al. (2002).
func coveringRadius(eigenvalues []float64, logN float64) (index int, logRadius float64) {
	at := func(j int) float64 { // λ_{j+1}
		if j < len(eigenvalues) && eigenvalues[j] > 0 {
			return eigenvalues[j]
		}
		return 0
	}
	if at(0) == 0 {
		return 0, math.Inf(-1)
	}
	product, mean := 0.0, 0.0 // ln(λ_1 … λ_j) and ln((λ_1 … λ_j/n²)^(1/j))
	for more := true; more; more = at(index) > 0 && !(math.Log(at(index)) < mean) {
		product += math.Log(at(index))
		index++
		mean = (product - 2*logN) / float64(index)
	}
	rest := 0.0 // sum of the remaining eigenvalues, added in ascending order
	for i := len(eigenvalues) - 1; i >= index-1; i-- {
		rest += at(i)
	}
	// ln √(exp(a) + exp(b))
	a, b := math.Log(float64(index))+mean, math.Log(rest)
	most := math.Max(a, b)
	return index, (most + math.Log1p(math.Exp(math.Min(a, b)-most))) / 2
}

// supremum returns the supremum of 1/n Σ σ_i f(x_i) over functions f in a kernel's Hilbert space
// whose norm is at most 1 and whose mean square on the n points is at most r > 0. signs[j] is vᵀσ
// for the eigenvector v of λ_j.
//
// With f = Σ a_j √(n λ_j) v_j, this is the supremum of Σ a_j √(λ_j/n) signs[j] over Σ a_j² <= 1 and
// Σ λ_j a_j² <= r. By duality it equals the minimum of
//
//	√(Σ λ_j signs[j]² / n / (θ + (1-θ) λ_j/r)),   0 <= θ <= 1
//
// The square is convex in θ, so bisection finds the minimum. Source: Theorem 5 (Mendelson, 2003).
func supremum(eigenvalues, signs []float64, r float64) float64 {
	at := func(theta float64) (value, slope float64) { // the square and its derivative
		for j, v := range eigenvalues {
			if v > 0 {
				weight := theta + (1-theta)*(v/r)
				term := v * signs[j] * signs[j] / weight
				value += term
				slope -= term * (1 - v/r) / weight
			}
		}
		return value, slope
	}
	lo, hi := 0.0, 1.0
	for range 60 {
		mid := (lo + hi) / 2
		if _, slope := at(mid); slope < 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	a, _ := at(lo)
	b, _ := at(hi)
	return math.Sqrt(math.Min(a, b) / float64(len(eigenvalues)))
}
