package pca

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/engine/spectrum"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
	"gonum.org/v1/gonum/mat"
)

// documents reads documents and embeds them for a kernel.
func documents(t *testing.T, source, spec string, n int) (*sparse.Embedded, kernel.Kernel) {
	t.Helper()
	c := musttest.Get(corpus.Read(t.Context(), source, corpus.Options{}))(t)
	if n < c.Documents.Rows() {
		all := run.Range(0, n)
		c = c.Select(all)
	}
	k := kernel.MustParse(spec)
	x := musttest.Get(k.Embedding().Fit(c.Documents).Transform(c.Documents))(t)
	return x, kernel.Resolve(k, len(x.Embedder.Terms))
}

func newEngine(t *testing.T, x *sparse.Embedded, workers int) *engine.Engine {
	t.Helper()
	eng := musttest.Get(engine.New(x, engine.Options{Workers: workers}))(t)
	t.Cleanup(func() { eng.Close() })
	return eng
}

// Components of 500 documents agree with gonum's eigenvectors of the centred matrix: eigenvalues
// within 10⁻⁶, subspaces within 10⁻⁵. Gonum uses the same float32 kernel values.
func TestAgainstDense(t *testing.T) {
	if testing.Short() {
		t.Skip("the dense reference takes its time and runs alone")
	}
	const synthetic = "synthetic:docs=500,terms=300,length=40,seed=3"
	sources := map[string]string{
		"diffusion:t=0.5": synthetic, "arccos:n=1": synthetic, "ngd": synthetic, "linear": synthetic,
	}
	digits := filepath.Join("..", "..", "..", "shared", "data", "mnist", "t10k-images-idx3-ubyte.gz")
	if _, err := os.Stat(digits); err == nil {
		sources["arccos:n=2"], sources["rbf:gamma=0.02"] = digits, digits
	} else {
		t.Log("without digits: no ../shared/data")
	}
	for spec, source := range sources {
		x, k := documents(t, source, spec, 500)
		eng := newEngine(t, x, 2)
		a := spectrum.Centre(musttest.Get(eng.Gram(t.Context(), k, nil))(t))
		var e mat.EigenSym
		if !e.Factorize(a, true) {
			t.Fatal("gonum finds no eigenvalues")
		}
		for _, p := range []int{2, 60} {
			c := musttest.Get(Fit(t.Context(), eng, x, k, Options{NumComponents: p, Tolerance: 1e-7}))(t)
			n := x.Rows()
			want, total := e.Values(nil), 0.0
			for _, v := range want {
				total += v
			}
			if len(c.Eigenvalues) != p {
				t.Fatalf("%s: %d components, expected %d", spec, len(c.Eigenvalues), p)
			}
			for i, v := range c.Eigenvalues {
				if w := want[n-1-i]; !(math.Abs(v.Value-w) <= 1e-6*w) || !v.Converged {
					t.Errorf("%s: eigenvalue %d is %+v, expected %v", spec, i, v, w)
				}
			}
			if !(math.Abs(c.Total-total) <= 1e-6*total) { // diagonal in float64 instead of float32
				t.Errorf("%s: the eigenvalues add up to %v, expected %v", spec, c.Total, total)
			}
			var all, products, rest mat.Dense
			e.VectorsTo(&all)
			their := all.Slice(0, n, n-p, n)
			products.Mul(their.T(), c.vectors)
			rest.Mul(their, &products)
			rest.Sub(c.vectors, &rest)
			if angle := mat.Norm(&rest, 2); !(angle <= 1e-5) {
				t.Errorf("%s: the spaces of %d components are %v apart", spec, p, angle)
			}
			var gram mat.Dense
			gram.Mul(c.vectors.T(), c.vectors)
			for i := range p {
				gram.Set(i, i, gram.At(i, i)-1)
			}
			if most := mat.Norm(&gram, 2); !(most <= 1e-12) {
				t.Errorf("%s: vectors are %v from right angles", spec, most)
			}
		}
	}
}

