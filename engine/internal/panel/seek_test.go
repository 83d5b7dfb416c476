package panel

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The interpolating search agrees with binary search, for even and uneven lists.
func TestFirstFrom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		n := 1 + r.IntN(500)
		lo := r.IntN(n)
		var docs []uint16
		for d := lo; d < lo+1+r.IntN(n-lo); d++ {
			if r.IntN(1+r.IntN(9)) == 0 {
				docs = append(docs, uint16(d))
			}
		}
		for from := range n + 1 {
			want, _ := slices.BinarySearch(docs, uint16(from))
			if got := searchFrom(docs, from, n); got != want {
				t.Fatalf("firstFrom(%v, %d, %d) = %d, expected %d", docs, from, n, got, want)
			}
		}
	}
}
