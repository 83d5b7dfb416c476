package panel

import (
	"math"
	"reflect"
	"testing"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// Prepared documents take at most PreparedBytes, give the same bits in any number of requests, and
// belong to their back end.
func TestPrepared(t *testing.T) {
	x := enginetest.EmbedCSR(t, sparse.SphereEmbedding, enginetest.Zipf(300, 900, 6, 3))
	other := musttest.Get(x.Embedder.Transform(enginetest.Zipf(150, 900, 30, 4)))(t)
	docs := musttest.MakeSlice(other.Rows(), func(i int) int { return other.Rows() - 1 - i })
	for _, terms := range []int{-1, 40, 900} {
		b := newBackend(t, x, Options{Workers: 2, HeadTerms: terms})
		ready := musttest.Get(b.Prepare(t.Context(), other))(t)
		held, said := heldBy(reflect.ValueOf(*ready.(*docSet))), b.PreparedBytes(other.Rows(), other.NNZ())
		if held > said {
			t.Errorf("%d bytes are held, %d were announced", held, said)
		}
		values := func(r *device.Request) (bits []uint32) {
			bits = make([]uint32, len(docs)*x.Rows())
			err := b.ComputeRows(t.Context(), r, func(tile *device.Tile) error {
				for i := range tile.Rows {
					for j := range tile.Cols() {
						bits[(tile.FirstRow+i)*x.Rows()+tile.Lo+j] = math.Float32bits(tile.Values[i*tile.RowStride+j*tile.ColStride])
					}
				}
				return nil
			})
			musttest.NoError(t, err)
			return bits
		}
		r := device.Request{RowDocuments: other, RowIndices: docs, Hi: x.Rows(), Workers: 2}
		want := values(&r)
		r.Prepared = ready
		for range 2 {
			if !reflect.DeepEqual(values(&r), want) {
				t.Errorf("a head of %d terms: other bits of prepared documents", terms)
			}
		}
	}
}
