package engine

import (
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/gramengine/gram/sparse"
)

// The matrix of one kernel for one training has the bits of what the cache serves, and isn't made where c is there already or doesn't fit.
func TestReady(t *testing.T) {
	x := embedded(t, sparse.Sphere, zipf(150, 500, 20, 1))
	e := newEngine(t, x, Options{Workers: 2})
	k := parse(t, "diffusion:t=0.5")
	c := newCached(t, e, CachedOptions{})
	ready, err := c.Ready(t.Context(), k)
	if err != nil || ready == nil {
		t.Fatalf("ready is %v, error %v", ready, err)
	}
	if pairs := c.Stats().Computed; pairs != 150*151/2 {
		t.Errorf("%d pairs counted, expected %d", pairs, 150*151/2)
	}
	rows, columns := []int{149, 3}, [][2]int{{0, 10}, {77, 150}}
	got, want := [2][]float32{make([]float32, 83), make([]float32, 83)}, [2][]float32{make([]float32, 83), make([]float32, 83)}
	if err := ready.Rows(t.Context(), rows, columns, got[:]); err != nil {
		t.Fatal(err)
	}
	if err := c.Rows(t.Context(), k, rows, columns, want[:]); err != nil {
		t.Fatal(err)
	}
	for r := range rows {
		if !slices.Equal(got[r], want[r]) {
			t.Errorf("row %d differs", rows[r])
		}
	}
	if again, err := c.Ready(t.Context(), k); again != nil || err != nil {
		t.Errorf("with c at hand ready is %v, error %v, expected neither", again, err)
	}
	if s := c.Stats(); s.Bytes != wholeBytes(150)+4*150*150 {
		t.Errorf("%d bytes are counted for c and a matrix that is in use, expected %d", s.Bytes, wholeBytes(150)+4*150*150)
	}
	runtime.KeepAlive(ready)
	eventually(t, "the room of a matrix that nobody holds counts", func() bool { return c.Stats().Bytes == wholeBytes(150) })
	small := newCached(t, newEngine(t, embedded(t, sparse.Sphere, zipf(3000, 500, 20, 1)), Options{Workers: 1}), CachedOptions{CacheBytes: 16 << 20})
	if small.Whole() {
		t.Fatal("the small cache holds all")
	}
	if ready, err := small.Ready(t.Context(), k); ready != nil || err != nil {
		t.Errorf("in a small cache ready is %v, error %v, expected neither", ready, err)
	}
}

// eventually waits for what follows from the garbage collector, some seconds at most.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 500 {
		if runtime.GC(); done() {
			return
		}
		time.Sleep(10 * time.Millisecond) // clean-ups run in a goroutine of their own
	}
	t.Error(what)
}

// There is room for one matrix at a time: not for a second beside one in use, or one that is being made, but for the next where one was given up.
func TestReadyHasTheRoomOfC(t *testing.T) {
	e := newEngine(t, embedded(t, sparse.Sphere, zipf(150, 500, 20, 1)), Options{Workers: 2})
	k := parse(t, "diffusion:t=0.5")
	c := newCached(t, e, CachedOptions{})
	var failed *PanicError
	if ready, err := c.Ready(t.Context(), panicking(t)["values"]); ready != nil || !errors.As(err, &failed) || c.Stats().Bytes != 0 {
		t.Errorf("ready is %v, error %v, %d bytes are counted, expected a PanicError and none", ready, err, c.Stats().Bytes)
	}
	results := make(chan *Ready, 8)
	for range cap(results) {
		go func() {
			ready, err := c.Ready(t.Context(), k)
			if err != nil {
				t.Error(err)
			}
			results <- ready
		}()
	}
	var made []*Ready
	for range cap(results) {
		if r := <-results; r != nil {
			made = append(made, r)
		}
	}
	if s := c.Stats(); len(made) != 1 || s.Bytes != 4*150*150 || s.Computed != 150*151/2 {
		t.Errorf("%d matrices in the room of one, %d bytes, %d pairs", len(made), s.Bytes, s.Computed)
	}
	runtime.KeepAlive(made)
	eventually(t, "no other matrix takes the place of one that nobody holds", func() bool {
		ready, err := c.Ready(t.Context(), k)
		return err == nil && ready != nil
	})
}

// A matrix that is made while another caller builds c has the same values, and the race detector nothing to say.
func TestReadyBesideBuild(t *testing.T) {
	e := newEngine(t, embedded(t, sparse.Sphere, zipf(150, 500, 20, 1)), Options{Workers: 2})
	k := parse(t, "diffusion:t=0.5")
	want := gram(t, e, k)
	for range 20 {
		c := newCached(t, e, CachedOptions{})
		built := make(chan error, 1)
		go func() { built <- c.Build(t.Context()) }()
		ready, err := c.Ready(t.Context(), k)
		if err != nil || ready != nil && !sameBits(ready.Data, want.Data) {
			t.Errorf("ready is %v, error %v", ready, err)
		}
		if err := <-built; err != nil {
			t.Error(err)
		}
	}
}
