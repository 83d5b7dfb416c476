// Package coeff holds the coefficients for the portable kernels and the assembly generator.
// asm/_gen/coeff/minimax.py computes the polynomials. Relative errors are for the rounded
// coefficients in exact arithmetic.
package coeff

// ArcCosSq0 and following are the coefficients, lowest first, of P with arccos²(1-c) = c·P(c) for c
// in [0, 1]. The relative error is 2^-27.2. The function is analytic at 0, so no square root is
// needed. The constant term is exactly 2, for full accuracy at tiny c.
const (
	ArcCosSq0 float32 = 0x1p+1
	ArcCosSq1 float32 = 0x1.555502p-2
	ArcCosSq2 float32 = 0x1.6c3f12p-4
	ArcCosSq3 float32 = 0x1.cd7fap-6
	ArcCosSq4 float32 = 0x1.8f498p-7
	ArcCosSq5 float32 = -0x1.b57f84p-10
	ArcCosSq6 float32 = 0x1.46f3c8p-7
	ArcCosSq7 float32 = -0x1.a33c1ep-8
	ArcCosSq8 float32 = 0x1.791488p-9
)

// Exp0 and following are the coefficients of E with exp(r) = E(r) for |r| <= 0.35. The relative
// error is 2^-28.1. The first two coefficients are exactly 1, so that exp(0) is 1.
const (
	Exp0 float32 = 1
	Exp1 float32 = 1
	Exp2 float32 = 0x1.fffffcp-2
	Exp3 float32 = 0x1.55548cp-3
	Exp4 float32 = 0x1.5558b6p-5
	Exp5 float32 = 0x1.123e56p-7
	Exp6 float32 = 0x1.6a4fdp-10
)

// Arc10 and following are the coefficients of R with (sin θ - θ cos θ)/π = c^(3/2)·R(c), θ =
// arccos(1-c), c in [0, 1]. The relative error is 2^-24.4, from the rounding of Arc10.
const (
	Arc10 float32 = 0x1.334ed8p-2
	Arc11 float32 = 0x1.eba976p-7
	Arc12 float32 = 0x1.3d8ff8p-9
	Arc13 float32 = 0x1.08c33p-11
	Arc14 float32 = 0x1.228e7cp-12
	Arc15 float32 = -0x1.7b0fdcp-14
	Arc16 float32 = 0x1.66ee06p-14
)

// Arc20 and following are the coefficients of S with (θ(1 + 2cos²θ) - 3 sin θ cos θ)/π =
// c^(5/2)·S(c), θ = arccos(1-c), c in [0, 1]. The relative error is 2^-27.9.
const (
	Arc20 float32 = 0x1.ebb158p-2
	Arc21 float32 = 0x1.18f784p-6
	Arc22 float32 = 0x1.191daep-9
	Arc23 float32 = 0x1.a0e988p-12
	Arc24 float32 = 0x1.fa8428p-14
	Arc25 float32 = -0x1.32a176p-17
	Arc26 float32 = 0x1.ddb81ep-16
)

// Entropy0 and following are the coefficients of W with (1+r) log2(1+r) / 2r = W(r) for r in [0,
// 1]. The relative error is 2^-25.1.
const (
	Entropy0 float32 = 0x1.715476p-1
	Entropy1 float32 = 0x1.715422p-2
	Entropy2 float32 = -0x1.ec4288p-4
	Entropy3 float32 = 0x1.e8b1dep-5
	Entropy4 float32 = -0x1.151cdcp-5
	Entropy5 float32 = 0x1.259374p-6
	Entropy6 float32 = -0x1.c3964ap-8
	Entropy7 float32 = 0x1.56178cp-10
)

// Log0 to Log7 are the coefficients of L with log2(1+z)/2 = z·L(z) for 1+z in [√½, √2]. The
// relative error is 2^-22.4.
const (
	Log0 float32 = 0x1.715476p-1
	Log1 float32 = -0x1.715518p-2
	Log2 float32 = 0x1.ec762ap-3
	Log3 float32 = -0x1.70e65cp-3
	Log4 float32 = 0x1.26105ep-3
	Log5 float32 = -0x1.fd899cp-4
	Log6 float32 = 0x1.de60a4p-4
	Log7 float32 = -0x1.2a0ae6p-4
)

// RootHalfBits are the bits of the largest float32 below √½. Subtracting RootHalfBits from the bits
// of x leaves the number of whole octaves of x above √½ in the exponent bits.
const RootHalfBits = 0x3f3504f3

// PiHi + PiLo approximates π to twice the precision of float32. InvPi is 1/π rounded to float32.
const (
	PiHi  float32 = 0x1.921fb6p+1
	PiLo  float32 = -0x1.777a5cp-24
	InvPi float32 = 0x1.45f306p-2
)

// Range reduction of exp: x = n ln 2 + r. Ln2Hi has nine significant bits, so n·Ln2Hi is exact for
// all possible n. Adding Round to x/ln 2 rounds to the nearest integer n and leaves n+254 in the
// low nine bits of the sum: Round is 1.5·2^23 + 254. RoundPlain is 1.5·2^23. exp(x) is 0 below
// ExpMin, and +Inf above ExpMax.
const (
	Log2E      float32 = 0x1.715476p+0
	Ln2Hi      float32 = 0x1.63p-1
	Ln2Lo      float32 = -0x1.bd0106p-13
	RoundPlain float32 = 0x1.8p+23
	Round      float32 = 0x1.8p+23 + 254
	ExpMin     float32 = -104
	ExpMax     float32 = 89
)

// CurvatureFloor replaces smaller curvatures of the solver's problem. Rounding and indefinite
// kernels can cause curvatures of 0 or less. CurvatureFloor is LIBSVM's TAU.
const CurvatureFloor = 1e-12

// Mills0 and following are the coefficients of M with exp(z²/2) Q(z) = t·M(2t-1), t = 1/(1+z/4),
// for z >= 0. Q is the upper tail of the normal distribution. M interpolates at ten Chebyshev
// nodes. The relative error is 2^-22.2.
const (
	Mills0 float32 = 0x1.82b4bcp-3
	Mills1 float32 = 0x1.373e38p-3
	Mills2 float32 = 0x1.8c6dcap-4
	Mills3 float32 = 0x1.7e0064p-5
	Mills4 float32 = 0x1.eec228p-7
	Mills5 float32 = 0x1.ece9bap-10
	Mills6 float32 = -0x1.c7a1ccp-11
	Mills7 float32 = -0x1.9d12eep-12
	Mills8 float32 = 0x1.0f3ef4p-15
	Mills9 float32 = 0x1.5507f8p-15
)

// Expm10 and following are the coefficients of P with exp(r)-1 = r·P(r) for |r| <= (ln 2)/2. P is
// the power series up to r⁸/9!. The remainder is below 0.347⁹/10! = 2^-35.5 and P is above 0.84, so
// the relative error is below 2^-35. Below Expm1Min, 1-exp(x) is 1 in float32. Log2EFloat64 is 1/ln
// 2. Adding Round64 to a number rounds it to an integer in the low bits of the sum.
const (
	Expm10 = 1.0
	Expm11 = Expm10 / 2
	Expm12 = Expm11 / 3
	Expm13 = Expm12 / 4
	Expm14 = Expm13 / 5
	Expm15 = Expm14 / 6
	Expm16 = Expm15 / 7
	Expm17 = Expm16 / 8
	Expm18 = Expm17 / 9

	Expm1Min     = -40.0
	Log2EFloat64 = 1.4426950408889634
	Ln2Float64   = 0.6931471805599453
	Round64      = 0x1.8p52
)
