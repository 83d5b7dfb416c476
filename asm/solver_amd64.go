//go:build !purego

package asm

import "math"

// The kernels in assembly take blocks of sixteen elements and keep, for each place in the block, the best element met there; what the
// places hold is brought together here, and the elements after the last block are taken one by one.
const scanBlock = 16

// scan is what a kernel found at each place of a block: the value, the first element of the block it was met in (-1 if none), and the least
// score.
type scan struct {
	value [scanBlock]float64
	first [scanBlock]int64
	low   [scanBlock]float64
}

// best is the greatest (sign = 1) or least (sign = -1) of the values found, at the lowest index.
func (s *scan) best(sign, none float64) (at int, best float64) {
	at, best = -1, none
	for place, v := range s.value {
		if s.first[place] < 0 {
			continue
		}
		if t := int(s.first[place]) + place; sign*v > sign*best || at < 0 || v == best && t < at {
			at, best = t, v
		}
	}
	return at, best
}

// max, min and gain are the results of a kernel that took the first n elements, with the rest of them.
func (s *scan) max(n int, g []float64, mask []byte, bit byte) (at int, best float64) {
	at, best = s.best(1, math.Inf(-1))
	if t, v := argMaxGeneric(g[n:], mask[n:], bit); v > best {
		return n + t, v
	}
	return at, best
}

func (s *scan) min(n int, g []float64, mask []byte, bit byte) (at int, best float64) {
	at, best = s.best(-1, math.Inf(1))
	if t, v := argMinGeneric(g[n:], mask[n:], bit); v < best {
		return n + t, v
	}
	return at, best
}

func (s *scan) gain(n int, g []float64, ki, diag []float32, mask []byte, bit byte, gmax, kii float64) (at int, gain, low float64) {
	at, gain = s.best(1, 0)
	t, q, low := argGainGeneric(g[n:], ki[n:], diag[n:], mask[n:], bit, gmax, kii)
	if q > gain {
		at, gain = n+t, q
	}
	for _, v := range s.low {
		low = min(low, v)
	}
	return at, gain, low
}

// blocks is the number of elements in whole blocks.
func blocks(n int) int { return n &^ (scanBlock - 1) }

func gradientUpdateAVX2(g []float64, ki, kj []float32, a, b float64) {
	n := blocks(len(g))
	addPairAVX2(g[:n], ki, kj, a, b)
	gradientUpdateGeneric(g[n:], ki[n:], kj[n:], a, b)
}

func argMaxAVX2(g []float64, mask []byte, bit byte) (at int, best float64) {
	var s scan
	n := blocks(len(g))
	scanMaxAVX2(&s.value, &s.first, g[:n], mask, bit)
	return s.max(n, g, mask, bit)
}

func argMinAVX2(g []float64, mask []byte, bit byte) (at int, best float64) {
	var s scan
	n := blocks(len(g))
	scanMinAVX2(&s.value, &s.first, g[:n], mask, bit)
	return s.min(n, g, mask, bit)
}

func argGainAVX2(g []float64, ki, diag []float32, mask []byte, bit byte, gmax, kii float64) (at int, gain, low float64) {
	var s scan
	n := blocks(len(g))
	scanGainAVX2(&s.value, &s.first, g[:n], mask, bit, &s.low, ki, diag, gmax, kii)
	return s.gain(n, g, ki, diag, mask, bit, gmax, kii)
}

func gradientUpdateAVX512(g []float64, ki, kj []float32, a, b float64) {
	n := blocks(len(g))
	addPairAVX512(g[:n], ki, kj, a, b)
	gradientUpdateGeneric(g[n:], ki[n:], kj[n:], a, b)
}

func argMaxAVX512(g []float64, mask []byte, bit byte) (at int, best float64) {
	var s scan
	n := blocks(len(g))
	scanMaxAVX512(&s.value, &s.first, g[:n], mask, bit)
	return s.max(n, g, mask, bit)
}

func argMinAVX512(g []float64, mask []byte, bit byte) (at int, best float64) {
	var s scan
	n := blocks(len(g))
	scanMinAVX512(&s.value, &s.first, g[:n], mask, bit)
	return s.min(n, g, mask, bit)
}

func argGainAVX512(g []float64, ki, diag []float32, mask []byte, bit byte, gmax, kii float64) (at int, gain, low float64) {
	var s scan
	n := blocks(len(g))
	scanGainAVX512(&s.value, &s.first, g[:n], mask, bit, &s.low, ki, diag, gmax, kii)
	return s.gain(n, g, ki, diag, mask, bit, gmax, kii)
}
