// Package landmark trains kernel machines on some of the documents, the landmarks, so that a million
// documents fit one machine.
//
// # The problem
//
// A machine tells a class from all others, y = ±1, by
//
//	f(x) = Σⱼ αⱼ (k(x, zⱼ) + 1),  j = 1, …, m,
//
// with the landmarks zⱼ: the bias is Σⱼ αⱼ, and the kernel k + 1. Over all such f, training minimises
//
//	½‖f‖² + C Σᵢ sᵢ ℓ(yᵢ, f(xᵢ)),  ‖f‖² = αᵀKₘₘα,
//
// with the weights s of documents (Corpus.Weights), mostly 1, where ℓ(y, f) is ½(y-f)²,
// log(1 + e^(-yf)) or ½ max(0, 1-yf)². C has the same meaning as for support
// vector machines. Falkon minimises the mean loss plus λ‖f‖², with λ = 1/(C n). If all documents are
// landmarks, the squared loss is ridge regression, which solves (K + I/C) α = y.
//
// # How it is computed
//
// A landmark is dropped if its squared distance to the span of the landmarks before it is below 10⁻⁵
// of its squared length, the size of rounding errors of kernel values. Copies of other landmarks are
// dropped in this way. With the rest Kₘₘ = TᵀT, and u = Tα. The gradient u + C T⁻ᵀKₙₘᵀℓ'(KₙₘT⁻¹u)
// takes one pass over Kₙₘ for all classes and all C together. engine.Rectangle stores the rows of Kₙₘ
// that fit into memory and recomputes the others. Newton's steps are solved by conjugate
// gradients with Falkon's preconditioner. D holds the loss's second derivatives. KₙₘᵀDKₙₘ ≈ w n/m Kₘₘ²
// for the mean weight w, so the Hessian in u is approximately I + C w n/m TTᵀ, which is the
// preconditioner (precondition.go). The squared loss takes one Newton step. The search stops when the
// duality gap is small enough (gap.go).
//
// All m×m matrices are float64. Results are bit-identical for any number of workers.
//
// Sources: Rudi, Carratino and Rosasco, FALKON, NeurIPS 2017, for the preconditioner, and Marteau-Ferey,
// Bach and Rudi, Globally convergent Newton methods, NeurIPS 2019.
package landmark
