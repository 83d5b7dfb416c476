package asm

// generic is the table of the portable kernels.
var generic = Kernels{
	ISA:       Generic,
	Panel:     genericPanel,
	Cost:      Cost{HeadValue: 10, TailMatch: 2},
	PanelDot:  panelDotGeneric,
	TailAdd:   tailAddGeneric,
	TailStore: tailStoreGeneric,
	Transpose: transposeGeneric,
	Finish: func(c, s []float32) {
		for i, v := range s {
			c[i] = min(max(1-v, 0), 2)
		}
	},
}
