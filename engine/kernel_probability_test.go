package engine

import (
	"math"
	"strings"
	"testing"

	"github.com/gramengine/gram/sparse"
)

// The definition from counts, Σ θ^ρ θ′^ρ, against a Gram matrix; ρ = ½ is Bhattacharyya's kernel and ρ = 1 the inner product, to the bit.
func TestProbabilityProduct(t *testing.T) {
	m := zipf(90, 400, 30, 5)
	of := func(spec string) (Kernel, *Symmetric, *sparse.Embedded) {
		k := parse(t, spec)
		x := embedded(t, k.Embedding(), m)
		g, err := newEngine(t, x, Options{}).Gram(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		return k, g, x
	}
	for _, rho := range []string{"0.01", "0.3", "0.75", "2", "8"} {
		k, g, x := of("probability-product:rho=" + rho)
		power := k.(probabilityProduct).rho
		theta := make([][]float64, m.Rows())
		for i := range theta {
			theta[i] = make([]float64, m.Cols)
			terms, values := m.Row(i)
			total := 0.0
			for _, v := range values {
				total += float64(v)
			}
			for j, term := range terms {
				theta[i][term] = math.Pow(float64(values[j])/total, power)
			}
		}
		for i := range theta {
			for j := range theta {
				var want float64
				for term, v := range theta[i] {
					want += v * theta[j][term]
				}
				// c carries 10⁻⁶ (the engine's promise), which counts by the product of the norms; the definition above and the powers some 10⁻¹³.
				scale := x.Norms[i] * x.Norms[j]
				if scale == 0 { // one has no terms
					if g.At(i, j) != 0 {
						t.Fatalf("%v: documents %d and %d, one of them empty, have %v", k, i, j, g.At(i, j))
					}
					continue
				}
				if err := math.Abs(g.At(i, j) - want); !(err <= scale*(1e-6+1e-13)+k.Error(1-want/scale, x.Norms[i], x.Norms[j])) {
					t.Fatalf("%v: documents %d and %d have %v, expected %v", k, i, j, g.At(i, j), want)
				}
			}
		}
	}
	for spec, same := range map[string]string{"probability-product:rho=0.5": "bhattacharyya", "probability-product:rho=1": "linear:embed=tf-l1"} {
		_, a, _ := of(spec)
		_, b, _ := of(same)
		for i, v := range a.Data {
			if math.Float32bits(v) != math.Float32bits(b.Data[i]) {
				t.Errorf("%s differs from %s: %v, %v", spec, same, v, b.Data[i])
				break
			}
		}
	}
}

// rho is the embedding's power, wherever the rest of the embedding comes from.
func TestProbabilityProductEmbedding(t *testing.T) {
	for spec, want := range map[string]string{
		"probability-product":                                              "probability-product:rho=0.5 in tf-l1-sqrt",
		"probability-product:rho=0.75":                                     "probability-product:rho=0.75 in tf-l1-pow0.75",
		"probability-product:rho=1":                                        "probability-product:rho=1 in tf-l1",
		"probability-product:embed=tfidf-l1,rho=2":                         "probability-product:rho=2,embed=tfidf-l1 in tfidf-l1-pow2",
		"probability-product:embed=tfidf-l1-pow2,rho=2":                    "probability-product:rho=2,embed=tfidf-l1 in tfidf-l1-pow2",
		"diffusion:t=1 + 2*probability-product":                            "diffusion:t=1 + 2*probability-product:rho=0.5 in tf-l1-sqrt",
		"exp(probability-product:rho=3)":                                   "exp(probability-product:rho=3) in tf-l1-pow3",
		"product(linear:embed=tf-l1-pow3,probability-product:rho=3)":       "product(linear:embed=tf-l1-pow3,probability-product:rho=3) in tf-l1-pow3",
		"normalise(probability-product:rho=0.75,embed=tfidf-l1)":           "normalise(probability-product:rho=0.75,embed=tfidf-l1) in tfidf-l1-pow0.75",
		"power(probability-product:rho=0.25,2)":                            "power(probability-product:rho=0.25,2) in tf-l1-pow0.25",
		"linear:embed=tf-l1 + probability-product:rho=1":                   "",
		"probability-product:rho=0.25 + probability-product:rho=0.25":      "",
		"compose(probability-product:rho=0.75,rbf:gamma=2)":                "",
		"product(probability-product:rho=0.7,probability-product:rho=0.7)": "",
	} {
		k, err := ParseKernel(spec)
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		if got := k.String() + " in " + k.Embedding().String(); want != "" && got != want {
			t.Errorf("%s: %s, expected %s", spec, got, want)
		}
		if again, err := ParseKernel(k.String()); err != nil || again != k {
			t.Errorf("%s is %v, which parses to %v, %v", spec, k, again, err)
		}
	}
	tfidf, _ := sparse.ParseEmbedding("tfidf-l1")
	if k, err := ParseKernelIn("probability-product:rho=2", tfidf); err != nil || k.Embedding().String() != "tfidf-l1-pow2" {
		t.Errorf("with another default the kernel is %v in %v, error %v", k, k.Embedding(), err)
	}
	for spec, want := range map[string]string{
		"probability-product:rho=0":                                  "a number above 0 (from 0.01 to 8)",
		"probability-product:rho=-1":                                 "a number above 0",
		"probability-product:rho=9":                                  "from 0.01 to 8",
		"probability-product:rho=2,embed=tf-l1-sqrt":                 "the embedding tf-l1-pow2, or tf-l1, which probability-product raises to it, instead of tf-l1-sqrt",
		"probability-product:rho=2,embed=tf-l7":                      "one of tf,",
		"probability-product:rho=x,embed=tf-l1":                      "a number above 0",
		"linear + probability-product:rho=2":                         "the power of the embedding tf",
		"probability-product:rho=2 + probability-product:rho=3":      "the power of the embedding tf-l1-pow2",
		"diffusion + probability-product:rho=2":                      "the power of the embedding tf-l1-sqrt",
		"normalise(probability-product:rho=0.75):embed=tf-l1":        "the power of the embedding tf-l1",
		"probability-product:rho=2,embed=tf-l1 + linear:embed=tfidf": "as before",
	} {
		if k, err := ParseKernel(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, expected an error with %q", spec, k, err, want)
		}
	}
	if _, err := ParseKernelIn("probability-product:rho=2", sparse.Sphere); err == nil || !strings.Contains(err.Error(), "instead of tf-l1-sqrt") {
		t.Errorf("a default with another power: %v", err)
	}
}
