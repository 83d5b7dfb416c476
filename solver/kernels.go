package solver

import "math"

// Kernels are the loops in which the solver spends its time. The zero value means the portable ones of this package; others must give the
// same bits, or the promise of the same model from every processor is the caller's to keep. All may be called concurrently.
type Kernels struct {
	// GradientUpdate adds multiples of two rows, each operation rounded to float64 by itself: g[t] += a·ki[t] + b·kj[t].
	GradientUpdate func(g []float64, ki, kj []float32, a, b float64)

	// ArgMax returns the greatest of g[t] with mask[t] & bit != 0 and the first place where it stands, -1 and -Inf where there is none.
	ArgMax func(g []float64, mask []byte, bit byte) (at int, best float64)

	// ArgMin returns the least of g[t] with mask[t] & bit != 0 and the first place where it stands, -1 and +Inf where there is none.
	ArgMin func(g []float64, mask []byte, bit byte) (at int, best float64)

	// ArgGain returns, over mask[t] & bit != 0 and g[t] < gmax, the greatest (gmax - g[t])² / max(kii + diag[t] - 2·ki[t], 10^-12) and the
	// first place where it stands, -1 and 0 where there is none, and the least g[t] with mask[t] & bit != 0, +Inf where there is none.
	ArgGain func(g []float64, ki, diag []float32, mask []byte, bit byte, gmax, kii float64) (at int, gain, low float64)
}

// curvatureFloor stands for the curvature along a pair of variables where that isn't positive: of equal documents, or of a kernel that
// isn't positive definite. A step is then as long as the bounds allow, and still descends. LIBSVM has the same value.
const curvatureFloor = 1e-12

// orPortable fills in what the caller left open.
func (k Kernels) orPortable() Kernels {
	if k.GradientUpdate == nil {
		k.GradientUpdate = gradientUpdate
	}
	if k.ArgMax == nil {
		k.ArgMax = argMax
	}
	if k.ArgMin == nil {
		k.ArgMin = argMin
	}
	if k.ArgGain == nil {
		k.ArgGain = argGain
	}
	return k
}

func gradientUpdate(g []float64, ki, kj []float32, a, b float64) {
	ki, kj = ki[:len(g)], kj[:len(g)]
	for t, v := range ki {
		g[t] += float64(a*float64(v)) + float64(b*float64(kj[t]))
	}
}

func argMax(g []float64, mask []byte, bit byte) (at int, best float64) {
	at, best = -1, math.Inf(-1)
	mask = mask[:len(g)]
	for t, v := range g {
		if mask[t]&bit != 0 && v > best {
			at, best = t, v
		}
	}
	return at, best
}

func argMin(g []float64, mask []byte, bit byte) (at int, best float64) {
	at, best = -1, math.Inf(1)
	mask = mask[:len(g)]
	for t, v := range g {
		if mask[t]&bit != 0 && v < best {
			at, best = t, v
		}
	}
	return at, best
}

func argGain(g []float64, ki, diag []float32, mask []byte, bit byte, gmax, kii float64) (at int, gain, low float64) {
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
			k := float64(ki[t])
			d, a := gmax-v, kii+float64(diag[t])-(k+k)
			if !(a > curvatureFloor) {
				a = curvatureFloor
			}
			if q := float64(d*d) / a; q > gain {
				at, gain = t, q
			}
		}
	}
	return at, gain, low
}
