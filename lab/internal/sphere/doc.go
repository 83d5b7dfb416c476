// Package sphere computes margins on the positive sphere: distances of documents, as points of it,
// from hyperplanes.
//
// # The problem
//
// A document is a point x of S⁺ = {x ∈ Rⁿ: ‖x‖ = 1, x ≥ 0}, the root of its term frequencies. A unit
// vector û has the hyperplane H = {y ∈ S⁺: ⟨û,y⟩ = 0}. The margin of x is the angle to the nearest
// point of H,
//
//	d(x, H) = arccos √F,  F = ‖x‖²∉A - q²/w,  q = Σ_{i∉A} xᵢûᵢ,  w = Σ_{i∉A} ûᵢ²,
//
// where A are the coordinates that are 0 at the nearest point (Proposition 4), with the sign of
// ⟨x,û⟩. Where H is empty, the margin is π/2.
//
// # Which coordinates are 0
//
// That point is y = max(0, x + λû), scaled to length 1, with the λ for which ⟨û,y⟩ = 0. So F = ‖y‖²,
// and λ = -q/w. The function g(λ) = Σ ûᵢ max(0, xᵢ + λûᵢ) is convex left of 0 (for ⟨x,û⟩ > 0; else by
// -û), so Newton's method from λ = 0 meets its root from one side: A only grows, and it ends when A
// stays as it is. The paper takes A = {i: xᵢ ≤ ⟨x,û⟩ûᵢ}, which is a part of the true A: its F is too
// great there, and its margin too small.
//
// # Work
//
// Beyond the terms of x, yᵢ = max(0, λûᵢ) depends on the signs of λ and ûᵢ alone. So two sums over
// all terms, of ûᵢ² with ûᵢ < 0 and with ûᵢ > 0, make a margin O(terms of x) ([Hyperplane.Project]),
// and the gradient of a sum of margins O(all stored values + terms).
//
// Source: Lebanon and Lafferty, Hyperplane Margin Classifiers on the Multinomial Manifold, ICML 2004,
// §4 and §5.
package sphere
