package pca

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
	"gonum.org/v1/gonum/mat"
)

// sketched holds documents and an engine of some of them.
type sketched struct {
	x   *sparse.Embedded // all documents
	z   *sparse.Embedded
	eng *engine.Engine
	k   kernel.Kernel
	at  []int
	csr *sparse.CSR
}

func newSketched(t *testing.T, spec string, n, workers int, at []int) *sketched {
	t.Helper()
	c := musttest.Get(corpus.Read(t.Context(), "synthetic:docs=700,terms=300,length=40,seed=4", corpus.Options{}))(t)
	s := &sketched{at: at, csr: c.Documents.SelectRows(sequence(n))}
	k := kernel.MustParse(spec)
	s.x = musttest.Get(k.Embedding().Fit(s.csr).Transform(s.csr))(t)
	s.k = kernel.Resolve(k, len(s.x.Embedder.Terms))
	s.z = musttest.Get(s.x.Embedder.TransformRows(t.Context(), s.csr, at, 1))(t)
	s.eng = newEngine(t, s.z, workers)
	return s
}

func (s *sketched) fit(t *testing.T, opt Options) *Components {
	t.Helper()
	return musttest.Get(FitNystrom(t.Context(), s.eng, s.z, s.k, s.csr, opt))(t)
}

func sequence(n int) []int {
	return run.Range(0, n)
}

// gram returns the Gram matrix of all documents in float64.
func (s *sketched) gram(t *testing.T) *mat.Dense {
	t.Helper()
	g := musttest.Get(newEngine(t, s.x, 2).Gram(t.Context(), s.k, nil))(t)
	out := mat.NewDense(g.N, g.N, nil)
	for i := range g.N {
		for j, v := range g.Row(i) {
			out.Set(i, j, float64(v))
		}
	}
	return out
}

// centredValues returns the eigenpairs of P K P, in ascending order.
func centredValues(k *mat.Dense) (values []float64, vectors *mat.Dense) {
	n, _ := k.Dims()
	p := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			p.Set(i, j, -1/float64(n))
		}
		p.Set(i, i, 1-1/float64(n))
	}
	var a mat.Dense
	a.Product(p, k, p)
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			sym.SetSym(i, j, a.At(i, j))
		}
	}
	var e mat.EigenSym
	e.Factorize(sym, true)
	vectors = &mat.Dense{}
	e.VectorsTo(vectors)
	return e.Values(nil), vectors
}

// Components from landmarks agree with Nyström's matrix computed by gonum with an inverse of W in
// float64, from the same float32 values. There are more documents than a block has. Coordinates
// agree with eigenvectors, with mean 0, for landmarks and for other documents.
func TestLandmarks(t *testing.T) {
	musttest.SkipRace(t)
	for _, spec := range []string{"arccos:n=0", "linear:embed=tfidf-l2"} {
		at := []int{}
		for i := range 40 {
			at = append(at, i*13%530)
		}
		s := newSketched(t, spec, 530, 2, at)
		const p = 12
		c := s.fit(t, Options{NumComponents: p, Tolerance: 1e-8})
		k, n := s.gram(t), 530
		w, cross := mat.NewDense(40, 40, nil), mat.NewDense(n, 40, nil)
		trace := 0.0
		for j, a := range at {
			for i := range n {
				cross.Set(i, j, k.At(i, a))
			}
			for i, b := range at {
				w.Set(i, j, k.At(b, a))
			}
		}
		var inverse, whole mat.Dense
		musttest.NoError(t, inverse.Inverse(w))
		whole.Product(cross, &inverse, cross.T())
		for i := range n {
			trace += k.At(i, i) - whole.At(i, i)
		}
		if !(math.Abs(c.Residual-trace) <= 1e-5*trace) {
			t.Errorf("%s: %v is left, expected %v", spec, c.Residual, trace)
		}
		values, vectors := centredValues(&whole)
		sum := c.Residual
		for _, v := range values {
			sum += v
		}
		if !(math.Abs(c.Total-sum) <= 1e-6*sum) {
			t.Errorf("%s: the sum is %v, expected %v", spec, c.Total, sum)
		}
		if len(c.Eigenvalues) != p || c.NumLandmarks != 40 || c.NumDocuments != n || c.Coordinates() != nil {
			t.Fatalf("%s: %d components of %d documents from %d landmarks", spec, len(c.Eigenvalues), c.NumDocuments,
				c.NumLandmarks)
		}
		z := musttest.Get(c.Project(t.Context(), s.eng, s.x))(t)
		for i, v := range c.Eigenvalues {
			want := values[n-1-i]
			if !(math.Abs(v.Value-want) <= 1e-5*want) || !v.Converged {
				t.Errorf("%s: value %d is %+v, expected %v", spec, i, v, want)
			}
			theirs := vectors.ColView(n - 1 - i)
			sign := math.Copysign(math.Sqrt(want), mat.Dot(theirs, z.ColView(i)))
			gap := math.Inf(1) // errors of eigenvectors grow with the inverse of this gap
			for _, other := range values {
				if other != want {
					gap = min(gap, math.Abs(other-want))
				}
			}
			for j := range n {
				d := math.Abs(z.At(j, i) - sign*theirs.AtVec(j))
				if !(d <= 1e-5*math.Sqrt(want)*(1+values[n-1]/gap)) {
					t.Fatalf("%s: coordinate %d of document %d is %v, expected %v", spec, i, j, z.At(j, i),
						sign*theirs.AtVec(j))
				}
			}
		}
	}
}

