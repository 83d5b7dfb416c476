//go:build !purego

package asm

import (
	"slices"

	"github.com/gramengine/gram/asm/internal/layout"
	"github.com/klauspost/cpuid/v2"
)

// Required processor features by instruction set. cpuid reports a feature only if the operating
// system saves the registers of the feature.
var (
	featuresAVX2   = []cpuid.FeatureID{cpuid.AVX2, cpuid.FMA3, cpuid.BMI1, cpuid.BMI2}
	featuresAVX512 = slices.Concat(featuresAVX2,
		[]cpuid.FeatureID{cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512DQ, cpuid.AVX512VL})
)

func nativeTables() []*Kernels {
	var list []*Kernels
	if cpuid.CPU.Supports(featuresAVX2...) {
		list = append(list, &tableAVX2)
	}
	if cpuid.CPU.Supports(featuresAVX512...) {
		list = append(list, &tableAVX512)
	}
	return list
}

var tableAVX2 = Kernels{
	ISA:        AVX2,
	PanelWidth: layout.PanelWidth,
	Cost: Cost{HeadValue: 1.42, HeadCacheMiss: 0.3, HeadDocument: 7, TailMatch: 0.55, TailDocument: 8,
		TailVisit: 6, DenseDocument: 6, L3Byte: 0.05},

	PanelDot:     panelDotAVX2,
	PanelDotLast: panelDotLastAVX2,
	PanelDotRows: panelDotRowsAVX2,
	TailAdd:      tailAddAVX2,
	TailStore:    transposeWithFallback(tailStore8AVX2, tailStoreGeneric),
	Transpose:    transposeWithFallback(transpose8AVX2, transposeGeneric),
	Finish:       finishAVX2,
	Select:       selectWithFallback(selectAVX2),
	Min:          minWithFallback(leastAVX2),

	ChiSquare: Pairing{
		Cost:  Cost{HeadValue: 9.2, HeadCacheMiss: 0.3, HeadDocument: 7, TailMatch: 2.8, TailVisit: 60, L3Byte: 0.05},
		Panel: panelChiSquareAVX2, Terms: chiSquareTermsAVX2,
	},
	JensenShannon: Pairing{
		Cost:  Cost{HeadValue: 34, HeadCacheMiss: 0.3, HeadDocument: 7, TailMatch: 3.2, TailVisit: 60, L3Byte: 0.05},
		Panel: panelJensenShannonAVX2, Terms: jensenShannonTermsAVX2,
	},

	Add:        addAVX2,
	Exp:        expAVX2,
	Diffusion:  diffusionAVX2,
	NGD:        ngdAVX2,
	NGDExp:     ngdExpAVX2,
	Dot:        dotAVX2,
	Gaussian:   gaussianAVX2,
	ArcCosine0: arcCosine0AVX2,
	ArcCosine1: arcCosine1AVX2,
	ArcCosine2: arcCosine2AVX2,
	Piecewise:  piecewiseAVX2,

	HalfLine: halfLineAVX2,
	Tanh:     tanhAVX2,
	Decay:    decayAVX2,
	Affine:   affineAVX2,
	Squares:  squaresAVX2,
	Narrow:   narrowAVX2,
	Widen:    widenAVX2,
	Add64:    add64AVX2,
	Sub64:    sub64AVX2,
	Mul64:    mul64AVX2,
	Div64:    div64AVX2,

	AddRows:      addRowsAVX2,
	Prefetch:     prefetch,
	Gather:       gather,
	Extremes:     extremesAVX2,
	Step:         stepAVX2,
	ArgGain:      argGainAVX2,
	Beyond:       beyondAVX2,
	RowSums:      rowSumsWithFallback(sumRowsAVX2),
	Multiply:     multiplyAVX2,
	MultiplyWide: multiplyWideAVX2,

	Peak: peakAVX2,
	Read: readAVX2,
}

