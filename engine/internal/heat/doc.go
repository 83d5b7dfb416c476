// Package heat holds the heat kernel of the sphere as its parametrix: the approximation by which
// the multinomial diffusion kernel is defined, complete with the functions ψ₀ … ψ_m, the cut-off
// and the constant.
//
// The simplex with the Fisher metric is a part of the n-sphere of radius 2, where n is the number
// of outcomes less one. There the geodesic distance of two points whose square roots have the
// cosine 1-c is d = 2 arccos(1-c), and the heat kernel is sought as
//
//	K(t, d) = (4πt)^(-n/2) exp(-d²/4t) (ψ₀(d) + ψ₁(d) t + … + ψ_m(d) t^m)
//
// Everything here is float64 mathematics in c, made to be sampled once into a table; logarithms are
// what is returned, since values span thousands of orders of magnitude for a vocabulary of 10⁵.
// Maps of whole tiles, tables and specifications live in package engine.
//
// # Derivation
//
// With x = d/2 the angle and τ = t/4 the time of the sphere of radius 1, ∂K/∂τ = ΔK for the radial
// Laplacian Δ = ∂²/∂x² + (n-1) cot x ∂/∂x, sorted by powers of τ, gives for the power -1 of it
//
//	ψ₀ = (sin x / x)^(-a),   a = (n-1)/2
//
// and for ψ_k τ-scaled as w_k = 4^k ψ_k/ψ₀ the transport equations
//
//	k w_k + x w_k′ = L w_{k-1}
//	L w = ψ₀⁻¹ Δ(ψ₀ w) = w″ + (n-1)/x w′ + Q w,   Q = a² - a(a-1) (1/sin²x - 1/x²)
//
// of which w_k = x^(-k) ∫₀^x s^(k-1) L w_{k-1} ds is the solution without a pole at 0: that is
// equation (4) of the source with ψ_{k-1} where it prints φ_{k-1}. The source prints ψ₀ = (sin
// d/d)^(-a), too; on its sphere of radius 2 the heat equation wants sin(d/2)/(d/2), and only with
// that does the residual vanish like t^m. [Printed] is what is printed. Three more slips of the
// source have tests here: the image of the simplex has Σ θ² = 4, not 2 (§3.2); the heat kernel of
// the circle sums exp(-j²t) cos jθ over all j, not j >= 0 alone (§2.1); near by, exp(-αD) of the
// Kullback-Leibler divergence is exp(-αd²/2), not exp(-2αd²) (§6).
//
// Source: Lafferty and Lebanon, JMLR 6 (2005), §2.1.1, equations (3) and (4); Rosenberg, The
// Laplacian on a Riemannian Manifold (1997), §3.2.
package heat
