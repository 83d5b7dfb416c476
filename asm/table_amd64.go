//go:build !purego

package asm

import "github.com/klauspost/cpuid/v2"

// The features that the kernels of an instruction set use. cpuid reports a feature only where the operating system saves its registers.
var (
	featuresAVX2   = []cpuid.FeatureID{cpuid.AVX2, cpuid.FMA3, cpuid.BMI1, cpuid.BMI2}
	featuresAVX512 = []cpuid.FeatureID{cpuid.AVX2, cpuid.FMA3, cpuid.BMI1, cpuid.BMI2, cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512DQ, cpuid.AVX512VL}
)

// native returns the tables in assembly that this processor can run, best last.
func native() []*Kernels {
	var list []*Kernels
	if cpuid.CPU.Supports(featuresAVX2...) {
		list = append(list, &tableAVX2)
	}
	if cpuid.CPU.Supports(featuresAVX512...) {
		list = append(list, &tableAVX512)
	}
	return list
}

// tableAVX2 is the table of the kernels for AVX2 and FMA; where there is none, the portable one stands.
var tableAVX2 = func() Kernels {
	k := generic
	k.ISA = AVX2
	k.Panel = 64
	k.Cost = Cost{HeadValue: 1.42, HeadFar: 0.3, HeadDocument: 7, TailMatch: 0.9, TailList: 16, L3Byte: 0.05}
	k.PanelDot = panelDotAVX2
	k.ChiSquare = Pairing{
		Cost:  Cost{HeadValue: 9.2, HeadFar: 0.3, HeadDocument: 7, TailMatch: 2.8, TailList: 60, L3Byte: 0.05},
		Panel: panelChiSquareAVX2, Terms: chiSquareTermsAVX2,
	}
	k.JensenShannon = Pairing{
		Cost:  Cost{HeadValue: 34, HeadFar: 0.3, HeadDocument: 7, TailMatch: 3.2, TailList: 60, L3Byte: 0.05},
		Panel: panelJensenShannonAVX2, Terms: jensenShannonTermsAVX2,
	}
	k.TailAdd = tailAddAVX2
	k.TailDirect = tailDirectAVX2
	k.TailStore = tailStoreAVX2
	k.Transpose = transposeAVX2
	k.Finish = finishAVX2
	k.Add = addAVX2
	k.ArcCos = arcCosAVX2
	k.ArcCosSq = arcCosSqAVX2
	k.Exp = expAVX2
	k.Diffusion = diffusionAVX2
	k.NGD = ngdAVX2
	k.NGDExp = ngdExpAVX2
	k.Dot = dotAVX2
	k.Gaussian = gaussianAVX2
	k.ArcCosine0 = arcCosine0AVX2
	k.ArcCosine1 = arcCosine1AVX2
	k.ArcCosine2 = arcCosine2AVX2
	k.Piecewise = piecewiseAVX2
	k.BivariateTail = bivariateTailAVX2
	k.HalfLine = halfLineAVX2
	k.Tanh = tanhAVX2
	k.GaussianDeficit = gaussianDeficitAVX2
	k.Affine = affineAVX2
	k.Squares = squaresAVX2
	k.HalfAngle = halfAngleAVX2
	k.Join = joinAVX2
	k.AddRows = addRowsAVX2
	k.Prefetch = prefetch
	k.Gather = gather
	k.Extremes = extremesAVX2
	k.Step = stepAVX2
	k.ArgGain = argGainAVX2
	k.Beyond = beyondAVX2
	k.RowSums = rowSumsAVX2
	k.Peak = peakAVX2
	k.Read = readAVX2
	return k
}()

// tableAVX512 is the table of the kernels for AVX-512 F, BW, DQ and VL, likewise.
var tableAVX512 = func() Kernels {
	k := generic
	k.ISA = AVX512
	k.Panel = 64
	k.Cost = Cost{HeadValue: 1.42, HeadFar: 0.3, HeadDocument: 7, TailMatch: 0.9, TailList: 16, L3Byte: 0.05}
	k.PanelDot = panelDotAVX512
	k.ChiSquare = Pairing{
		Cost:  Cost{HeadValue: 7.4, HeadFar: 0.3, HeadDocument: 7, TailMatch: 2.8, TailList: 60, L3Byte: 0.05},
		Panel: panelChiSquareAVX512, Terms: chiSquareTermsAVX512,
	}
	k.JensenShannon = Pairing{
		Cost:  Cost{HeadValue: 27, HeadFar: 0.3, HeadDocument: 7, TailMatch: 3.2, TailList: 60, L3Byte: 0.05},
		Panel: panelJensenShannonAVX512, Terms: jensenShannonTermsAVX512,
	}
	k.TailAdd = tailAddAVX2
	k.TailDirect = tailDirectAVX2
	k.TailStore = tailStoreAVX2
	k.Transpose = transposeAVX2
	k.Finish = finishAVX2
	k.Add = addAVX512
	k.ArcCos = arcCosAVX512
	k.ArcCosSq = arcCosSqAVX512
	k.Exp = expAVX512
	k.Diffusion = diffusionAVX512
	k.NGD = ngdAVX512
	k.NGDExp = ngdExpAVX512
	k.Dot = dotAVX512
	k.Gaussian = gaussianAVX512
	k.ArcCosine0 = arcCosine0AVX512
	k.ArcCosine1 = arcCosine1AVX512
	k.ArcCosine2 = arcCosine2AVX512
	k.Piecewise = piecewiseAVX2
	k.BivariateTail = bivariateTailAVX2
	k.HalfLine = halfLineAVX2
	k.Tanh = tanhAVX512
	k.GaussianDeficit = gaussianDeficitAVX512
	k.Affine = affineAVX512
	k.Squares = squaresAVX512
	k.HalfAngle = halfAngleAVX512
	k.Join = joinAVX512
	k.AddRows = addRowsAVX512
	k.Prefetch = prefetch
	k.Gather = gather
	k.Extremes = extremesAVX512
	k.Step = stepAVX512
	k.ArgGain = argGainAVX512
	k.Beyond = beyondAVX512
	k.RowSums = rowSumsAVX512
	k.Peak = peakAVX512
	k.Read = readAVX512
	return k
}()
