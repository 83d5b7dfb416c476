package kernel

import (
	"fmt"

	"github.com/gramengine/gram/sparse"
)

// histogramFamilies lists the kernels that compare histograms by a pairing of their own. With it as their embedding, all other kernels are functions of that similarity,
// too: linear:embed=tf-l1-chi2 is the similarity itself.
func histogramFamilies() []family {
	chi2, js := sparse.Embedding{Norm: sparse.NormL1, Pairing: sparse.ChiSquare}, sparse.Embedding{Norm: sparse.NormL1, Pairing: sparse.JensenShannon}
	return []family{
		{Info: Info{Name: "chi2", Summary: "exp(-gamma Σ (θ-θ′)²/(θ+θ′)) = exp(-2 gamma c)", What: "exponential kernel of the χ² distance of histograms",
			Source: sourceVedaldi, Examples: []string{"chi2:gamma=1", "chi2:gamma=4"}}, embedding: chi2,
			params: []param{positive("gamma", "factor of the distance, which is at most 2", 1)},
			build:  func(e in, v []float64) component { return compile(chiSquareExp{single{e}, v[0]}) }},
		{Info: Info{Name: "js", Summary: "exp(-JS/t) = exp(-ln 2 c/t), JS = ½ Σ θ ln(2θ/(θ+θ′)) + ½ Σ θ′ ln(2θ′/(θ+θ′))",
			What: "exponential kernel of the Jensen-Shannon divergence of histograms", Source: sourceHein, Examples: []string{"js:t=0.5"}}, embedding: js,
			params: []param{positive("t", "width: the divergence is at most ln 2", 1)},
			build:  func(e in, v []float64) component { return compile(jensenShannonExp{single{e}, v[0]}) }},
	}
}

// paired returns e with the pairing that a family has of its own, where e is an embedding of histograms but for that.
func paired(e sparse.Embedding, f *family) sparse.Embedding {
	if e.Norm == sparse.NormL1 && e.Power == 0 && e.Pairing == sparse.Dot && f.combine == nil {
		e.Pairing = f.embedding.Pairing
	}
	return e
}

// checkPairing refuses a kernel with a pairing of its own in another embedding. The other way round there is nothing to refuse: behind chi2, a kernel that usually is a function of
// the cosine is one of that similarity.
func (b *builder) checkPairing(c *call) error {
	want := c.family.embedding
	if want.Pairing == sparse.Dot || want.Pairing == b.embedding.Pairing {
		return nil
	}
	idf := want
	idf.Weighting = sparse.TFIDF
	return b.fail(c.pos, b.text(c), fmt.Sprintf("a function of the similarity of the embedding %s, which all parts share: %s compares histograms in its own way, embed=%s or %s",
		b.embedding, c.name, want, idf))
}
