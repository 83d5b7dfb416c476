package kernel

import (
	"strings"
	"testing"

	"github.com/gramengine/gram/sparse"
)

// rho is the embedding's power, wherever the rest of the embedding comes from.
func TestProbabilityProductEmbedding(t *testing.T) {
	for _, pair := range [][2]string{
		{"probability-product", "probability-product:rho=0.5 in tf-l1-sqrt"},
		{"probability-product:rho=0.75", "probability-product:rho=0.75 in tf-l1-pow0.75"},
		{"probability-product:rho=1", "probability-product:rho=1 in tf-l1"},
		{"probability-product:embed=tfidf-l1,rho=2", "probability-product:rho=2,embed=tfidf-l1 in tfidf-l1-pow2"},
		{"probability-product:embed=tfidf-l1-pow2,rho=2", "probability-product:rho=2,embed=tfidf-l1 in tfidf-l1-pow2"},
		{"diffusion:t=1 + 2*probability-product", "diffusion:t=1 + 2*probability-product:rho=0.5 in tf-l1-sqrt"},
		{"exp(probability-product:rho=3)", "exp(probability-product:rho=3) in tf-l1-pow3"},
		{"product(linear:embed=tf-l1-pow3,probability-product:rho=3)",
			"product(linear:embed=tf-l1-pow3,probability-product:rho=3) in tf-l1-pow3"},
		{"normalise(probability-product:rho=0.75,embed=tfidf-l1)",
			"normalise(probability-product:rho=0.75,embed=tfidf-l1) in tfidf-l1-pow0.75"},
		{"power(probability-product:rho=0.25,2)", "power(probability-product:rho=0.25,2) in tf-l1-pow0.25"},
		{"linear:embed=tf-l1 + probability-product:rho=1", ""},
		{"probability-product:rho=0.25 + probability-product:rho=0.25", ""},
		{"compose(probability-product:rho=0.75,rbf:gamma=2)", ""},
		{"product(probability-product:rho=0.7,probability-product:rho=0.7)", ""},
	} {
		spec, want := pair[0], pair[1]
		k, err := Parse(spec)
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		if got := k.String() + " in " + k.Embedding().String(); want != "" && got != want {
			t.Errorf("%s: %s, expected %s", spec, got, want)
		}
		if again, err := Parse(k.String()); err != nil || !Equal(again, k) {
			t.Errorf("%s is %v, which parses to %v, %v", spec, k, again, err)
		}
	}
	tfidf, _ := sparse.ParseEmbedding("tfidf-l1")
	if k, err := ParseIn("probability-product:rho=2", tfidf); err != nil || k.Embedding().String() != "tfidf-l1-pow2" {
		t.Errorf("with another default the kernel is %v in %v, error %v", k, k.Embedding(), err)
	}
	for _, pair := range [][2]string{
		{"probability-product:rho=0", "a number above 0 (from 0.01 to 8)"},
		{"probability-product:rho=-1", "a number above 0"},
		{"probability-product:rho=9", "from 0.01 to 8"},
		{"probability-product:rho=2,embed=tf-l1-sqrt",
			"the embedding tf-l1-pow2, or tf-l1, which probability-product raises to it, instead of tf-l1-sqrt"},
		{"probability-product:rho=2,embed=tf-l7", "one of tf,"},
		{"probability-product:rho=x,embed=tf-l1", "a number above 0"},
		{"linear + probability-product:rho=2", "the power of the embedding tf"},
		{"probability-product:rho=2 + probability-product:rho=3", "the power of the embedding tf-l1-pow2"},
		{"diffusion + probability-product:rho=2", "the power of the embedding tf-l1-sqrt"},
		{"normalise(probability-product:rho=0.75):embed=tf-l1", "the power of the embedding tf-l1"},
		{"probability-product:rho=2,embed=tf-l1 + linear:embed=tfidf", "as before"},
	} {
		spec, want := pair[0], pair[1]
		if k, err := Parse(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, expected an error with %q", spec, k, err, want)
		}
	}
	if _, err := ParseIn("probability-product:rho=2", sparse.Sphere); err == nil ||
		!strings.Contains(err.Error(), "instead of tf-l1-sqrt") {
		t.Errorf("a default with another power: %v", err)
	}
}
