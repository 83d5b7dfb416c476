package engine

import (
	"context"
	"slices"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/internal/nearest"
	"github.com/gramengine/gram/internal/run"
)

// Maximum number of rows per batch, and maximum number of neighbours per document on a device. For
// each neighbour in the list, the device scans part of the row again.
const (
	reducedRows     = 2048
	maxReducedCount = 64
)

// fillListsOnDevice fills the lists with up to count neighbours per document, which the device
// selects. done reports whether the device supports the request. The device computes each pair
// twice, because that is faster than copying one triangle of the matrix.
func (s *search) fillListsOnDevice(
	ctx context.Context, lists *nearest.Lists, r *device.Request, count int, report *run.Reporter,
) (done bool, err error) {
	d, ok := s.e.c.Backend.(device.Reducer)
	if !ok || count < 1 || count > maxReducedCount {
		return false, nil
	}
	part := device.Request{RowDocuments: r.RowDocuments, Hi: r.Hi}
	if !s.byC {
		p, err := s.e.c.Program(s.kernel, r.RowDocuments)
		if p == nil || err != nil {
			return false, err
		}
		negated := *p
		negated.Instructions = append(slices.Clone(p.Instructions), device.Instruction{Op: device.OpNeg})
		if negated.Validate() != nil { // one more instruction may exceed the maximum length
			return false, nil
		}
		part.Program = &negated
	}
	k := count
	if r.UpperOnly {
		k++ // one more for the document itself
	}
	column, value := make([]int32, reducedRows*k), make([]float32, reducedRows*k)
	for first := 0; first < len(r.RowIndices); first += reducedRows {
		end := min(first+reducedRows, len(r.RowIndices))
		part.RowIndices = r.RowIndices[first:end]
		n := (end - first) * k
		err := run.CatchPanic("engine: Options.Device", func() error {
			return d.FindSmallest(ctx, &part, k, column[:n],
				value[:n])
		})
		if err != nil {
			return true, err
		}
		for at, j := range column[:n] {
			i := first + at/k
			if j >= 0 && !(r.UpperOnly && int(j) == r.RowIndices[i]) &&
				(s.scan.Accept == nil || s.scan.Accept(i, int(j), value[at])) {
				lists.Offer(i, 0+value[at], int(j)) // the sum replaces -0 by 0
			}
		}
		s.e.c.AddPairs(int64(end-first) * int64(r.Hi))
		report.Add(compute.RequestPairCount(r, first, end, 0, r.Hi))
	}
	return true, nil
}
