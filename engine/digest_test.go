package engine

import (
	"testing"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

// The digest covers the values from the diagonal on, and is the same for any number of workers.
func TestDigest(t *testing.T) {
	x := embedded(t, sparse.SphereEmbedding, zipf(300, 500, 11, 3))
	for _, name := range []string{"c", "diffusion:t=0.5"} {
		k := parse(t, name)
		var want uint64
		for workers := range 3 {
			e := newEngine(t, x, Options{Workers: 1 + workers})
			if workers == 0 {
				g := gram(t, e, k)
				for i := range g.N {
					for j := i; j < g.N; j++ {
						want += device.HashValue(i, j, g.Row(i)[j])
					}
				}
			}
			if got, err := e.Digest(t.Context(), k); got != want || err != nil {
				t.Errorf("%s, %d workers: %x, expected %x, error %v", name, 1+workers, got, want, err)
			}
		}
	}
}