// Projecting training documents gives their coordinates, together or one by one. The eigenvalue
// equation has an error of the residual over √λ.
func TestProject(t *testing.T) {
	x, k := documents(t, "synthetic:docs=300,terms=200,length=30,seed=5", "arccos:n=1", 300)
	eng := newEngine(t, x, 2)
	c := musttest.Get(Fit(t.Context(), eng, x, k, Options{NumComponents: 10, Tolerance: 1e-9}))(t)
	z := musttest.Get(c.Project(t.Context(), eng, x))(t)
	own := c.Coordinates()
	scale := math.Sqrt(c.Eigenvalues[0].Value)
	for i := range x.Rows() {
		for j := range c.Eigenvalues {
			if !(math.Abs(z.At(i, j)-own.At(i, j)) <= 1e-6*scale) {
				t.Fatalf("document %d: coordinate %d is %v, expected %v", i, j, z.At(i, j), own.At(i, j))
			}
		}
	}
	// Squared norms are eigenvalues, and means are 0.
	for j, v := range c.Eigenvalues {
		column := own.ColView(j)
		if length := mat.Dot(column, column); !(math.Abs(length-v.Value) <= 1e-9*v.Value) {
			t.Errorf("component %d has the squared length %v, expected %v", j, length, v.Value)
		}
		if mean := mat.Sum(column) / 300; !(math.Abs(mean) <= 1e-9*scale) {
			t.Errorf("component %d has the mean %v", j, mean)
		}
	}
	empty := &sparse.Embedded{CSR: sparse.CSR{Offsets: []int64{0}}}
	if none, err := c.Project(t.Context(), eng, empty); err != nil || !none.IsEmpty() {
		t.Errorf("no documents: %v, %v", none, err)
	}
}

// Results are bit-identical for any number of workers. Without a stored matrix, rounding differs.
func TestBitsAndMemory(t *testing.T) {
	x, k := documents(t, "synthetic:docs=700,terms=200,length=30,seed=6", "diffusion", 700)
	var before *Components
	for _, workers := range []int{1, 2, 5} {
		eng := newEngine(t, x, workers)
		c := musttest.Get(Fit(t.Context(), eng, x, k, Options{NumComponents: 20}))(t)
		if !c.MatrixStored {
			t.Error("a small matrix wasn't kept")
		}
		if before != nil && !mat.Equal(before.vectors, c.vectors) {
			t.Errorf("other bits from %d workers", workers)
		}
		before = c
	}
	eng := newEngine(t, x, 2)
	least, most := FitBytes(eng, Options{NumComponents: 20})
	for _, bytes := range []int64{least, most} {
		c := musttest.Get(Fit(t.Context(), eng, x, k, Options{NumComponents: 20, MemoryBytes: bytes}))(t)
		if c.MatrixStored || bytes == least && c.BasisSize > 2*20+16 {
			t.Errorf("with %d bytes: kept %v, a space of %d", bytes, c.MatrixStored, c.BasisSize)
		}
		for i, v := range c.Eigenvalues {
			// a value from a smaller space is too small, unless it has converged
			w := before.Eigenvalues[i].Value
			if !(v.Value <= w*(1+1e-7)) || v.Converged && !(v.Value >= w*(1-1e-7)) || bytes == most && !v.Converged {
				t.Errorf("with %d bytes: value %d is %v, expected %v", bytes, i, v, w)
			}
		}
	}
	musttest.WantError(Fit(t.Context(), eng, x, k, Options{NumComponents: 20, MemoryBytes: least - 1}))(t,
		"too little memory")
}

// Parameters that depend on the documents, such as γ of rbf, are filled in.
func TestResolves(t *testing.T) {
	x, k := documents(t, "synthetic:docs=80,terms=50,length=20", "rbf", 80)
	eng := newEngine(t, x, 1)
	a := musttest.Get(Fit(t.Context(), eng, x, kernel.MustParse("rbf"), Options{}))(t)
	b, err := Fit(t.Context(), eng, x, k, Options{})
	if err != nil || !mat.Equal(a.vectors, b.vectors) {
		t.Errorf("others than those of %s, %v", k, err)
	}
}

