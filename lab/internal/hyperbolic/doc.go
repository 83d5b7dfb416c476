// Package hyperbolic implements the heat kernel of hyperbolic space Hⁿ and the geometry of
// spherical normal distributions, which form a hyperbolic space.
//
// With the Fisher metric (|dμ|² + 2p dσ²)/σ², the normal distributions with covariance σ²I on R^p
// form a space of constant negative curvature and dimension p+1. In coordinates μ/√(2p) and σ, the
// space is the upper half-space of curvature -1, scaled by √(2p). This package uses distances r and
// times t for curvature -1. The corresponding Fisher distance and time are √(2p) r and 2p t.
//
// # Derivation
//
// The closed forms in the source contain the derivative of order m with respect to cosh r. The
// following steps transform them into sums of positive terms. With v = cosh r, φ = r² and f =
// exp(-φ/4t) as functions of v, equation (5) of the source is, for n = 2m+1,
//
//	K = (2π)^-m (4πt)^-½ exp(-m²t) (-d/dv)^m f
//
// Equation (6) is for n = 2m+2. The substitution V = cosh s = v + y² removes the singularity of
// 1/√(cosh s - cosh r). With s exp(-s²/4t) ds = -2t f′(V) dV, the equation becomes
//
//	K = (2π)^-m √2 (4πt)^(-3/2) exp(-(2m+1)²t/4) 4t ∫₀^∞ (-d/dV)^(m+1) f (v+y²) dy
//
// In (6), the source prints √(4πt³) instead of (4πt)^(3/2). The printed kernel is therefore 4π
// times too large. With (4πt)^(3/2) the kernel integrates to 1.
//
// Since the lower limit of integration no longer depends on v, the derivatives can be taken under
// the integral. Since f′ = -φ′f/4t, Leibniz' rule gives the derivatives of f from the derivatives
// of φ. The function φ′ = 2r/sinh r is completely monotone in v, so all terms have the same sign:
//
//	g_j = (1/4t) Σ_i binom(j-1, i) p_i g_{j-1-i},   g_j = (-1)^j f^(j)/f,   p_i = (-1)^i φ^(i+1)
//
// and p_i/i! = 2 Q_i(coth r)/sinh^(i+1) r. The recurrence of the Legendre functions of the second
// kind Q_i runs forwards if that direction is stable, and otherwise backwards (Miller's algorithm).
//
// Source: Lafferty and Lebanon, JMLR 6 (2005), §3.1, equations (5) and (6), after Grigor'yan and
// Noguchi, Bull. London Math. Soc. 30 (1998). For Legendre functions: Gautschi, SIAM Review 9
// (1967).
package hyperbolic
