package solver

import (
	"math"

	"github.com/gramengine/gram/asm"
)

// dual is the common form of all problems, with variables α[t] over documents d(t):
//
//	minimise    ½ Σ_s Σ_t y[s]y[t]α[s]α[t]·K[d(s)][d(t)] + Σ_t p[t]α[t]
//	subject to  0 <= α[t] <= upper[t],  Σ_t y[t]α[t] constant, and for ν-SVC and ν-SVR also Σ_t α[t] constant
//
// where y[t] is +1 or -1. The solver stores the score of each variable,
//
//	score[t] = -y[t]·∂f/∂α[t] = offset[t] - Σ_s y[s]α[s]·K[d(s)][d(t)],  offset[t] = -y[t]·p[t],
//
// A step that adds y[t]·λ to α[t] changes the scores by -λ·K[d(t)], which doesn't depend on y.
//
// Variable t belongs to document d(t) = docs[t mod len(docs)]. Each document has one variable or,
// in regression, two: for targets above and below the estimate.
type dual struct {
	docs []int // rows of the matrix, increasing
	variables
	perClass   bool // each sign has its own equality constraint, as in ν-SVC and ν-SVR
	fixedSum   bool // the sum of α is fixed (ν-SVC, ν-SVR, one-class SVM), so warm starts aren't used
	stepsTaken int  // number of steps that a multiSMO has taken
	progress   *runProgress
}

// runProgress holds the progress of a problem. Shrunk versions of the problem share it.
type runProgress struct {
	documents        int
	initialViolation float64 // largest violation so far, usually the initial violation
	steps            int
	fraction         float64 // estimated completed fraction; never decreases
}

// advance adds steps and returns the completed fraction, which is below 1 until the run ends. The
// fraction grows by up to 1/4 in proportion to the steps until there is one step per four
// documents, because the violation hardly changes at first. It grows by up to 3/4 linearly in the
// logarithm of the violation, because the violation decreases approximately as a power of time.
func (p *runProgress) advance(gap, tolerance float64, steps int) float64 {
	const begin = 0.25
	p.steps += steps
	p.initialViolation = max(p.initialViolation, gap)
	part := begin * min(1, 4*float64(p.steps)/float64(p.documents))
	if gap > tolerance && tolerance > 0 {
		part += (1 - begin) * math.Log(p.initialViolation/gap) / math.Log(p.initialViolation/tolerance)
	}
	return max(p.fraction, part)
}

type variables struct {
	sign                 []int8
	upper, offset, alpha []float64
	score                []float64 // score and mask are padded to paddedLen, with mask 0
	mask                 []byte
	diag                 []float32
}

func newVariables(n int) variables {
	f := make([]float64, 3*n+paddedLen(n))
	return variables{
		sign: make([]int8, n), upper: f[:n:n], offset: f[n : 2*n : 2*n], alpha: f[2*n : 3*n : 3*n], score: f[3*n:],
		mask: make([]byte, paddedLen(n)), diag: make([]float32, n),
	}
}

func (v *variables) copyVariable(t int, of *variables, at int) {
	v.sign[t], v.upper[t], v.offset[t], v.alpha[t] = of.sign[at], of.upper[at], of.offset[at], of.alpha[at]
	v.score[t], v.mask[t], v.diag[t] = of.score[at], of.mask[at], of.diag[at]
}

// The mask of a variable contains upBit if y·α may increase, and lowBit if y·α may decrease. If
// each sign has its own equality constraint, sign -1 uses upNegativeBit and lowNegativeBit.
const (
	upBit, lowBit                 = 1, 2
	upNegativeBit, lowNegativeBit = 4, 8
)

// constraintBits returns the bits {up, low} of each equality constraint.
func (d *dual) constraintBits() [][2]byte {
	if d.perClass {
		return [][2]byte{{upBit, lowBit}, {upNegativeBit, lowNegativeBit}}
	}
	return [][2]byte{{upBit, lowBit}}
}

func maskBits(sign int8, alpha, upper float64, perClass bool) byte {
	var bits byte
	if sign > 0 && alpha < upper || sign < 0 && alpha > 0 {
		bits |= upBit
	}
	if sign > 0 && alpha > 0 || sign < 0 && alpha < upper {
		bits |= lowBit
	}
	if perClass && sign < 0 {
		bits <<= 2
	}
	return bits
}

func newDual(docs []int, variablesPerDocument int, m *checkedMatrix) *dual {
	d := emptyDual(docs, variablesPerDocument)
	for t := range d.diag {
		d.diag[t] = m.diagonal[docs[t%len(docs)]]
	}
	return d
}

func paddedLen(n int) int { return (n + asm.ScanBlock - 1) / asm.ScanBlock * asm.ScanBlock }

