// Package hyperbolic holds the heat kernel of hyperbolic space Hⁿ and the geometry of spherical
// normal distributions, which are its points.
//
// The normal distributions on R^p with the covariance σ²I form, with the Fisher metric (|dμ|² + 2p
// dσ²)/σ², a space of constant negative curvature of dimension p+1: with μ/√(2p) for μ it is √(2p)
// times the upper half space of curvature -1. Distances r and times t are those of curvature -1
// everywhere: the Fisher distance is √(2p) r and its time 2p t.
//
// # Derivation
//
// The closed forms of the source have m derivatives by cosh r, which here become sums of positive
// terms. With v = cosh r, φ = r² and f = exp(-φ/4t) as functions of v, equation (5) of the source,
// for n = 2m+1, is
//
//	K = (2π)^-m (4πt)^-½ exp(-m²t) (-d/dv)^m f
//
// and equation (6), for n = 2m+2, with V = cosh s = v + y² under the integral, which takes the
// singularity of 1/√(cosh s - cosh r) away, and with s exp(-s²/4t) ds = -2t f′(V) dV,
//
//	K = (2π)^-m √2 (4πt)^(-3/2) exp(-(2m+1)²t/4) 4t ∫₀^∞ (-d/dV)^(m+1) f (v+y²) dy
//
// The source prints √(4πt³) for (4πt)^(3/2) in (6), which makes the kernel 4π times too large: with
// the latter its mass is 1.
//
// The derivatives pass under the integral, now that its limit doesn't depend on v. Since f′ =
// -φ′f/4t, the derivatives of f follow from those of φ by Leibniz' rule; φ′ = 2r/sinh r is
// completely monotone in v, so that no sign differs in
//
//	g_j = (1/4t) Σ (j-1 over i) p_i g_{j-1-i},   g_j = (-1)^j f^(j)/f,   p_i = (-1)^i φ^(i+1)
//
// and p_i/i! = 2 Q_i(coth r)/sinh^(i+1) r with the Legendre functions of the second kind, from
// their recurrence: forwards or, where that is unstable, backwards (Miller's algorithm).
//
// Source: Lafferty and Lebanon, JMLR 6 (2005), §3.1, equations (5) and (6), after Grigor'yan and
// Noguchi, Bull. London Math. Soc. 30 (1998); Legendre functions: Gautschi, SIAM Review 9 (1967).
package hyperbolic
