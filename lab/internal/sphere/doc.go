// Package sphere implements logistic regression with margins on the positive sphere. The margin of
// a document is its spherical distance from a hyperplane.
//
// # The problem
//
// A document is a point x of S⁺ = {x ∈ Rⁿ: ‖x‖ = 1, x ≥ 0}, whose coordinates are the square roots
// of its term frequencies. A unit vector û defines the hyperplane H = {y ∈ S⁺: ⟨û,y⟩ = 0}. The
// margin of x is the angle to the nearest point of H,
//
//	d(x, H) = arccos √F,  F = ‖x‖²∉A - q²/w,  q = Σ_{i∉A} xᵢûᵢ,  w = Σ_{i∉A} ûᵢ²,
//
// with the sign of ⟨x,û⟩. A is the set of coordinates that are 0 at the nearest point (Proposition
// 4). If H is empty, the margin is π/2.
//
// # Zero coordinates
//
// The nearest point is y/‖y‖ with y = max(0, x + λû), where λ solves ⟨û,y⟩ = 0. So F = ‖y‖² and λ =
// -q/w. If ⟨x,û⟩ < 0, û is replaced by -û. The function g(λ) = Σ ûᵢ max(0, xᵢ + λûᵢ) is then convex
// for λ < 0, so Newton's method from λ = 0 approaches the root from one side. The set A only grows,
// and the method ends when A no longer changes. The paper uses A = {i: xᵢ ≤ ⟨x,û⟩ûᵢ}, a subset of
// the true A. With this subset, F is too large and the margin too small.
//
// # Complexity
//
// For terms not in x, yᵢ = max(0, λûᵢ) is 0 for all ûᵢ of one sign. If the sums of ûᵢ² over ûᵢ < 0
// and over ûᵢ > 0 are precomputed, computing a margin takes O(terms of x) ([Hyperplane.Project]).
// Computing the gradient of a sum of margins takes O(stored values + terms).
//
// Source: Lebanon and Lafferty, Hyperplane Margin Classifiers on the Multinomial Manifold, ICML
// 2004, §4 and §5.
package sphere
