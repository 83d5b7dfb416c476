package engine

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/gramengine/gram/engine/internal/cache"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// readyOf returns Matrix.Materialise for a kernel.
func readyOf(ctx context.Context, c *Cache, k kernel.Kernel) (*InMemoryMatrix, error) {
	m, err := c.Matrix(k)
	if err != nil {
		return nil, err
	}
	return m.Materialise(ctx)
}

// The matrix of one kernel is bit-identical to rows from the cache. It isn't made if c is already
// stored or doesn't fit.
func TestReady(t *testing.T) {
	x := embedded(t, sparse.SphereEmbedding, zipf(150, 500, 20, 1))
	e := newEngine(t, x, Options{Workers: 2})
	k := parse(t, "diffusion:t=0.5")
	c := newCached(t, e, CacheOptions{})
	ready, err := readyOf(t.Context(), c, k)
	if err != nil || ready == nil {
		t.Fatalf("ready is %v, error %v", ready, err)
	}
	if pairs := c.Stats().PairsComputed; pairs != 150*151/2 {
		t.Errorf("%d pairs counted, expected %d", pairs, 150*151/2)
	}
	rows, columns := []int{149, 3}, [][2]int{{0, 10}, {77, 150}}
	want := [2][]float32{make([]float32, 83), make([]float32, 83)}
	musttest.NoError(t, c.Rows(t.Context(), k, rows, columns, want[:]))
	for r := range rows {
		if row := ready.Row(rows[r]); !slices.Equal(want[r], slices.Concat(row[:10], row[77:])) {
			t.Errorf("row %d differs", rows[r])
		}
	}
	if again, err := readyOf(t.Context(), c, k); again != nil || err != nil {
		t.Errorf("with c at hand ready is %v, error %v, expected neither", again, err)
	}
	whole := cache.FullMatrixBytes(150)
	if s := c.Stats(); s.Bytes != whole+4*150*150 {
		t.Errorf("%d bytes are counted for c and a matrix that is in use, expected %d", s.Bytes, whole+4*150*150)
	}
	for range 2 { // the second call does nothing
		if ready.Close(); c.Stats().Bytes != whole {
			t.Errorf("%d bytes are counted once the matrix is closed, expected those of c, %d", c.Stats().Bytes, whole)
		}
	}
	if ready.N != 0 || len(ready.Data) != 0 {
		t.Errorf("a matrix that is closed has %d rows", ready.N)
	}
	small := newCached(t, newEngine(t, embedded(t, sparse.SphereEmbedding, zipf(3000, 500, 20, 1)), Options{Workers: 1}),
		CacheOptions{CacheBytes: 16 << 20})
	if small.FitsInMemory() {
		t.Fatal("the small cache holds all")
	}
	if ready, err := readyOf(t.Context(), small, k); ready != nil || err != nil {
		t.Errorf("in a small cache ready is %v, error %v, expected neither", ready, err)
	}
}

func matrixOf(t *testing.T, c *Cache) *Matrix {
	return musttest.Get(c.Matrix(parse(t, "diffusion:t=0.5")))(t)
}

// Only one matrix exists at a time. Materialise returns nil while another matrix is in use or being
// computed, but not after Close or a failure.
func TestReadyHasTheRoomOfC(t *testing.T) {
	e := newEngine(t, embedded(t, sparse.SphereEmbedding, zipf(150, 500, 20, 1)), Options{Workers: 2})
	k := parse(t, "diffusion:t=0.5")
	c := newCached(t, e, CacheOptions{})
	var failed *PanicError
	if ready, err := readyOf(t.Context(), c, panicking(t)["values"]); ready != nil || !errors.As(err, &failed) ||
		c.Stats().Bytes != 0 {
		t.Errorf("ready is %v, error %v, %d bytes are counted, expected a PanicError and none", ready, err,
			c.Stats().Bytes)
	}
	results := make(chan *InMemoryMatrix, 8)
	for range cap(results) {
		go func() {
			ready, err := readyOf(t.Context(), c, k)
			if err != nil {
				t.Error(err)
			}
			results <- ready
		}()
	}
	var made []*InMemoryMatrix
	for range cap(results) {
		if r := <-results; r != nil {
			made = append(made, r)
		}
	}
	if s := c.Stats(); len(made) != 1 || s.Bytes != 4*150*150 || s.PairsComputed != 150*151/2 {
		t.Errorf("%d matrices in the room of one, %d bytes, %d pairs", len(made), s.Bytes, s.PairsComputed)
	}
	first := made[0]
	if ready, err := readyOf(t.Context(), c, k); ready != nil || err != nil {
		t.Fatalf("a second matrix is open, %v, error %v", ready, err)
	}
	first.Close()
	if ready, err := readyOf(t.Context(), c, k); ready == nil || err != nil {
		t.Errorf("once the matrix is closed, the next is %v, error %v", ready, err)
	}
}

// A matrix that is computed while another caller builds c has the same values, without data races.
func TestReadyBesideBuild(t *testing.T) {
	e := newEngine(t, embedded(t, sparse.SphereEmbedding, zipf(150, 500, 20, 1)), Options{Workers: 2})
	k := parse(t, "diffusion:t=0.5")
	want := gram(t, e, k)
	for range 20 {
		c := newCached(t, e, CacheOptions{})
		built := make(chan error, 1)
		go func() { built <- c.Build(t.Context()) }()
		ready, err := readyOf(t.Context(), c, k)
		if err != nil || ready != nil && !sameBits(ready.Data, want.Data) {
			t.Errorf("ready is %v, error %v", ready, err)
		}
		if err := <-built; err != nil {
			t.Error(err)
		}
	}
}