func emptyDual(docs []int, copies int) *dual {
	return &dual{docs: docs, variables: newVariables(len(docs) * copies), progress: &runProgress{documents: len(docs)}}
}

func (d *dual) refreshMask() {
	for t, s := range d.sign {
		d.mask[t] = maskBits(s, d.alpha[t], d.upper[t], d.perClass)
	}
}

// snapToBounds moves variables that are within rounding error of a bound to this bound. After a
// warm start, the sums of α over the two signs differ by a rounding error. If all variables but one
// are at a bound, the remaining variable differs from its bound by the rounding error. Without
// snapToBounds, the remaining variable would count as free and determine the bias.
func (d *dual) snapToBounds() {
	const rounding = 1e-12
	most := 0.0
	for _, a := range d.alpha {
		most = max(most, a)
	}
	for t, a := range d.alpha {
		switch upper := d.upper[t]; {
		case upper-a <= rounding*upper:
			d.alpha[t] = upper
		case a <= rounding*most:
			d.alpha[t] = 0
		}
	}
	d.refreshMask()
}

// objective returns the objective ½ Σ α(∇f + p), with ∇f = -y·score and p = -y·offset.
func (d *dual) objective() float64 {
	var f float64
	for t, a := range d.alpha {
		if a != 0 {
			f -= float64(d.sign[t]) * a * (d.score[t] + d.offset[t])
		}
	}
	return f / 2
}

// multiplier returns the Lagrange multiplier of the equality constraint with the given mask bits
// {up, low}. It is the mean score of the free variables. If no variable is free, it is the midpoint
// of the interval that the optimality conditions allow. For C-SVC it is -rho.
func (d *dual) multiplier(bits [2]byte) float64 {
	var sum float64
	free := 0
	hi, lo := math.Inf(-1), math.Inf(1)
	for t, m := range d.mask {
		if m&bits[0] != 0 && m&bits[1] != 0 {
			sum += d.score[t]
			free++
		}
		if m&bits[0] != 0 {
			hi = max(hi, d.score[t])
		}
		if m&bits[1] != 0 {
			lo = min(lo, d.score[t])
		}
	}
	switch {
	case free > 0:
		return sum / float64(free)
	case math.IsInf(hi, 0) && math.IsInf(lo, 0):
		return 0
	case math.IsInf(hi, 0): // y·α can't increase for any variable, so all are at a bound
		return lo
	case math.IsInf(lo, 0):
		return hi
	}
	return (hi + lo) / 2
}

// violation returns the maximum distance of a document's scores beyond the midpoint (hi + lo)/2 of
// the extremes, in the direction that violates optimality. It is negative for documents that stay
// at their bound.
func (d *dual) violation(doc int, ends []extremes) float64 {
	far := math.Inf(-1)
	for e, b := range d.constraintBits() {
		middle := (ends[e].hi + ends[e].lo) / 2
		for t := doc; t < len(d.sign); t += len(d.docs) {
			if d.mask[t]&b[0] != 0 {
				far = max(far, d.score[t]-middle)
			}
			if d.mask[t]&b[1] != 0 {
				far = max(far, middle-d.score[t])
			}
		}
	}
	return far
}

// margin returns the margin of ν-SVC, which is half the difference between the multipliers of the
// two equality constraints, or 0 if the difference may be rounding error.
func (d *dual) margin() float64 {
	margin := (d.multiplier([2]byte{upNegativeBit, lowNegativeBit}) - d.multiplier([2]byte{upBit, lowBit})) / 2
	var sum, most float64
	for t, a := range d.alpha {
		sum += a
		most = max(most, math.Abs(float64(d.diag[t])))
	}
	if math.Abs(margin) <= marginTolerance*sum*most {
		return 0
	}
	return margin
}

// marginTolerance bounds the rounding error of the margin of two equal classes, relative to
// Σα·max|K[i][i]|, the maximum possible score. It is far above the float64 precision 2⁻⁵³, because
// errors accumulate, and far below the float32 precision 2⁻²⁴ of kernel values.
const marginTolerance = 0x1p-40

func (d *dual) rho() float64 {
	if d.perClass {
		return -(d.multiplier([2]byte{upBit, lowBit}) + d.multiplier([2]byte{upNegativeBit, lowNegativeBit})) / 2
	}
	return -d.multiplier([2]byte{upBit, lowBit})
}

// checkFinite returns an error if a score or a diagonal element isn't finite. A NaN or infinity
// elsewhere in a row makes scores non-finite when the row is added to the scores.
func (d *dual) checkFinite() error {
	for t, s := range d.score[:len(d.sign)] {
		if s += float64(d.diag[t]); math.IsNaN(s) || math.IsInf(s, 0) {
			return userError("document %d, or a document trained together with it, has a kernel value that is not finite",
				d.docs[t%len(d.docs)])
		}
	}
	return nil
}
