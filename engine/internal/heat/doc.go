// Package heat computes the parametrix of the heat kernel on the sphere, which defines the
// multinomial diffusion kernel. The parametrix consists of the functions ψ₀ … ψ_m, a cut-off and a
// constant factor.
//
// The simplex with the Fisher metric is part of the n-sphere of radius 2, where n is the number of
// outcomes minus 1. If the square roots of two points have the cosine 1-c, their geodesic distance
// is d = 2 arccos(1-c). The heat kernel is approximated as
//
//	K(t, d) = (4πt)^(-n/2) exp(-d²/4t) (ψ₀(d) + ψ₁(d) t + … + ψ_m(d) t^m)
//
// Functions are computed in float64 and sampled once for a table. They return logarithms, because
// values span thousands of orders of magnitude for a vocabulary of 10⁵ words. Package engine/kernel
// uses them to define kernels with tables and maps.
//
// # Derivation
//
// Let x = d/2 be the angle and τ = t/4 the time on the sphere of radius 1. Then ∂K/∂τ = ΔK with the
// radial Laplacian Δ = ∂²/∂x² + (n-1) cot x ∂/∂x. The terms of order τ⁻¹ give
//
//	ψ₀ = (sin x / x)^(-a),   a = (n-1)/2
//
// and for w_k = 4^k ψ_k/ψ₀ the transport equations
//
//	k w_k + x w_k′ = L w_{k-1}
//	L w = ψ₀⁻¹ Δ(ψ₀ w) = w″ + (n-1)/x w′ + Q w,   Q = a² - a(a-1) (1/sin²x - 1/x²)
//
// The solution without a pole at 0 is w_k = x^(-k) ∫₀^x s^(k-1) L w_{k-1} ds. This is equation (4)
// of the source, with ψ_{k-1} for the misprint φ_{k-1}. The source also prints ψ₀ = (sin d/d)^(-a),
// see [FormPrinted]. On the source's sphere of radius 2 the heat equation requires sin(d/2)/(d/2).
// Only with this factor does the residual vanish like t^m. The tests of this package cover three
// more misprints. The image of the simplex has Σ θ² = 4, not 2 (§3.2). The heat kernel of the
// circle sums exp(-j²t) cos jθ over all j, not only j >= 0 (§2.1). If D is the Kullback-Leibler
// divergence of close points, exp(-αD) is exp(-αd²/2), not exp(-2αd²) (§6).
//
// Source: Lafferty and Lebanon, JMLR 6 (2005), §2.1.1, equations (3) and (4); Rosenberg, The
// Laplacian on a Riemannian Manifold (1997), §3.2.
package heat
