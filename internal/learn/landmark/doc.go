// Package landmark trains kernel machines on some of the documents, the landmarks, so that a million
// documents fit one machine.
//
// # The problem
//
// A machine tells a class from all others, y = ±1, by
//
//	f(x) = Σⱼ αⱼ (k(x, zⱼ) + 1),  j = 1, …, m,
//
// with the landmarks zⱼ: the bias is Σⱼ αⱼ, and the kernel k + 1. Over all such f it minimises
//
//	½‖f‖² + C Σᵢ sᵢ ℓ(yᵢ, f(xᵢ)),  ‖f‖² = αᵀKₘₘα,
//
// with the weights s of documents (Corpus.Weights), mostly 1, where ℓ(y, f) is ½(y-f)²,
// log(1 + e^(-yf)) or ½ max(0, 1-yf)². C is that of support vector machines;
// where a mean of losses and λ‖f‖² are minimised, as Falkon does, λ = 1/(C n), and ridge
// regression solves (K + I/C) α = y, which this is where all documents are landmarks.
//
// # How it is computed
//
// Landmarks that add nothing are left out, copies of others among them: those whose squared distance
// to the span of those before is below 10⁻⁵ of their squared length, where the rounding of kernel
// values is. With the rest Kₘₘ = TᵀT, and u = Tα. The gradient u + C T⁻ᵀKₙₘᵀℓ'(KₙₘT⁻¹u)
// takes one pass over Kₙₘ, whose rows are kept as far as there is room and computed anew otherwise
// (engine.Rectangle), for all classes and all C at once. Newton's steps are solved by conjugate
// gradients, as Falkon preconditions them: KₙₘᵀDKₙₘ ≈ w n/m Kₘₘ² for a mean weight w, so that
// I + C w n/m TTᵀ is what is left to be solved (solve.go, dense). Squares take one such step. A search
// ends at a duality gap (gap.go).
//
// Everything m×m is float64. Results have the same bits from any number of workers.
//
// Sources: Rudi, Carratino and Rosasco, FALKON, NeurIPS 2017, for the preconditioner, and Marteau-Ferey,
// Bach and Rudi, Globally convergent Newton methods, NeurIPS 2019.
package landmark
