// Package landmark trains kernel classifiers that are expanded in a subset of the documents, the
// landmarks, so that a million documents fit on one computer.
//
// # The problem
//
// A binary classifier separates a class from all others, y = ±1, by
//
//	f(x) = Σⱼ αⱼ (k(x, zⱼ) + 1),  j = 1, …, m,
//
// with landmarks zⱼ. The kernel is k + 1, so that the bias is Σⱼ αⱼ. Training minimises
//
//	½‖f‖² + C Σᵢ sᵢ ℓ(yᵢ, f(xᵢ)),  ‖f‖² = αᵀKₘₘα,
//
// where sᵢ is the weight of document i (Corpus.Weights, 1 by default) and ℓ(y, f) is ½(y-f)², log(1
// + e^(-yf)) or ½ max(0, 1-yf)². C has the same meaning as for SVMs. Falkon minimises the mean loss
// plus λ‖f‖², with λ = 1/(C n). If all documents are landmarks, the squared loss gives kernel ridge
// regression, (K + I/C) α = y.
//
// # How it is computed
//
// A landmark is dropped if its squared distance from the span of the previous landmarks is below
// 10⁻⁵ of its squared length, because smaller distances may be rounding errors. Duplicates are
// dropped, too. For the remaining landmarks, Kₘₘ has the Cholesky factorisation TᵀT, and the
// unknowns are u = Tα. The gradient u + C T⁻ᵀKₙₘᵀℓ'(KₙₘT⁻¹u) takes one pass over Kₙₘ for all
// classes, and for all C with the squared loss. engine.Rectangle stores the rows of Kₙₘ that fit
// into memory and recomputes other rows. Newton steps use conjugate gradients with Falkon's
// preconditioner: if w is the mean of the second derivatives D, KₙₘᵀDKₙₘ ≈ w n/m Kₘₘ², so the
// Hessian in u ≈ I + C w n/m TTᵀ (precondition.go). The squared loss needs one Newton step.
// Training stops when the duality gap is small enough (gap.go).
//
// All m×m matrices are float64. Results are bit-identical for any number of workers.
//
// Sources: Rudi, Carratino and Rosasco, FALKON, NeurIPS 2017, for the preconditioner;
// Marteau-Ferey, Bach and Rudi, Globally convergent Newton methods, NeurIPS 2019.
package landmark
