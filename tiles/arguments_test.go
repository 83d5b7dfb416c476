package tiles

import "testing"

// Tiles larger than any memory are never allocated, not even to compute their size.
func TestCacheOfGreatTiles(t *testing.T) {
	for _, width := range []int{1 << 24, maxValues} {
		c := NewCache(width, 1<<20)
		if state, _, _ := c.Claim(Key{}); state != Full {
			t.Errorf("width %d: state %d, expected Full", width, state)
		}
		if s := c.Stats(); s.Bytes != 0 {
			t.Errorf("width %d: counts %+v", width, s)
		}
	}
}

// TileBytes equals the memory that the runtime allocates.
func TestTileBytes(t *testing.T) {
	for _, width := range []int{1, 7, 1000, 8189, 8190, 8191, 8192, 8193, 10000, 10241, 1 << 20, 1<<20 + 1} {
		if got, want := TileBytes(width), 4*int64(cap(newValues(width)))+tileOverhead; got != want {
			t.Errorf("width %d: %d bytes, expected %d", width, got, want)
		}
	}
}
