package engine

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles"
)

var errBroken = errors.New("broken")

// outOfRange panics with a runtime error for every value except the values that kernel.New tries.
func outOfRange(c, x, y float64) float64 {
	if c == 0 || c == 0.25 || c == 1 {
		return 1 - c
	}
	var none []float64
	return none[int(1000*c)+3]
}

// panicking returns user-defined kernels that panic, in a table and for single values.
func panicking(t *testing.T) map[string]kernel.Kernel {
	kernels := map[string]kernel.Kernel{}
	for name, c := range map[string]kernel.Custom{
		"itself": {Eval: func(c, x, y float64) float64 { panic(errBroken) },
			Properties: kernel.Properties{UsesNorms: true}},
		"table":  {Eval: outOfRange},
		"values": {Eval: outOfRange, Properties: kernel.Properties{UsesNorms: true}},
	} {
		c.Name, c.Embedding = name, sparse.SphereEmbedding
		k := musttest.Get(kernel.New(c))(t)
		kernels[name] = k
	}
	return kernels
}

// A panic of a user-defined kernel ends the computation with an error, at every call. The engine
// and its caches then work for other kernels.
func TestKernelsThatPanic(t *testing.T) {
	x := embedded(t, sparse.SphereEmbedding, zipf(300, 500, 20, 3))
	good := parse(t, "diffusion:t=0.5")
	onHost := newEngine(t, x, Options{Workers: 3})
	onDevice, _ := withDevice(t, x, Options{Workers: 3})
	ctx, n := t.Context(), x.Rows()
	rows, columns := run.Range(0, n), [][2]int{{0, n}}
	dst := NewDense(n, n)
	into := musttest.MakeSlice(n, dst.Row)
	for place, e := range map[string]*Engine{"host": onHost, "device": onDevice} {
		whole := newCached(t, e, CacheOptions{})
		want := mapped(t, e, good) // values that the engine maps from c, as caches do, also with a device
		ways := map[string]func(k kernel.Kernel) error{
			"Gram":  func(k kernel.Kernel) error { return of(e.Gram(ctx, k, nil)) },
			"Rows":  func(k kernel.Kernel) error { return of(e.Rows(ctx, k, Request{RowIndices: rows}, dst)) },
			"Cross": func(k kernel.Kernel) error { return of(e.Rows(ctx, k, Request{TestDocuments: x}, nil)) },
			"Each": func(k kernel.Kernel) error {
				return e.EachTile(ctx, k, Request{TestDocuments: x}, func(*Tile) error { return nil })
			},
			"whole":   func(k kernel.Kernel) error { return whole.Rows(ctx, k, rows, columns, into) },
			"one row": func(k kernel.Kernel) error { return whole.Rows(ctx, k, rows[5:6], columns, into[5:6]) },
			"Ready": func(k kernel.Kernel) error {
				_, err := readyOf(ctx, newCached(t, e, CacheOptions{}), k)
				return err
			},
		}
		for name, k := range panicking(t) {
			for way, compute := range ways {
				for try := range 2 {
					var failed *PanicError
					if err := compute(k); !errors.As(err, &failed) {
						t.Fatalf("%s, %s, kernel %s, try %d: error %v, expected a PanicError", place, way, name, try,
							err)
					}
					if failed.Function != "engine: kernel "+name ||
						!strings.HasPrefix(failed.Error(), "engine: kernel "+name+" panicked: ") ||
						len(failed.Stack) == 0 || strings.Contains(failed.Error(), "\n") {
						t.Errorf("%s, %s, kernel %s: found %v of kernel %q", place, way, name, failed, failed.Function)
					}
					// the second call fails like the first
					if name != "itself" && !strings.Contains(failed.Error(), "index out of range") {
						t.Errorf("%s, %s, kernel %s, try %d: %v", place, way, name, try, failed)
					}
					var wrong runtime.Error
					if own := name == "itself"; errors.Is(failed, errBroken) != own ||
						errors.As(failed, &wrong) == own {
						t.Errorf("%s, %s, kernel %s: the error wraps %v", place, way, name, failed.Unwrap())
					}
					// a table may have failed earlier
					if try == 0 && name != "table" && !strings.Contains(string(failed.Stack), "panic_test.go") {
						t.Errorf("%s, %s, kernel %s: no line of the kernel's function in the stack\n%s", place, way,
							name, failed.Stack)
					}
				}
			}
			if err := check(ctx, whole, good, want, rows, columns); err != nil {
				t.Errorf("%s, after kernel %s: %v", place, name, err)
			}
		}
	}
}

// The diagonal is mapped in the caller's goroutine, where a panic also becomes an error.
func TestDiagonalOfAKernelThatPanics(t *testing.T) {
	c := newCached(t, newEngine(t, embedded(t, sparse.SphereEmbedding, zipf(20, 50, 10, 1)), Options{}), CacheOptions{})
	var failed *PanicError
	if m, err := c.Matrix(panicking(t)["itself"]); !errors.As(err, &failed) {
		t.Errorf("matrix %v, error %v, expected a PanicError", m, err)
	}
}

// After a panic, incomplete tiles are abandoned and complete tiles are released. Otherwise later
// requests would wait forever, and the cache would lose memory.
func TestTilesOfKernelsThatPanic(t *testing.T) {
	n, good := 1000, parse(t, "diffusion:t=0.5")
	e := newEngine(t, embedded(t, sparse.SphereEmbedding, zipf(n, 500, 20, 3)), Options{Workers: 2})
	want, rows, columns := gram(t, e, good), run.Range(0, n), [][2]int{{0, n}}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // detects waiting forever
	defer cancel()
	for name, k := range panicking(t) {
		c := newCached(t, e, CacheOptions{CacheBytes: scratchBytes(e) + 80*tiles.TileBytes(1024)})
		if c.FitsInMemory() {
			t.Fatal("the whole matrix fits into the bound")
		}
		for try := range 3 {
			var failed *PanicError
			if err := check(ctx, c, k, want, rows, columns); !errors.As(err, &failed) ||
				failed.Function != "engine: kernel "+name {
				t.Fatalf("kernel %s, try %d: error %v, expected a PanicError", name, try, err)
			}
			refused := c.Stats().Refusals // all rows together exceed the cache
			for first := range 6 {
				some := rows[first*150:][:80]
				if err := check(ctx, c, good, want, some, columns); err != nil {
					t.Fatalf("after kernel %s: %v", name, err)
				}
				if err := check(ctx, c, k, want, some, columns); !errors.As(err, &failed) {
					t.Fatalf("kernel %s on tiles that are there: error %v, expected a PanicError", name, err)
				}
			}
			if more := c.Stats().Refusals - refused; more != 0 {
				t.Errorf("kernel %s: %d tiles find no room where there is room for all, so some are still held", name,
					more)
			}
		}
	}
}
