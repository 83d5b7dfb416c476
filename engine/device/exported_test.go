package device_test

import (
	"testing"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/doortest"
	"github.com/gramengine/gram/sparse"
)

func TestDoors(t *testing.T) {
	x := enginetest.Embedded(t, sparse.Sphere, enginetest.Zipf(9, 20, 5, 1))
	request := func() *device.Request { return &device.Request{Docs: []int{1, 0}, Hi: 9} }
	tile := &device.Tile{Rows: 3, Hi: 5, RowStride: 8, ColStride: 1, Value: make([]float32, 24)}
	numbers := func(n int) []float64 { return make([]float64, n) }
	doortest.Run(t, doortest.Package{
		Good: []any{x, request, tile, &device.Stats{}, kernel.ProgramOf(kernel.MustParse("diffusion:t=1"))},
		Calls: [][]any{
			{device.Mix}, {device.Power}, {"Tile.Row", 0},
			{"Request.ValidateLeast", 2, make([]int32, 4), make([]float32, 4)},
			{"Request.ValidateMultiply", numbers(18), 2, numbers(4)},
		},
	})
}
