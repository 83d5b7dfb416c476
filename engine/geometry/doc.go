// Package geometry has the geometry of the surfaces that kernels make of the space of documents, and
// of the multinomial family, on which the diffusion kernel stands.
//
// A kernel of the form k(x, y) = f(‖x‖², ⟨x, y⟩, ‖y‖²) maps x to φ(x), and the surface of these
// points has the metric
//
//	g = ∂²k/∂x∂yᵀ at y = x
//
// As k doesn't change with rotations, neither does g: with r = ‖x‖ and Ω the unit sphere of
// directions, the surface is
//
//	ds² = B(r) dr² + T(r) dΩ² = dρ² + w(ρ)² dΩ²,   dρ = √B dr,   w = √T
//
// a warped product, and all that is to be known of it follows from T, B and derivatives of them,
// which package kernel has (kernel.RayOf). In d dimensions, with derivatives by ρ,
//
//	g = A (I - xxᵀ/r²) + B xxᵀ/r²,   A = T/r²
//	det g = A^(d-1) B
//	S = -2(d-1) w″/w + (d-1)(d-2) (1 - w′²)/w²
//
// Source: Burges, Geometry and invariance in kernel based methods (1999); Amari and Wu (1999); Cho,
// Kernel methods for deep learning, UCSD thesis 2012, ch. 6; for warped products, O'Neill,
// Semi-Riemannian Geometry (1983), ch. 7.
package geometry
