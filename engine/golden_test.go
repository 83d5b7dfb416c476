package engine

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// Kernel values of texts agree with values that a Python program computed from the definitions to
// 30 digits (testdata/golden.py).
func TestGoldenValues(t *testing.T) {
	docs := musttest.Get(corpus.Read(context.Background(), "testdata/small.tsv", corpus.Options{MinDF: 1}))(t)
	file := musttest.Get(os.Open("testdata/golden.txt"))(t)
	defer file.Close()
	embeddings := map[sparse.Embedding]*sparse.Embedded{}
	matrices := map[string]*Symmetric{}
	values := 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		var spec string
		var i, j int
		var want float64
		if _, err := fmt.Sscan(lines.Text(), &spec, &i, &j, &want); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		k := parse(t, spec)
		x := embeddings[k.Embedding()]
		if x == nil {
			x = embedded(t, k.Embedding(), docs.Documents)
			embeddings[k.Embedding()] = x
		}
		g := matrices[spec]
		if g == nil {
			g = gram(t, newEngine(t, x, Options{}), k)
			matrices[spec] = g
		}
		// The reference uses float64: its rounding errors are below 10⁻¹⁴ of the value, or of 1
		// after cancellation.
		if got := NewReference(x).Value(k, i, j); !(math.Abs(got-want) <= 1e-14*(1+math.Abs(want))) {
			t.Errorf("%s(%d, %d): the reference is %v, expected %v", spec, i, j, got, want)
		}
		c := NewReference(x).C(i, j)
		if got := g.At(i, j); !(math.Abs(got-want) <= kernel.Tolerance(k, c, x.Norms[i], x.Norms[j])) {
			t.Errorf("%s(%d, %d) = %v, expected %v", spec, i, j, got, want)
		}
		values++
	}
	if want := 14 * 15 * 16 / 2; values != want {
		t.Errorf("%d values, expected %d", values, want)
	}
}
