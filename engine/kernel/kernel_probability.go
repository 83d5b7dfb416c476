package kernel

import (
	"fmt"

	"github.com/gramengine/gram/sparse"
)

// probabilityProduct is the general probability product kernel of two multinomial distributions θ and θ′,
//
//	k = Σ θᵢ^ρ θ′ᵢ^ρ,   sparse.LeastPower <= ρ <= sparse.MostPower
//
// which is the inner product of documents in an embedding with the power ρ. So each ρ has an embedding of its own, and matrices of different ρ share no
// dot product. ρ = ½ is Bhattacharyya's coefficient, ρ = 1 the expected likelihood.
//
// Source: Jebara, Kondor and Howard, JMLR 5 (2004), §2.
type probabilityProduct struct {
	linear
	rho float64
}

func probabilityProductFamily() family {
	rho := positive("rho", "the power; each has an embedding of its own, so that no two share dot products", sparse.Root)
	rho.min, rho.max = sparse.LeastPower, sparse.MostPower
	rho.Allowed = fmt.Sprintf("a number above 0 (from %v to %v)", rho.min, rho.max)
	return family{
		Info: Info{Name: probabilityProductName, Summary: "Σ θᵢ^rho θ′ᵢ^rho = ‖x‖‖y‖(1-c), x = θ^rho",
			What:   "probability product kernel: Bhattacharyya's for rho = ½, expected likelihood for rho = 1; on data without values below 0",
			Source: sourceJebara + ", §2", Examples: []string{"probability-product:rho=0.75", "probability-product:rho=0.5"}},
		embedding: sparse.Embedding{Norm: sparse.NormL1}, params: []param{rho},
		power: func(v []float64) float64 { return v[0] },
		build: func(e in, v []float64) component { return probabilityProduct{linear{e}, v[0]} },
	}
}

const probabilityProductName = "probability-product"

// String names the embedding without its power, which is rho.
func (k probabilityProduct) String() string {
	e := k.in
	e.embedding.Power = 0
	return format(probabilityProductName, e, pair{"rho", k.rho})
}

// Properties returns what is known of the kernel.
func (probabilityProduct) Properties() Properties {
	return Properties{Definite: Positive, Condition: "an inner product", Source: sourceJebara, UsesNorms: true, PositiveDiagonal: true}
}