// Fewer components are found if the rank is smaller, and none if all documents are equal.
func TestRank(t *testing.T) {
	x, k := documents(t, "synthetic:docs=100,terms=12,length=8,seed=1", "linear", 100)
	eng := newEngine(t, x, 1)
	c, err := Fit(t.Context(), eng, x, k, Options{NumComponents: 50})
	if err != nil || len(c.Eigenvalues) > 12 || len(c.Eigenvalues) < 8 {
		t.Fatalf("%d components of documents of 12 terms, %v", len(c.Eigenvalues), err)
	}
	share := 0.0
	for _, v := range c.Eigenvalues {
		share += v.Value / c.Total
	}
	if !(math.Abs(share-1) <= 1e-6) {
		t.Errorf("all components explain %v", share)
	}
	same := musttest.Get(sparse.FromDense(9, 3, slices.Repeat([]float32{1, 2, 5}, 9)))(t)
	one := musttest.Get(k.Embedding().Fit(same).Transform(same))(t)
	musttest.WantError(Fit(t.Context(), newEngine(t, one, 1), one, k, Options{}))(t, "documents that are all the same")
}

// The cutoff for components is proportional to the norm of K, not to the number of documents or the
// largest eigenvalue: of features with variances n/4, 4·10⁻⁶ n and 10⁻⁸ n, 2⁻²⁴·‖K‖ = 1.4·10⁻⁷ n
// leaves two.
func TestRounding(t *testing.T) {
	const n = 1000
	var values []float32
	for i := range n {
		values = append(values, float32(1+i%2), float32(i/2%2)*4e-3, float32(i/4%2)*2e-4)
	}
	docs := musttest.Get(sparse.FromDense(n, 3, values))(t)
	k := kernel.MustParse("linear")
	x := musttest.Get(k.Embedding().Fit(docs).Transform(docs))(t)
	c, err := Fit(t.Context(), newEngine(t, x, 1), x, k, Options{NumComponents: 20})
	if err != nil || len(c.Eigenvalues) != 2 {
		t.Fatalf("%+v, %v, expected two components", c, err)
	}
	for i, want := range []float64{n / 4.0, 4e-6 * n} {
		if v := c.Eigenvalues[i].Value; !(math.Abs(v-want) <= 1.4e-7*n) {
			t.Errorf("eigenvalue %d is %v, expected %v", i, v, want)
		}
	}
}

// After a product with the identity matrix, the norm estimate equals ‖K‖ up to rounding.
func TestNorm(t *testing.T) {
	const n = 90
	x, k := documents(t, "synthetic:docs=90,terms=40,length=20,seed=2", "linear", n)
	eng := newEngine(t, x, 1)
	m := musttest.Get(eng.Gram(t.Context(), k, nil))(t)
	want := 0.0
	for i := range n {
		for j := range n {
			want = math.Hypot(want, float64(m.At(i, j)))
		}
	}
	unit := mat.NewDense(n, n, nil)
	for i := range n {
		unit.Set(i, i, 1)
	}
	a := &centredOperator{eng: eng, kernel: k}
	err := a.Apply(t.Context(), mat.NewDense(n, n, nil), unit)
	if err != nil || !(math.Abs(a.norm-want) <= 1e-9*want) {
		t.Errorf("%v, %v, expected %v", a.norm, err, want)
	}
}

func TestAnotherEmbedding(t *testing.T) {
	x, _ := documents(t, "synthetic:docs=60,terms=50,length=20", "diffusion", 60)
	musttest.WantError(Fit(t.Context(), newEngine(t, x, 1), x, kernel.MustParse("linear"), Options{}))(t,
		"a kernel of another embedding")
}

// Project agrees with AffineMap.
func TestMap(t *testing.T) {
	x, k := documents(t, "synthetic:docs=60,terms=80,length=20,seed=2", "arccos:n=1", 60)
	eng := newEngine(t, x, 2)
	c := musttest.Get(Fit(t.Context(), eng, x, k, Options{NumComponents: 7}))(t)
	want := musttest.Get(c.Project(t.Context(), eng, x))(t)
	a, b := c.AffineMap()
	var got mat.Dense
	g := mat.NewDense(60, 60, nil)
	m := musttest.Get(eng.Gram(t.Context(), k, nil))(t)
	for i := range 60 {
		for j := range 60 {
			g.Set(i, j, float64(m.At(i, j)))
		}
	}
	got.Mul(g, a)
	scale := mat.Norm(g, 2) * mat.Norm(a, 2)
	for i := range 60 {
		for j := range 7 {
			// The tolerance is for 60 products in float64, in another order.
			if d := math.Abs(got.At(i, j) - b[j] - want.At(i, j)); !(d <= 64*0x1p-52*scale) {
				t.Fatalf("coordinate %d of document %d differs by %v", j, i, d)
			}
		}
	}
}
