package engine

import (
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// Documents without norms can only be used with kernels of the cosine. Other kernels would use
// norms of 0.
func TestNormsAreNeeded(t *testing.T) {
	x := embedded(t, sparse.Embedding{}, zipf(20, 50, 10, 1))
	bare := *x
	bare.Norms = nil
	for _, spec := range []string{"arccos:n=0,bias=0.3", "arccos:n=0,sigma=0.5", "linear", "rbf:gamma=1",
		"normalise(linear + rbf:gamma=1)"} {
		k := parse(t, spec)
		if _, err := newEngine(t, x, Options{}).Gram(t.Context(), k, nil); err != nil {
			t.Errorf("%s with norms: %v", spec, err)
		}
		musttest.WantError(newEngine(t, &bare, Options{}).Gram(t.Context(), k, nil))(t,
			spec+" without norms", "needs the norms of the documents: 0 norms, but 20 documents")
	}
	if _, err := newEngine(t, &bare, Options{}).Gram(t.Context(), parse(t, "arccos:n=0,embed=tf"), nil); err != nil {
		t.Errorf("a kernel of the cosine alone: %v", err)
	}
}
