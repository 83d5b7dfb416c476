package cuda_test

import (
	"errors"
	"testing"

	"github.com/gramengine/gram/cuda"
	"github.com/gramengine/gram/internal/doortest"
)

// A device's doors are those of builds with the tag cuda, whose tests run them on a driver in Go.
func TestDoors(t *testing.T) {
	doortest.Run(t, doortest.Package{
		Good: []any{&cuda.Failure{Err: errors.New("x")}},
		Elsewhere: map[string]string{
			"Open": "TestOptions", "Probe": "TestErrors", "Device.Close": "TestClosed", "Device.Info": "TestClosed",
			"Device.KernelTimes": "TestClosed", "Device.Load": "TestBadRequests",
		},
	})
}
