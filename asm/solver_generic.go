package asm

import (
	"math"

	"github.com/gramengine/gram/asm/internal/coeff"
)

// What the solver needs of a row of the matrix. The rows are float32, everything that is summed or compared is float64, and each operation
// is rounded by itself: the portable forms and those in assembly give the same bits, so that a training run is the same on every
// processor that computes the same matrix.
//
// In the dual problem min ½αᵀQα - eᵀα with Q[s][t] = y[s]·y[t]·K[s][t], the score of a variable is s[t] = -y[t]·∇f(α)[t]. I_up are the
// variables that may move along y[t], I_low those that may move against it; a mask has a bit for each. Source: Fan, Chen and Lin, JMLR 6
// (2005), §2.
//
// All slices are as long as the first, or longer. Nothing is checked, nothing is allocated, nothing is retained; calls may run
// concurrently as long as no destination overlaps what another call reads or writes.

// gradientUpdateGeneric adds multiples of two rows of the matrix to the scores (or to a gradient),
//
//	g[t] += a·ki[t] + b·kj[t],  0 <= t < len(g)
//
// with a = -y[i]·Δα[i] and b = -y[j]·Δα[j] for scores. Two products and two sums, each rounded to float64. g overlaps neither row.
func gradientUpdateGeneric(g []float64, ki, kj []float32, a, b float64) {
	ki, kj = ki[:len(g)], kj[:len(g)]
	for t, v := range ki {
		g[t] += float64(a*float64(v)) + float64(b*float64(kj[t]))
	}
}

// argMaxGeneric returns the greatest of the values that the mask admits,
//
//	best = max g[t] over mask[t] & bit != 0,  0 <= t < len(g)
//
// and where it stands, the lowest index of several. bit has one bit set. NaN and -Inf are passed over; where nothing is left the
// result is -1 and -Inf.
func argMaxGeneric(g []float64, mask []byte, bit byte) (at int, best float64) {
	at, best = -1, math.Inf(-1)
	mask = mask[:len(g)]
	for t, v := range g {
		if mask[t]&bit != 0 && v > best {
			at, best = t, v
		}
	}
	return at, best
}

// argMinGeneric returns the least of the values that the mask admits,
//
//	best = min g[t] over mask[t] & bit != 0,  0 <= t < len(g)
//
// and where it stands, the lowest index of several. bit has one bit set. NaN and +Inf are passed over; where nothing is left the
// result is -1 and +Inf.
func argMinGeneric(g []float64, mask []byte, bit byte) (at int, best float64) {
	at, best = -1, math.Inf(1)
	mask = mask[:len(g)]
	for t, v := range g {
		if mask[t]&bit != 0 && v < best {
			at, best = t, v
		}
	}
	return at, best
}

// argGainGeneric selects the second variable j of a working set {i, j} by the decrease of the objective that a step of the pair promises
// (twice that decrease, without the bounds on α),
//
//	gain = max (gmax - g[t])² / max(kii + diag[t] - 2·ki[t], 10^-12)  over mask[t] & bit != 0 and g[t] < gmax,  0 <= t < len(g)
//
// where g are the scores, gmax and kii the score and the diagonal element of i, ki its row of the matrix, diag the diagonal. at is where
// it stands, the lowest index of several, or -1 (and gain 0) where nothing is gained. low is the least score that the mask admits, +Inf
// where there is none: the duality gap that the solver stops on is gmax - low. bit has one bit set. NaN is passed over. Source: Fan,
// Chen and Lin, JMLR 6 (2005), §2.2, working set selection 3.
func argGainGeneric(g []float64, ki, diag []float32, mask []byte, bit byte, gmax, kii float64) (at int, gain, low float64) {
	at, low = -1, math.Inf(1)
	ki, diag, mask = ki[:len(g)], diag[:len(g)], mask[:len(g)]
	for t, v := range g {
		if mask[t]&bit == 0 {
			continue
		}
		if v < low {
			low = v
		}
		if v < gmax {
			d := gmax - v
			k := float64(ki[t])
			a := kii + float64(diag[t]) - (k + k)
			if !(a > coeff.CurvatureFloor) {
				a = coeff.CurvatureFloor
			}
			if q := float64(d*d) / a; q > gain {
				at, gain = t, q
			}
		}
	}
	return at, gain, low
}
