package asm_test

import (
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/doortest"
)

// Kernels and pairings are functions of raw slices, which TestShortSlices tries.
func TestDoors(t *testing.T) {
	defer asm.UseCaches(asm.Caches{})
	ones := &[asm.HalfAngleNumbers]float64{1, 1, 1, 1, 1}
	doortest.Run(t, doortest.Package{
		Calls: [][]any{
			{asm.Available}, {asm.For, asm.Available()[0]}, {asm.Best}, {asm.MachineCaches}, {asm.UseCaches}, {asm.UsedCaches},
			{asm.PiecewiseRows}, {asm.TailFixed}, {asm.PiecewiseRow}, {asm.HalfLineRow}, {asm.HalfAngle, 0.5, ones, ones},
		},
	})
}
