package asm

var tableGeneric = Kernels{
	ISA:          Generic,
	PanelWidth:   genericPanel,
	Cost:         Cost{HeadValue: 10, HeadCacheMiss: 1, HeadDocument: 20, TailMatch: 2, TailVisit: 6, L3Byte: 0.05},
	PanelDot:     panelDotGeneric,
	PanelDotLast: panelDotLastGeneric,
	PanelDotRows: panelDotRowsGeneric,
	TailAdd:      tailAddGeneric,
	TailStore:    tailStoreGeneric,
	Transpose:    transposeGeneric,

	Finish: finishGeneric,
	Select: selectGeneric,
	Min:    minGeneric,

	ChiSquare: Pairing{
		Cost:  Cost{HeadValue: 30, HeadCacheMiss: 1, HeadDocument: 20, TailMatch: 3, TailVisit: 15, L3Byte: 0.05},
		Panel: panelChiSquareGeneric, Terms: chiSquareTermsGeneric,
	},
	JensenShannon: Pairing{
		Cost:  Cost{HeadValue: 100, HeadCacheMiss: 1, HeadDocument: 20, TailMatch: 10, TailVisit: 15, L3Byte: 0.05},
		Panel: panelJensenShannonGeneric, Terms: jensenShannonTermsGeneric,
	},

	Add:        addGeneric,
	Exp:        expGeneric,
	Diffusion:  diffusionGeneric,
	NGD:        ngdGeneric,
	NGDExp:     ngdExpGeneric,
	Dot:        dotGeneric,
	Gaussian:   gaussianGeneric,
	ArcCosine0: arcCosine0Generic,
	ArcCosine1: arcCosine1Generic,
	ArcCosine2: arcCosine2Generic,
	Piecewise:  piecewiseGeneric,

	HalfLine: halfLineGeneric,
	Tanh:     tanhGeneric,
	Decay:    decayGeneric,
	Affine:   affineGeneric,
	Squares:  squaresGeneric,
	Narrow:   narrowGeneric,
	Widen:    widenGeneric,
	Add64:    add64Generic,
	Sub64:    sub64Generic,
	Mul64:    mul64Generic,
	Div64:    div64Generic,

	AddRows:      addRowsGeneric,
	Extremes:     extremesGeneric,
	Step:         stepGeneric,
	ArgGain:      argGainGeneric,
	Prefetch:     prefetchGeneric,
	Gather:       gatherGeneric,
	Beyond:       beyondGeneric,
	RowSums:      rowSumsGeneric,
	Multiply:     multiplyGeneric[float32],
	MultiplyWide: multiplyGeneric[float64],

	Peak: peakGeneric,
	Read: readGeneric,
}
