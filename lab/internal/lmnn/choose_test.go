package lmnn

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

func wrongs(t testing.TB, m *Model, c *corpus.Corpus) (count int) {
	t.Helper()
	p := musttest.Get(m.Predict(t.Context(), c.Documents, Options{}))(t)
	for i, class := range p.ClassIndices {
		if int32(class) != c.Labels.Classes(i)[0] {
			count++
		}
	}
	return count
}

// ChooseIterations returns the same number as separate training runs with 1, 2, 3, 4, 5, 6, 8, …
// iterations. With few documents and many columns, fewer documents are misclassified than after all
// iterations.
func TestChoose(t *testing.T) {
	train, test := drawn(t, 60, 40, 3, 3), drawn(t, 150, 40, 3, 4)
	got := musttest.Get(ChooseIterations(t.Context(), train, test, Settings{}, Options{Workers: 1}))(t)
	want := IterationChoice{ErrorCount: math.MaxInt, DocumentCount: 150}
	for n := 1; n <= 60; n += max(1, n/3) {
		if wrong := wrongs(t, trained(t, train, Settings{Iterations: n}), test); wrong < want.ErrorCount {
			want.Iterations, want.ErrorCount = n, wrong
		}
		if n >= want.maxIterations() {
			break
		}
	}
	end := wrongs(t, trained(t, train, Settings{}), test)
	if got != want || got.ErrorCount >= end {
		t.Errorf("%+v, expected %+v; %d errors at the end", got, want, end)
	}
	if again, err := ChooseIterations(t.Context(), train, test, Settings{}, Options{Workers: 3}); err != nil ||
		again != got {
		t.Errorf("%+v from three workers, %+v from one: %v", again, got, err)
	}
	// With a single iteration, this iteration is evaluated after the search.
	one, err := ChooseIterations(t.Context(), train, test, Settings{Iterations: 1}, Options{})
	if err != nil || one.Iterations != 1 {
		t.Errorf("%+v of one iteration: %v", one, err)
	}
}

func TestChooseRefuses(t *testing.T) {
	train, test := drawn(t, 60, 5, 3, 3), drawn(t, 20, 5, 3, 4)
	others := *test
	others.Classes = []string{"a", "b", "d"}
	unlabelled := *test
	unlabelled.Labels = sparse.Labels{}
	for range 20 {
		unlabelled.Labels.Add()
	}
	for name, c := range map[string]*corpus.Corpus{
		"classes": &others, "columns": drawn(t, 20, 6, 3, 4), "labels": &unlabelled,
	} {
		musttest.WantError(ChooseIterations(t.Context(), train, c, Settings{}, Options{}))(t, name)
	}
	musttest.WantError(ChooseIterations(t.Context(), train, test, Settings{}, Options{MemoryBytes: 1000}))(t,
		"within 1000 bytes")
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	big := drawn(t, 1500, 60, 3, 5)
	time.AfterFunc(50*time.Millisecond, func() { cancel(stop) })
	musttest.WantError(ChooseIterations(ctx, big, big, Settings{Tolerance: 1e-9}, Options{}))(t, "cancelled", stop)
}
