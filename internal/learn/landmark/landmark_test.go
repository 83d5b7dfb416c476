package landmark

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
	"gonum.org/v1/gonum/mat"
)

// texts makes documents of classes with overlapping terms. One in ten documents is empty, and one
// in seven is a copy of the previous document. With several, documents have up to two labels.
func texts(n, classes int, seed uint64, several bool) *corpus.Corpus {
	r := rand.New(rand.NewPCG(seed, 1))
	c := &corpus.Corpus{Source: "texts", Documents: &sparse.CSR{Cols: 60, Offsets: []int64{0}}}
	for k := range classes {
		c.Classes = append(c.Classes, string(rune('a'+k)))
	}
	for t := range 60 {
		c.Vocabulary = append(c.Vocabulary, string(rune('A'+t)))
	}
	counts, class := map[uint32]float32{}, 0
	for i := range n {
		if i%7 != 3 {
			clear(counts)
			class = r.IntN(classes)
			for range r.IntN(30) {
				counts[uint32(min(class*8+r.IntN(30), 59))]++
			}
		}
		if i%10 == 4 {
			clear(counts)
		}
		terms := slices.Sorted(maps.Keys(counts))
		for _, t := range terms {
			c.Documents.Terms = append(c.Documents.Terms, t)
			c.Documents.Values = append(c.Documents.Values, counts[t])
		}
		c.Documents.Offsets = append(c.Documents.Offsets, int64(len(c.Documents.Terms)))
		ids := []int32{int32(class)}
		switch {
		case several && i%5 == 0:
			ids = nil
		case several && i%3 == 0 && class != classes-1:
			ids = append(ids, int32(classes-1))
		}
		c.Labels.Add(ids...)
	}
	return c
}

// reference holds matrices of k + 1 in float64, computed from the engine's float32 values: between
// documents and landmarks, and between landmarks.
type reference struct {
	nm, mm *mat.Dense
	y      []float64 // targets of the first class
}

func referenceOf(t *testing.T, c *corpus.Corpus, m *Model) reference {
	t.Helper()
	_, k, err := m.Settings.resolve()
	musttest.NoError(t, err)
	k = kernel.Resolve(k, len(m.Embedder.Terms))
	z := musttest.Get(m.Embedder.Transform(m.Landmarks))(t)
	x := musttest.Get(m.Embedder.Transform(c.Documents))(t)
	e := musttest.Get(engine.New(z, engine.Options{}))(t)
	plusOne := func(x *sparse.Embedded) *mat.Dense {
		g := musttest.Get(e.Rows(t.Context(), k, engine.Request{TestDocuments: x}, nil))(t)
		var out mat.Dense
		out.Apply(func(i, j int, v float64) float64 { return v + 1 }, g)
		return &out
	}
	r := reference{nm: plusOne(x), mm: plusOne(z)}
	for i := range c.Documents.Rows() {
		y := -1.0
		if slices.Contains(c.Labels.Classes(i), 0) {
			y = 1
		}
		r.y = append(r.y, y)
	}
	return r
}

// gradient returns Kₘₘα + C Kᵀℓ'(Kα), the objective and Kα, in dense float64.
func (r *reference) gradient(m *Model, c float64) (g *mat.VecDense, objective float64, f *mat.VecDense) {
	alpha := mat.NewVecDense(len(m.Functions[0].Coefficients), m.Functions[0].Coefficients)
	var w, first mat.VecDense
	w.MulVec(r.nm, alpha)
	first.CloneFromVec(&w)
	var quadratic mat.VecDense
	quadratic.MulVec(r.mm, alpha)
	objective = mat.Dot(alpha, &quadratic) / 2
	for i, y := range r.y {
		loss, d, _ := m.Settings.Loss.eval(y, w.AtVec(i))
		objective += c * loss
		first.SetVec(i, c*d)
	}
	g = new(mat.VecDense)
	g.MulVec(r.nm.T(), &first)
	g.AddVec(g, &quadratic)
	return g, objective, &w
}

// With a tolerance of 10⁻⁸, the gradient in dense float64 is 0 within this tolerance, the model
// reports the same objective, and predictions are Kα. This holds for all losses and kernels, and
// for several C.
func TestOptimal(t *testing.T) {
	musttest.SkipRace(t)
	c := texts(300, 3, 1, false)
	for _, loss := range []Loss{SquaredError, Logistic, SquaredHinge} {
		for _, spec := range []string{"diffusion:t=0.5", "linear:embed=tfidf-l2", "rbf:gamma=0.01"} {
			s := Settings{Landmarks: 100, Loss: loss, Kernel: spec, Tolerance: 1e-8, Iterations: 2000, Seed: 5}
			cValues := []float64{0.1, 10}
			models := musttest.Get(TrainPath(t.Context(), c, s, cValues, Options{Workers: 2}))(t)
			for i, m := range models {
				name := loss.String() + " " + spec
				own := m.Functions[0]
				if !own.Converged || len(m.Functions) != 3 || m.Settings.C != cValues[i] {
					t.Fatalf("%s: %+v", name, *own)
				}
				r := referenceOf(t, c, m)
				g, objective, f := r.gradient(m, cValues[i])
				zeroFunction := &DecisionFunction{Coefficients: make([]float64, len(own.Coefficients))}
				zero := &Model{Settings: m.Settings, Functions: []*DecisionFunction{zeroFunction}}
				begin, _, _ := r.gradient(zero, cValues[i])
				if !(mat.Norm(g, 2) <= 1e-6*mat.Norm(begin, 2)) {
					t.Errorf("%s, C=%v: gradient %v, at the beginning %v", name, cValues[i], mat.Norm(g, 2), mat.Norm(begin, 2))
				}
				// If landmarks were dropped, another engine computed the kernel values, within 10⁻⁶
				// of the largest. This changes αᵀKα by at most (Σ|α|)² times as much.
				size := mat.Norm(mat.NewVecDense(len(own.Coefficients), own.Coefficients), 1)
				if !(math.Abs(objective-own.Objective) <= 1e-9*objective+1e-6*size*size) {
					t.Errorf("%s: objective %v, in dense float64 %v", name, own.Objective, objective)
				}
				p := musttest.Get(m.Predict(t.Context(), c.Documents, Options{Workers: 2}))(t)
				for i, d := range p.DecisionValues {
					if !(math.Abs(d[0]-f.AtVec(i)) <= 1e-9*(1+math.Abs(d[0]))) {
						t.Fatalf("%s: document %d: %v, in dense float64 %v", name, i, d[0], f.AtVec(i))
					}
				}
			}
		}
	}
}

