package engine

import (
	"context"
	"errors"
	"testing"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

// fiveRows are scores of a device that says that it computed five rows, and may fail all the same.
type fiveRows struct {
	device.ProblemScores
	err error
}

func (b *fiveRows) Pick(context.Context, []int32, []int32, []float32, []float64) (int, error) {
	return 5, b.err
}

func (b *fiveRows) Add(context.Context, []int32, []float64, []int32, []byte) (int, error) {
	return 5, b.err
}

// Rows that a device computes for scores count, those of calls that fail don't.
func TestCountedScores(t *testing.T) {
	const n = 37
	e := newEngine(t, embedded(t, sparse.Sphere, zipf(n, 90, 6, 3)), Options{})
	c, err := e.Cached(CachedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, fail := range []error{errors.New("lost"), nil} {
		b := &countedScores{&fiveRows{err: fail}, c}
		for range 2 {
			if rows, err := b.Pick(t.Context(), nil, nil, nil, nil); rows != 5 || err != fail {
				t.Errorf("%d rows, error %v", rows, err)
			}
			if rows, err := b.Add(t.Context(), nil, nil, nil, nil); rows != 5 || err != fail {
				t.Errorf("%d rows, error %v", rows, err)
			}
		}
		want := int64(4 * 5 * n)
		if fail != nil {
			want = 0
		}
		if got := e.Stats().Pairs; got != want || c.Stats().Computed != want {
			t.Errorf("%d and %d pairs counted where the error is %v, expected %d", got, c.Stats().Computed, fail, want)
		}
	}
}
