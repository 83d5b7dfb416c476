package learners

import (
	"context"
	"testing"

	"github.com/gramengine/gram/cuda"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/sparse"
)

// device waits for the number of documents only if -backend auto can choose between CPU and GPU.
func TestPredictWaitsForCUDA(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	support := &sparse.Embedded{CSR: sparse.CSR{Offsets: []int64{0}}}
	for _, tc := range []struct {
		backend, isa string
		waits        bool
	}{
		{"cpu", "", false}, {"auto", "generic", false}, {"auto", "", cuda.Built},
	} {
		r := &predict{ComputeFlags: backend.ComputeFlags{Backend: tc.backend, ISA: tc.isa}}
		d, err := r.device(ended, support, &pendingCount{done: make(chan struct{})}) // done is never closed
		if d != nil || (err != nil) != tc.waits {
			t.Errorf("-backend %s -isa %q: device %v, error %v, expected to wait: %v", tc.backend, tc.isa, d, err,
				tc.waits)
		}
	}
}
