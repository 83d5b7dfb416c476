package machines

import (
	"context"
	"testing"

	"github.com/gramengine/gram/cuda"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/sparse"
)

// Only where -backend auto has a choice a model waits for the documents, before their number
// decides.
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
		r := &predict{Compute: backend.Compute{Backend: tc.backend, ISA: tc.isa}}
		d, err := r.device(ended, support, &readDocuments{done: make(chan struct{})}) // which never come
		if d != nil || (err != nil) != tc.waits {
			t.Errorf("-backend %s -isa %q: device %v, error %v, expected to wait: %v", tc.backend, tc.isa, d, err,
				tc.waits)
		}
	}
}