// With all documents as landmarks, components agree with Fit up to the residual and twice the norm
// of Φ Φᵀ times the accuracy of kernel values, 2⁻²⁰. With fewer landmarks, no eigenvalue is larger.
func TestAllLandmarks(t *testing.T) {
	for _, spec := range []string{"arccos:n=1", "diffusion:t=0.5", "linear"} {
		const n, p = 300, 10
		all := newSketched(t, spec, n, 2, sequence(n))
		exact := musttest.Get(Fit(t.Context(), all.eng, all.z, all.k, Options{NumComponents: p, Tolerance: 1e-8}))(t)
		rounding := 0x1p-19 * mat.Norm(all.gram(t), 2)
		trace := 0.0
		for _, norm := range all.x.Norms {
			trace += all.k.Eval(0, float64(norm), float64(norm))
		}
		before := math.Inf(1)
		for _, m := range []int{30, 100, n} {
			s := newSketched(t, spec, n, 2, sequence(m))
			c := s.fit(t, Options{NumComponents: p, Tolerance: 1e-8})
			if !(c.Residual <= before) || m == n && !(c.Residual <= 1e-5*trace) {
				t.Errorf("%s: %d landmarks leave %v of %v, fewer %v", spec, m, c.Residual, trace, before)
			}
			before = c.Residual
			for i, v := range c.Eigenvalues {
				want := exact.Eigenvalues[i].Value
				if !(v.Value <= want+rounding) || !(v.Value >= want-c.Residual-rounding) {
					t.Errorf("%s: with %d landmarks value %d is %v, expected %v and up to %v less", spec, m, i, v.Value, want,
						c.Residual)
				}
			}
			// The total is too large by at most the largest eigenvalue of the residual matrix.
			if !(c.Total >= exact.Total-rounding) || !(c.Total <= exact.Total+c.Residual+rounding) {
				t.Errorf("%s: with %d landmarks the total is %v, expected %v", spec, m, c.Total, exact.Total)
			}
		}
	}
}

// Of 200 landmarks in 12 dimensions, dependent landmarks are dropped, and components are exact.
func TestLandmarksOfLowRank(t *testing.T) {
	const n = 200
	c := musttest.Get(corpus.Read(t.Context(), "synthetic:docs=200,terms=12,length=8,seed=1", corpus.Options{}))(t)
	x, k := documents(t, c.Source, "linear", n)
	eng := newEngine(t, x, 1)
	exact := musttest.Get(Fit(t.Context(), eng, x, k, Options{NumComponents: 20}))(t)
	got, err := FitNystrom(t.Context(), eng, x, k, c.Documents, Options{NumComponents: 20})
	if err != nil || len(got.Eigenvalues) != len(exact.Eigenvalues) || len(got.Eigenvalues) > 12 {
		t.Fatalf("%d components, %v, expected %d", len(got.Eigenvalues), err, len(exact.Eigenvalues))
	}
	rounding := 0x1p-19 * mat.Norm((&sketched{x: x, k: k}).gram(t), 2) // as in TestAllLandmarks
	for i, v := range got.Eigenvalues {
		want := exact.Eigenvalues[i].Value
		if !(math.Abs(v.Value-want) <= rounding) {
			t.Errorf("value %d is %v, expected %v", i, v.Value, want)
		}
	}
	z := musttest.Get(got.Project(t.Context(), eng, x))(t)
	for i, v := range got.Eigenvalues {
		if length := mat.Dot(z.ColView(i), z.ColView(i)); !(math.Abs(length-v.Value) <= 1e-4*v.Value) {
			t.Errorf("component %d has the squared length %v, expected %v", i, length, v.Value)
		}
	}
}

