package asm

// generic is the table of the portable kernels.
var generic = Kernels{
	ISA:       Generic,
	Panel:     32,
	Cost:      Cost{HeadValue: 9, TailMatch: 1.6},
	PanelDot:  panelDotGeneric,
	TailAdd:   tailAddGeneric,
	Transpose: transposeGeneric,
}
