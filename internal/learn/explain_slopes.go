package learn

import (
	"context"
	"slices"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/sparse"
)

// slopes returns ∂f/∂nⱼ for each term j of a document x with counts n, where f(n) = Σ βₛ k(cₛ, ‖x‖,
// ‖s‖) + b. Let u and s be the unit vectors of the document and a support vector, cₛ = 1 - ⟨u, s⟩,
// ⟨u, s⟩ᵥ the inner product over the terms of view v, v(j) the view of term j, p the embedding's
// power, and qⱼ the logarithmic derivative of the weighted count:
//
//	∂cₛ/∂nⱼ = -p qⱼ uⱼ (sⱼ - uⱼ ⟨u, s⟩ᵥ₍ⱼ₎/⟨u, u⟩ᵥ₍ⱼ₎),   ∂‖x‖/∂nⱼ = p qⱼ uⱼ² ‖x‖
//
// The derivative of ‖x‖ is used if the kernel depends on norms that differ between documents.
// [kernel.PartialDerivatives] computes the kernel's derivatives. A support vector equal to the
// document contributes 0, because cₛ is at its minimum. The result is nil if the embedding isn't
// for dot products, if norms are used and the embedding normalises vectors or has views, or if the
// document has unknown terms that share the last column.
func slopes(
	ctx context.Context, m KernelMachine, k kernel.Kernel, beta []float64, doc *sparse.CSR,
) ([]float64, error) {
	f, power := m.Embedder, m.Embedder.Power
	if power == 0 {
		power = 1
	}
	constant := f.Norm == sparse.NormL2 && power == 1 || f.Norm == sparse.NormL1 && power == sparse.SquareRoot
	norms := kernel.UsesNorms(k) && !constant
	if f.Pairing != sparse.Cosine || norms && (f.Norm != sparse.NormNone || f.Views != nil) {
		return nil, nil
	}
	x, err := f.TransformRows(ctx, doc, nil, 1)
	if err != nil {
		return nil, err
	}
	if f.Open && slices.Contains(x.Terms, uint32(len(f.Terms))) {
		return nil, nil // the last column combines several terms
	}
	terms, counts := doc.Row(0)
	columns, u := x.Terms, x.UnitVector64(0, nil)
	at := make(map[uint32]int, len(columns)) // index of a column in u
	view, shares := make([]int, len(columns)), make([]float64, len(f.Views)+1)
	for j, column := range columns {
		at[column] = j
		for int(column) < len(f.Terms) && view[j]+1 < len(f.Views) && f.Terms[column] >= f.Views[view[j]+1].First {
			view[j]++
		}
		shares[view[j]] += u[j] * u[j]
	}
	along, across, norm := make([]float64, len(columns)), make([]float64, len(shares)), 0.0
	var used []int
	for s, b := range beta {
		if b != 0 {
			used = append(used, s)
		}
	}
	const atOnce = 1024 // support vectors per batch
	for first := 0; first < len(used); first += atOnce {
		rows := used[first:min(first+atOnce, len(used))]
		support, err := f.TransformRows(ctx, m.Support, rows, 1)
		if err != nil {
			return nil, err
		}
		var unit []float64
		inner := make([]float64, len(shares))
		for r, s := range rows {
			unit = support.UnitVector64(r, unit)
			own := support.Terms[support.Offsets[r]:support.Offsets[r+1]]
			clear(inner)
			similarity := 0.0
			for i, column := range own {
				if j, ok := at[column]; ok {
					inner[view[j]] += u[j] * unit[i]
					similarity += u[j] * unit[i]
				}
			}
			const same = 1e-9
			c := 1 - similarity
			if c < same || similarity == 0 && !norms {
				continue // same document, or no common term: c is 1 for every n
			}
			byC, byX := kernel.PartialDerivatives(k, c, x.Norms[0], support.Norms[r])
			norm += beta[s] * byX
			for i, column := range own {
				if j, ok := at[column]; ok {
					along[j] += beta[s] * byC * unit[i]
				}
			}
			for v := range across {
				across[v] += beta[s] * byC * inner[v]
			}
		}
	}
	out := make([]float64, len(terms))
	for i, t := range terms {
		column, _ := f.Column(t)
		j, ok := at[column]
		weighted, _ := f.Factors(column, counts[i])
		if !ok || weighted == 0 {
			continue // unknown term, or term of weight 0
		}
		q := 1 / weighted
		if f.Weighting == sparse.LogTF || f.Weighting == sparse.LogTFIDF {
			q /= float64(counts[i])
		}
		out[i] = -power * q * u[j] * (along[j] - u[j]*across[view[j]]/shares[view[j]])
		if norms {
			out[i] += power * q * u[j] * u[j] * x.Norms[0] * norm
		}
	}
	return out, nil
}