// Duplicate landmarks change nothing. Results are bit-identical for any number of workers.
func TestLandmarksTwice(t *testing.T) {
	at := []int{5, 17, 100, 250, 3, 77, 180}
	once := newSketched(t, "diffusion:t=0.5", 300, 1, at)
	a := once.fit(t, Options{NumComponents: 5})
	twice := newSketched(t, "diffusion:t=0.5", 300, 3, slices.Concat(at[:3], at[1:3], at[3:]))
	b := twice.fit(t, Options{NumComponents: 5})
	za := musttest.Get(a.Project(t.Context(), once.eng, once.x))(t)
	zb := musttest.Get(b.Project(t.Context(), twice.eng, twice.x))(t)
	zb.Sub(za, zb)
	// Kernel values differ by 10⁻⁶ between engines, and so do sums of seven, because W is close to
	// 1.
	if most := mat.Norm(zb, math.Inf(1)); !(most <= 1e-5) {
		t.Errorf("landmarks that come twice change coordinates by %v", most)
	}
	many := newSketched(t, "diffusion:t=0.5", 700, 1, sequence(150))
	first := many.fit(t, Options{NumComponents: 9})
	for _, workers := range []int{2, 5} {
		other := newSketched(t, "diffusion:t=0.5", 700, workers, sequence(150)).fit(t, Options{NumComponents: 9})
		if !mat.Equal(first.vectors, other.vectors) || !slices.Equal(first.offsets, other.offsets) ||
			first.Residual != other.Residual {
			t.Errorf("other bits from %d workers", workers)
		}
	}
}

func TestLandmarksRefused(t *testing.T) {
	s := newSketched(t, "diffusion:t=0.5", 600, 1, sequence(20))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	need := NystromBytes(s.eng, Options{})
	call := func(ctx context.Context, k kernel.Kernel, docs *sparse.CSR, opt Options) func() error {
		return func() error { _, err := FitNystrom(ctx, s.eng, s.z, k, docs, opt); return err }
	}
	for want, f := range map[string]func() error{
		"":                    call(t.Context(), s.k, s.csr, Options{MemoryBytes: need}),
		"the limit is":        call(t.Context(), s.k, s.csr, Options{MemoryBytes: need - 1}),
		"only conditionally":  call(t.Context(), kernel.MustParse("ngd"), s.csr, Options{}),
		"must be nonnegative": call(t.Context(), s.k, s.csr, Options{NumComponents: -1}),
		"context canceled":    call(gone, s.k, s.csr, Options{}),
		"Options.DocumentProgress panicked: no": call(t.Context(), s.k, s.csr,
			Options{DocumentProgress: func(int, int) { panic("no") }}),
	} {
		if err := f(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
	var at []int
	s.fit(t, Options{DocumentProgress: func(done, all int) { at = append(at, done, all) }})
	if !slices.Equal(at, []int{512, 600, 600, 600}) {
		t.Errorf("progress was %v", at)
	}
	at = nil
	whole := newSketched(t, "diffusion:t=0.5", blockRows, 1, sequence(20)) // the last block is full
	whole.fit(t, Options{DocumentProgress: func(done, all int) { at = append(at, done, all) }})
	if !slices.Equal(at, []int{512, 512}) {
		t.Errorf("progress was %v", at)
	}
	// Fit ends between blocks and between rows of products.
	ctx, stop := context.WithCancel(t.Context())
	musttest.WantError(call(ctx, s.k, s.csr, Options{DocumentProgress: func(int, int) { stop() }})())(t,
		"ended at a block", context.Canceled)
}