// tableAVX512 uses the AVX2 version of kernels that wider registers don't make faster.
var tableAVX512 = func() Kernels {
	k := tableAVX2
	k.ISA = AVX512
	k.PanelDot = panelDotAVX512
	k.PanelDotLast = panelDotLastAVX512
	k.PanelDotRows = panelDotRowsAVX512
	k.ChiSquare.Cost.HeadValue = 7.4
	k.ChiSquare.Panel, k.ChiSquare.Terms = panelChiSquareAVX512, chiSquareTermsAVX512
	k.JensenShannon.Cost.HeadValue = 27
	k.JensenShannon.Panel, k.JensenShannon.Terms = panelJensenShannonAVX512, jensenShannonTermsAVX512
	k.Select = selectWithFallback(selectAVX512)
	k.Min = minWithFallback(leastAVX512)
	k.Add = addAVX512
	k.Exp = expAVX512
	k.Diffusion = diffusionAVX512
	k.NGD = ngdAVX512
	k.NGDExp = ngdExpAVX512
	k.Dot = dotAVX512
	k.Gaussian = gaussianAVX512
	k.ArcCosine0 = arcCosine0AVX512
	k.ArcCosine1 = arcCosine1AVX512
	k.ArcCosine2 = arcCosine2AVX512
	k.Tanh = tanhAVX512
	k.Decay = decayAVX512
	k.Affine = affineAVX512
	k.Squares = squaresAVX512
	k.Narrow, k.Widen = narrowAVX512, widenAVX512
	k.Add64, k.Sub64, k.Mul64, k.Div64 = add64AVX512, sub64AVX512, mul64AVX512, div64AVX512
	k.AddRows = addRowsAVX512
	k.Extremes = extremesAVX512
	k.Step = stepAVX512
	k.ArgGain = argGainAVX512
	k.Beyond = beyondAVX512
	k.RowSums = rowSumsWithFallback(sumRowsAVX512)
	k.Multiply = multiplyAVX512
	k.MultiplyWide = multiplyWideAVX512
	k.Peak = peakAVX512
	k.Read = readAVX512
	return k
}()

// transposeWithFallback returns a transposition of tiles of any size. An assembly kernel transposes
// multiples of 8 rows and columns, and the portable kernel the edges.
func transposeWithFallback[T float32 | int32](blocks, portable transposition[T]) transposition[T] {
	return func(dst []float32, dstStride int, src []T, srcStride, rows, cols int) {
		if rows == 0 || cols == 0 {
			return
		}
		r, c := rows&^7, cols&^7
		blocks(dst, dstStride, src, srcStride, r, c)
		if c < cols {
			portable(dst[c*dstStride:], dstStride, src[c:], srcStride, r, cols-c)
		}
		if r < rows {
			portable(dst[r:], dstStride, src[r*srcStride:], srcStride, rows-r, cols)
		}
	}
}

func rowSumsWithFallback(
	whole func(sum []float64, rows []float32, base int, at []int32, coef []float64),
) func(sum []float64, rows []float32, base int, at []int32, coef []float64) {
	return func(sum []float64, rows []float32, base int, at []int32, coef []float64) {
		if len(sum)%layout.RowSumsBlock != 0 {
			rowSumsGeneric(sum, rows, base, at, coef)
			return
		}
		whole(sum, rows, base, at, coef)
	}
}

func selectWithFallback(
	whole func(index []uint32, c []float32, stride int, lines, places []float32) int,
) func(index []uint32, c []float32, stride int, lines, places []float32) int {
	return func(index []uint32, c []float32, stride int, lines, places []float32) int {
		if len(places)%layout.SelectBlock != 0 {
			return selectGeneric(index, c, stride, lines, places)
		}
		return whole(index, c, stride, lines, places)
	}
}

func minWithFallback(
	whole func(least []float32, levels int, c []float32, stride, lines, places, group int),
) func(least []float32, levels int, c []float32, stride, lines, places, group int) {
	return func(least []float32, levels int, c []float32, stride, lines, places, group int) {
		if places%layout.SelectBlock != 0 {
			minGeneric(least, levels, c, stride, lines, places, group)
			return
		}
		whole(least, levels, c, stride, lines, places, group)
	}
}
