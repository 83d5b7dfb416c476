// Package landmark trains kernel classifiers on up to a million documents on one computer. A
// decision function is a weighted sum of kernel values with some documents, the landmarks.
//
// Let Kₙₘ be the matrix of kernel values between n documents and m landmarks, plus 1, and Kₘₘ the
// matrix of these values between landmarks, with the Cholesky decomposition Kₘₘ = TᵀT. For each
// class, training minimises
//
//	P(u) = ½‖u‖² + C Σᵢ sᵢ ℓ(fᵢ),  f = KₙₘT⁻¹u
//
// over u, where ℓ is the loss and sᵢ the weight of document i. The coefficients are α = T⁻¹u.
package landmark
