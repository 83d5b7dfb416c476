package geometry_test

import (
	"testing"

	"github.com/gramengine/gram/engine/geometry"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/doortest"
)

func TestDoors(t *testing.T) {
	half := []float64{0.5, 0.25, 0.25}
	doortest.Run(t, doortest.Package{
		Good: []any{doortest.As[kernel.Kernel](kernel.MustParse("rbf:gamma=1"))},
		Bad:  []any{doortest.As[kernel.Kernel](kernel.MustParse("diffusion:t=1"))},
		Calls: [][]any{
			{geometry.At}, {geometry.Metric}, {geometry.Fisher, half}, {geometry.FisherDistance, half, half},
			{geometry.FisherGeodesic, half, half, 0.5}, {geometry.FisherLogVolume, 3},
			{geometry.Table},
		},
	})
}
