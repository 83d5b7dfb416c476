package panel

import (
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// heldBy returns the memory of a value's slices in bytes, including nested slices and structs, but
// not the memory behind pointers.
func heldBy(v reflect.Value) (bytes int64) {
	switch v.Kind() {
	case reflect.Slice:
		bytes = int64(v.Cap()) * int64(v.Type().Elem().Size())
		if k := v.Type().Elem().Kind(); k == reflect.Slice || k == reflect.Struct {
			for i := range v.Len() {
				bytes += heldBy(v.Index(i))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			bytes += heldBy(v.Field(i))
		}
	}
	return bytes
}

// The memory of a panel in all fields, after all documents and with the longest ones together, is
// at most the memory in HostBytes, and not far below it.
func TestPanelBytes(t *testing.T) {
	long := enginetest.Zipf(100, 10000, 1000, 3)
	n := len(long.Terms)
	// every document occurs twice, so all have a close document
	long.Terms, long.Values = append(long.Terms, long.Terms...), append(long.Values, long.Values...)
	for _, at := range long.Offsets[1:] {
		long.Offsets = append(long.Offsets, int64(n)+at)
	}
	shared := &sparse.CSR{Cols: 6000, Offsets: []int64{0}} // half of each tail is common, so c is recomputed
	for i := range 80 {
		for w := range uint32(5000) {
			shared.Terms = append(shared.Terms, w+uint32(i%2)*1000)
			shared.Values = append(shared.Values, 1)
		}
		shared.Offsets = append(shared.Offsets, int64(len(shared.Terms)))
	}
	for name, x := range map[string]*sparse.Embedded{
		"rows": enginetest.EmbedCSR(t, sparse.SphereEmbedding, enginetest.Zipf(700, 5000, 12, 4)),
		// all pairs are recomputed
		"close":  enginetest.EmbedCSR(t, sparse.SphereEmbedding, enginetest.Zipf(700, 40, 200, 1)),
		"tail":   enginetest.EmbedCSR(t, sparse.SphereEmbedding, long),
		"shared": enginetest.EmbedCSR(t, sparse.SphereEmbedding, shared),
		"direct": enginetest.EmbedCSR(t, sparse.SphereEmbedding, enginetest.Zipf(700, 5000, 20, 3)),
		"histograms": enginetest.EmbedCSR(t, sparse.Embedding{Norm: sparse.NormL1, Pairing: sparse.JensenShannon},
			long),
	} {
		for _, head := range []int{64, 4000} { // the second head has more segments than are summed in one pass
			b := newBackend(t, x, Options{Workers: 1, HeadTerms: head,
				DenseOperand: map[string]DenseOperand{"rows": DenseColumns}[name]})
			all := run.Range(0, x.Rows())
			longest := slices.Clone(all)
			slices.SortFunc(longest,
				func(i, j int) int { return int(x.Offsets[j+1] - x.Offsets[j] - x.Offsets[i+1] + x.Offsets[i]) })
			for _, r := range []*device.Request{{RowIndices: all, Hi: len(all), UpperOnly: true},
				{RowIndices: longest[:b.kernels.PanelWidth], Hi: len(all)}} {
				musttest.NoError(t, b.ComputeRows(t.Context(), r, func(*device.Tile) error { return nil }))
			}
			if len(b.idlePanels) != 1 {
				t.Fatalf("%d panels of one worker", len(b.idlePanels))
			}
			p := b.idlePanels[0]
			p.docs, p.exact.docs = nil, nil // owned by the task
			if held := heldBy(reflect.ValueOf(*p)) + int64(unsafe.Sizeof(*p)); held > b.panelMax ||
				held < b.panelMax*4/5 {
				t.Errorf("%s, head of %d terms, %d segments: a panel holds %d bytes, panelBytes says %d", name,
					b.layout.headTerms(), len(b.columns.head), held, b.panelMax)
			}
		}
	}
}

func newBackend(t *testing.T, x *sparse.Embedded, o Options) *Backend {
	t.Helper()
	if o.Kernels == nil {
		o.Kernels = asm.BestKernels()
	}
	return musttest.Get(New(t.Context(), x, o))(t)
}
