package engine

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gramengine/gram/engine/internal/panel"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// histogramEmbeddings returns the embeddings with a pairing other than the dot product.
func histogramEmbeddings() (list []sparse.Embedding) {
	for _, e := range sparse.Embeddings() {
		if e.Pairing != sparse.Cosine {
			list = append(list, e)
		}
	}
	return list
}

func cIn(t testing.TB, e sparse.Embedding) kernel.Kernel { return parse(t, "c:embed="+e.String()) }

// c of two histograms a = (1) and b = (½, ½) agrees with values computed by hand: χ² = ½·(1-½)²·2/3
// + ½ and JS = ¾ ln(4/3).
func TestHistogramValues(t *testing.T) {
	m := &sparse.CSR{Cols: 3, Offsets: []int64{0, 1, 3, 4}, Terms: []uint32{0, 0, 1, 2}, Values: []float32{5, 2, 2, 7}}
	for spec, want := range map[string]float64{"chi2:gamma=1": math.Exp(-2. / 3),
		"js:t=2": math.Exp(-0.75 * math.Log(4./3) / 2)} {
		k := parse(t, spec)
		x := embedded(t, k.Embedding(), m)
		if got := NewReference(x).Value(k, 0, 1); !(math.Abs(got-want) <= 1e-15) {
			t.Errorf("%s: %v, expected %v", spec, got, want)
		}
		apart := map[string]float64{"chi2:gamma=1": math.Exp(-2), "js:t=2": math.Sqrt(0.5)}[spec]
		eachISA(t, func(t *testing.T, isa string) {
			g := gram(t, newEngine(t, x, Options{ISA: isa}), k)
			if got := g.At(1, 0); !(math.Abs(got-want) <= 2e-6) {
				t.Errorf("%s: %v, expected %v", spec, got, want)
			}
			if got := g.At(0, 2); !(math.Abs(got-apart) <= 1e-7) || g.At(2, 2) != 1 {
				t.Errorf("%s: without a common term %v, expected %v; with itself %v, expected 1", spec, got, apart,
					g.At(2, 2))
			}
		})
	}
}

// The exact forms agree with the independent formulas of the reference, and for almost equal
// histograms with the leading term c = Σ (a-b)²/(8s ln 2) with s the mean of a and b (JS), or ½ Σ
// (a-b)²/2s (χ²).
func TestExactHistograms(t *testing.T) {
	r, one := rand.New(rand.NewPCG(5, 6)), []uint32{0}
	for range 20000 {
		a := math.Exp(-20 * r.Float64())
		// rounded, so that differences of a and b are the same in both formulas
		b := float64(a * math.Exp((2*r.Float64()-1)*math.Exp(-30*r.Float64())))
		for _, p := range []sparse.Pairing{sparse.ChiSquare, sparse.JensenShannon} {
			of := func(a, b float64) float64 { return 2 * panel.ExactFunc(p)(one, []float64{a}, one, []float64{b}) }
			_, share := referenceTerms(p)
			got, want := of(a, b), share(a, b)
			if err := math.Abs(got - want); !(err <= 0x1p-46*want) || got != of(b, a) || want != share(b, a) {
				t.Fatalf("pairing %d: (%v, %v) is %v, expected %v", p, a, b, got, want)
			}
			if d := math.Abs(a - b); d < 1e-5*a {
				lead := d * d / (a + b)
				if p == sparse.JensenShannon {
					lead /= 2 * math.Ln2
				}
				if err := math.Abs(got - lead); !(err <= 1e-9*lead) {
					t.Fatalf("pairing %d: (%v, %v) is %v, leading term %v", p, a, b, got, lead)
				}
			}
			term, _ := referenceTerms(p)
			if sum := term(a, b) + got/2; !(math.Abs(sum-(a+b)/2) <= 1e-15*(a+b)) || term(a, b) != term(b, a) {
				t.Fatalf("pairing %d: term and share of (%v, %v) add to %v, expected %v", p, a, b, sum, (a+b)/2)
			}
		}
	}
}

// A kernel of one pairing is rejected for documents with another pairing.
func TestPairingsDontMix(t *testing.T) {
	for spec, expected := range map[string]string{
		"chi2:embed=tf-l1-sqrt":                 "embed=tf-l1-chi2 or tfidf-l1-chi2",
		"chi2:embed=tf-l1-js":                   "embed=tf-l1-chi2 or tfidf-l1-chi2",
		"js:embed=tf":                           "embed=tf-l1-js or tfidf-l1-js",
		"0.5*diffusion + 0.5*chi2":              "embed=tf-l1-chi2 or tfidf-l1-chi2",
		"product(js,chi2)":                      "embed=tf-l1-chi2 or tfidf-l1-chi2",
		"product(chi2,linear:embed=tf-l1-sqrt)": "embed=tf-l1-chi2 or tfidf-l1-chi2",
		"chi2:gamma=0":                          "a number above 0",
		"js:t=-1":                               "a number above 0",
	} {
		var wrong *kernel.SpecError
		if k, err := kernel.Parse(spec); !errors.As(err, &wrong) || !strings.Contains(wrong.Expected, expected) {
			t.Errorf("%s is %v with error %v, want one with %q", spec, k, err, expected)
		}
	}
	for spec, want := range map[string]string{
		"chi2:embed=tf-l1":                                   "chi2:gamma=1",
		"js:t=1,embed=tfidf-l1":                              "js:t=1,embed=tfidf-l1-js",
		"0.5*chi2:embed=tf-l1-chi2 + 0.5*diffusion":          "0.5*chi2:gamma=1 + 0.5*diffusion:t=0.5",
		"exp(2*linear:embed=tf-l1-js)":                       "exp(2*linear:embed=tf-l1-js)",
		"product(chi2:gamma=2,chi2):embed=tf-l1-chi2":        "product(chi2:gamma=2,chi2:gamma=1)",
		"compose(chi2:gamma=1,embed=tf-l1-chi2,rbf:gamma=1)": "",
	} {
		k, err := kernel.Parse(spec)
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		if again, err := kernel.Parse(k.String()); err != nil || !kernel.Equal(again, k) {
			t.Errorf("%s is %s, which is read as %v, %v", spec, k, again, err)
		}
		if k.Embedding().Pairing == sparse.Cosine || want != "" && k.String() != want {
			t.Errorf("%s is %s in %s, expected %s", spec, k, k.Embedding(), want)
		}
	}
	x := embedded(t, sparse.SphereEmbedding, zipf(10, 100, 5, 1))
	musttest.WantError(newEngine(t, x, Options{}).Gram(t.Context(), parse(t, "chi2"), nil))(t,
		"documents on the sphere", "tf-l1-chi2")
}