// With all documents as landmarks, the squared loss gives kernel ridge regression, (K + 1 + I/C) α
// = y. Dropping copies doesn't change predictions.
func TestRidge(t *testing.T) {
	c := texts(200, 2, 2, false)
	const penalty = 2.0
	m, err := Train(t.Context(), c, Settings{Landmarks: 1000, C: penalty, Tolerance: 1e-10, Iterations: 500}, Options{})
	musttest.NoError(t, err)
	if n := m.Landmarks.Rows(); n >= 200 || n < 100 {
		t.Errorf("%d landmarks of 200 documents with copies", n)
	}
	_, k, _ := m.Settings.resolve()
	x := musttest.Get(m.Embedder.Transform(c.Documents))(t)
	e := musttest.Get(engine.New(x, engine.Options{}))(t)
	g := musttest.Get(e.Gram(t.Context(), k, nil))(t)
	a, y := mat.NewSymDense(200, nil), mat.NewVecDense(200, nil)
	for i := range 200 {
		for j := i; j < 200; j++ {
			a.SetSym(i, j, g.At(i, j)+1)
		}
		a.SetSym(i, i, a.At(i, i)+1/penalty)
		y.SetVec(i, float64(1-2*c.Labels.Classes(i)[0]))
	}
	var solution mat.Cholesky
	var alpha mat.VecDense
	if !solution.Factorize(a) || solution.SolveVecTo(&alpha, y) != nil {
		t.Fatal("no solution")
	}
	p := musttest.Get(m.Predict(t.Context(), c.Documents, Options{}))(t)
	for i, d := range p.DecisionValues {
		want := y.AtVec(i) - alpha.AtVec(i)/penalty
		// The dropped part is at most 10⁻⁵ of the kernel's diagonal, and 0 for copies. It changes
		// predictions by at most its square root.
		if !(math.Abs(d[0]-want) <= 1e-5) || d[1] != -d[0] {
			t.Fatalf("document %d: %v, expected %v", i, d, want)
		}
	}
}

// The residual is the trace of the error of Nyström's approximation, divided by the trace of k + 1.
func TestResidual(t *testing.T) {
	c := texts(300, 2, 3, false)
	m := musttest.Get(Train(t.Context(), c, Settings{Landmarks: 60, Iterations: 1}, Options{}))(t)
	r := referenceOf(t, c, m)
	var solution mat.Dense
	musttest.NoError(t, solution.Solve(r.mm, r.nm.T()))
	var left, all float64
	for i := range 300 {
		all += 2 // k(x, x) + 1 = 2 for the diffusion kernel
		left += 2 - mat.Dot(r.nm.RowView(i), solution.ColView(i))
	}
	if want := left / all; !(math.Abs(m.Residual-want) <= 1e-6) {
		t.Errorf("residual %v, expected %v", m.Residual, want)
	}
}

// All instruction sets give the same solution.
func TestInstructionSets(t *testing.T) {
	c := texts(200, 2, 6, false)
	var first *Model
	for _, isa := range asm.Available() {
		m, err := Train(t.Context(), c, Settings{Landmarks: 50, Loss: Logistic, Tolerance: 1e-9}, Options{ISA: string(isa)})
		musttest.NoError(t, err)
		if first == nil {
			first = m
		}
		if !(math.Abs(m.Functions[0].Objective-first.Functions[0].Objective) <= 1e-5) {
			t.Errorf("%s: objective %v, expected %v", isa, m.Functions[0].Objective, first.Functions[0].Objective)
		}
	}
}

// Landmarks are distinct, and at most all documents.
func TestChoose(t *testing.T) {
	for m, want := range map[int]int{40: 40, 1000: 300} {
		got := Choose(300, m, 3)
		if again := Choose(300, m, 3); !slices.Equal(got, again) {
			t.Errorf("%v, then %v with the same seed", got, again)
		}
		slices.Sort(got)
		if got = slices.Compact(got); len(got) != want || got[0] < 0 || got[want-1] >= 300 {
			t.Errorf("%d landmarks: %v, expected %d of 300 documents", m, got, want)
		}
	}
}
