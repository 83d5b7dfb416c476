package engine

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/sparse"
)

// clouds draws sets of points in R^p about means and with deviations of their own; column 0 of the matrix stays empty.
func clouds(t *testing.T, sets, p int, seed uint64) (*sparse.CSR, []int32) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	m := &sparse.CSR{Cols: p + 1, Offsets: []int64{0}}
	var of []int32
	for s := range sets {
		mean, sigma := make([]float64, p), math.Exp(0.5*r.NormFloat64())
		for k := range mean {
			mean[k] = 2 * r.NormFloat64()
		}
		for range 3 + r.IntN(5) {
			for k := range mean {
				m.Terms = append(m.Terms, uint32(k+1))
				m.Values = append(m.Values, float32(mean[k]+sigma*r.NormFloat64()))
			}
			m.Offsets = append(m.Offsets, int64(len(m.Terms)))
			of = append(of, int32(s))
		}
	}
	// Points of a set need not be neighbours.
	order := r.Perm(len(of))
	mixed := make([]int32, len(of))
	for i, j := range order {
		mixed[i] = of[j]
	}
	return m.SelectRows(order), mixed
}

func normals(t *testing.T, sets, p int, seed uint64) *Normals {
	t.Helper()
	m, of := clouds(t, sets, p, seed)
	x, err := FitNormals(t.Context(), m, of, sets)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func hyperbolicGram(t *testing.T, spec string, x *Normals, workers int) *HyperbolicGram {
	t.Helper()
	h, err := ParseHyperbolic(spec)
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewHyperbolic(t.Context(), h, x, Options{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// The kernel of H³ is known: K = (4πt)^(-3/2) r/sinh r exp(-t-r²/4t). The distance of two sets is that of means and variances as computed here.
func TestHyperbolicThree(t *testing.T) {
	m, of := clouds(t, 40, 2, 1)
	x, err := FitNormals(t.Context(), m, of, 40)
	if err != nil {
		t.Fatal(err)
	}
	if x.Len() != 40 || x.P() != 2 {
		t.Fatalf("%d distributions on R^%d", x.Len(), x.P())
	}
	mean, square, count := make([][2]float64, 40), make([]float64, 40), make([]float64, 40)
	for i, s := range of {
		_, v := m.Row(i)
		a, b := float64(v[0]), float64(v[1])
		mean[s][0] += a
		mean[s][1] += b
		square[s] += a*a + b*b
		count[s]++
	}
	distance := func(i, j int) float64 {
		var sigma [2]float64
		var mu [2][2]float64
		for k, s := range []int{i, j} {
			mu[k] = [2]float64{mean[s][0] / count[s], mean[s][1] / count[s]}
			sigma[k] = math.Sqrt((square[s]/count[s] - mu[k][0]*mu[k][0] - mu[k][1]*mu[k][1]) / 2)
		}
		dx, dy, ds := mu[0][0]-mu[1][0], mu[0][1]-mu[1][1], sigma[0]-sigma[1]
		return math.Acosh(1 + ((dx*dx+dy*dy)/4+ds*ds)/(2*sigma[0]*sigma[1]))
	}
	for spec, factor := range map[string]float64{"hyperbolic:t=0.7": 1, "hyperbolic:t=0.7,n=3,constant=full": math.Pow(4*math.Pi*0.7, -1.5) * math.Exp(-0.7)} {
		g := hyperbolicGram(t, spec, x, 2)
		k, err := g.Gram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i := range k.N {
			for j := range k.N {
				want := factor
				if i != j {
					r := distance(i, j)
					want *= r / math.Sinh(r) * math.Exp(-r*r/2.8)
				}
				if got := k.At(i, j); !(math.Abs(got-want) <= 2*unit*want) || !(math.Abs(g.Eval(i, j)-want) <= 1e-9*want) {
					t.Fatalf("%s: (%d, %d) is %v, in float64 %v, expected %v", spec, i, j, got, g.Eval(i, j), want)
				}
			}
		}
	}
}

// Values are those of the definition, rounded, in any dimension; the same bits from any number of workers, in both orders, and by rows.
func TestHyperbolicGram(t *testing.T) {
	for _, c := range []struct {
		spec string
		p    int
	}{{"hyperbolic:t=0.3", 1}, {"hyperbolic:t=2", 3}, {"hyperbolic:t=1e-3", 4}, {"hyperbolic:t=0.05,n=9,constant=full", 5}, {"hyperbolic:t=0.01", 200}} {
		x := normals(t, 75, c.p, 3)
		g := hyperbolicGram(t, c.spec, x, 1)
		k, err := g.Gram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i := range k.N {
			for j := range k.N {
				got, want := k.At(i, j), g.Eval(i, j)
				if bound := g.Error(i, j); !(math.Abs(got-want) <= bound) || !(bound <= 1.01*unit*want+0x1p-149) {
					t.Fatalf("%s: (%d, %d) is %v, expected %v", c.spec, i, j, got, want)
				}
				if math.Float32bits(k.Row(i)[j]) != math.Float32bits(k.Row(j)[i]) {
					t.Fatalf("%s: (%d, %d) and its mirror image differ", c.spec, i, j)
				}
			}
		}
		for _, workers := range []int{2, 7} {
			other := hyperbolicGram(t, c.spec, x, workers)
			again, err := other.Gram(t.Context())
			if err != nil || !sameBits(again.Data, k.Data) {
				t.Errorf("%s: %d workers compute other bits, or %v", c.spec, workers, err)
			}
			rows := NewDense(40, 75)
			if err := other.Rows(t.Context(), 20, rows); err != nil || !sameBits(rows.Data, k.Data[20*75:60*75]) {
				t.Errorf("%s: by rows there are other bits, or %v", c.spec, err)
			}
		}
	}
}

// No eigenvalue is below 0 but by rounding where the kernel is said to be positive definite, n = P+1 and above, even and odd.
func TestHyperbolicDefinite(t *testing.T) {
	for _, spec := range []string{"hyperbolic:t=0.1", "hyperbolic:t=1", "hyperbolic:t=10", "hyperbolic:t=1,n=5", "hyperbolic:t=3,n=8"} {
		for _, p := range []int{1, 2, 3} {
			x := normals(t, 60, p, 5)
			g := hyperbolicGram(t, spec, x, 0)
			if g.Kernel().PropertiesFor(p).Definite != Positive {
				t.Errorf("%s isn't said to be positive definite on R^%d", g.Kernel(), p)
			}
			k, err := g.Gram(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var e mat.EigenSym
			if !e.Factorize(k, false) {
				t.Fatal("no eigenvalues")
			}
			values := e.Values(nil)
			if least, most := values[0], values[len(values)-1]; !(least >= -float64(k.N)*unit*most) {
				t.Errorf("%s on R^%d: eigenvalues from %v to %v", g.Kernel(), p, least, most)
			}
		}
	}
	if (Hyperbolic{T: 1, N: 2}).PropertiesFor(2).Definite != NotProven {
		t.Error("n = P is said to be positive definite")
	}
}

func TestFitNormals(t *testing.T) {
	// Columns 0 and 3 are 0 for all; a stored zero counts as none; set 1 comes first.
	m := &sparse.CSR{Cols: 4, Offsets: []int64{0, 2, 3, 4, 5}, Terms: []uint32{1, 3, 2, 1, 2}, Values: []float32{4, 0, 6, 2, 2}}
	x, err := FitNormals(t.Context(), m, []int32{1, 0, 1, 0}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if x.P() != 2 || x.Mean(0)[0] != 0 || x.Mean(0)[1] != 4 || x.Mean(1)[0] != 3 || x.Mean(1)[1] != 0 || !(math.Abs(x.Sigma(0)-math.Sqrt2) <= 1e-15) || !(math.Abs(x.Sigma(1)-math.Sqrt(0.5)) <= 1e-15) {
		t.Errorf("means %v and %v, deviations %v and %v on R^%d", x.Mean(0), x.Mean(1), x.Sigma(0), x.Sigma(1), x.P())
	}
	var spread *SpreadError
	if _, err := FitNormals(t.Context(), m, []int32{1, 0, 1, 1}, 2); !errors.As(err, &spread) || spread.Set != 0 || spread.Points != 1 {
		t.Errorf("a set of one point: %v", err)
	}
	if _, err := FitNormals(t.Context(), m, []int32{1, 0, 1, 0}, 3); !errors.As(err, &spread) || spread.Set != 2 || spread.Points != 0 {
		t.Errorf("a set without points: %v", err)
	}
	for _, of := range [][]int32{{1, 0, 1}, {1, 0, 1, 2}, {1, 0, 1, -1}} {
		if _, err := FitNormals(t.Context(), m, of, 2); err == nil || errors.As(err, &spread) {
			t.Errorf("sets %v: %v", of, err)
		}
	}
	if _, err := FitNormals(t.Context(), &sparse.CSR{Cols: 3, Offsets: []int64{0, 0, 0}}, []int32{0, 0}, 1); err == nil || !strings.Contains(err.Error(), "without a coordinate") {
		t.Errorf("points at 0: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := FitNormals(ctx, m, []int32{1, 0, 1, 0}, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("behind the end of the context: %v", err)
	}
}

func TestHyperbolicRefuses(t *testing.T) {
	x := normals(t, 40, 2, 1)
	h := Hyperbolic{T: 1}
	for name, got := range map[string]error{
		"workers":   second(NewHyperbolic(t.Context(), h, x, Options{Workers: -1})),
		"time":      second(NewHyperbolic(t.Context(), Hyperbolic{}, x, Options{})),
		"dimension": second(NewHyperbolic(t.Context(), Hyperbolic{T: 1, N: 1e6}, x, Options{})),
		"rows":      hyperbolicGram(t, "hyperbolic", x, 1).Rows(t.Context(), 39, NewDense(2, 40)),
		"columns":   hyperbolicGram(t, "hyperbolic", x, 1).Rows(t.Context(), 0, NewDense(2, 39)),
	} {
		if got == nil {
			t.Errorf("%s: no error", name)
		}
	}
	var memory *MemoryError
	if _, err := NewHyperbolic(t.Context(), h, x, Options{MemoryBytes: 100}); !errors.As(err, &memory) {
		t.Errorf("100 bytes for the distributions: %v", err)
	}
	g, err := NewHyperbolic(t.Context(), h, x, Options{MemoryBytes: x.Bytes() + 100})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Gram(t.Context()); !errors.As(err, &memory) {
		t.Errorf("100 bytes for the matrix: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewHyperbolic(ctx, h, x, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a table behind the end of the context: %v", err)
	}
	g = hyperbolicGram(t, "hyperbolic", x, 2)
	if _, err := g.Gram(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a matrix behind the end of the context: %v", err)
	}
	if err := g.Rows(ctx, 0, NewDense(40, 40)); !errors.Is(err, context.Canceled) {
		t.Errorf("rows behind the end of the context: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestParseHyperbolic(t *testing.T) {
	for spec, want := range map[string]Hyperbolic{
		"hyperbolic":                      {T: 1},
		" hyperbolic : t=0.5, n=3 ":       {T: 0.5, N: 3},
		"hyperbolic:n=auto,constant=none": {T: 1},
		"hyperbolic:constant=full,t=1e-3": {T: 1e-3, Full: true},
	} {
		h, err := ParseHyperbolic(spec)
		if err != nil || h != want || !IsHyperbolic(spec) {
			t.Errorf("%q is %+v, %v, expected %+v", spec, h, err, want)
		}
		if again, err := ParseHyperbolic(h.String()); err != nil || again != h {
			t.Errorf("%q prints as %q, which parses to %+v, %v", spec, h, again, err)
		}
	}
	for spec, want := range map[string]struct {
		column          int
		found, expected string
	}{
		"hyperbole":                {1, "hyperbole", "hyperbolic"},
		"hyperbolic:t=0":           {14, "t=0", "a number above 0"},
		"hyperbolic:n=0":           {14, "n=0", "auto, or a whole number from 1"},
		"hyperbolic:n=1e9":         {14, "n=1e9", "a whole number"},
		"hyperbolic:constant=half": {21, "constant=half", "none or full"},
		"hyperbolic:embed=tf":      {12, `unknown key "embed"`, "t, n, constant"},
		"hyperbolic:t=1,t=2":       {16, "t a second time", "each key once"},
		"hyperbolic + linear":      {12, `"+ linear"`, "or the end"},
		"hyperbolic:":              {12, "the end", "one of the keys of hyperbolic: t, n, constant"},
	} {
		_, err := ParseHyperbolic(spec)
		var e *SpecError
		if !errors.As(err, &e) || e.Column != want.column || !strings.Contains(e.Found, want.found) || !strings.Contains(e.Expected, want.expected) {
			t.Errorf("%q: %v, expected column %d, %q, %q", spec, err, want.column, want.found, want.expected)
		}
	}
	if IsHyperbolic("diffusion") || IsHyperbolic("hyperbolically") {
		t.Error("other names count as hyperbolic")
	}
	for _, info := range SetKernels() {
		if _, err := ParseHyperbolic(info.Examples[0]); err != nil || len(info.Params) != 3 || info.Summary == "" {
			t.Errorf("%+v: %v", info, err)
		}
	}
}
