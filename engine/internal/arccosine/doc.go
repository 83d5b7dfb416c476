// Package arccosine computes arc-cosine kernels in float64, for every degree above -½, and for
// degree 0 with biased thresholds. Package engine/kernel uses these functions to define kernels
// with tables and maps.
//
// # Every degree
//
// With θ = arccos(1-c) the angle between two documents and φ = π-θ,
//
//	k_n(x, y) = 2 ∫ dw (2π)^(-d/2) e^(-|w|²/2) Θ(w·x) Θ(w·y) (w·x)ⁿ (w·y)ⁿ = (1/π) ‖x‖ⁿ ‖y‖ⁿ J_n(θ)
//
// In polar coordinates of the plane of x and y, cos α cos(θ-α) = ½ (cos(2α-θ) - cos φ) gives
//
//	J_n = Γ(n+1) ∫₀^φ (cos ψ - cos φ)ⁿ dψ
//
// which is Mehler's integral of a Legendre function. As a hypergeometric function, with z = 1 -
// c/2,
//
//	J_n = √(π/2) Γ(n+1)²/Γ(n+3/2) (2-c)^(n+½) F(½, ½; n+3/2; z)                    (1)
//
// This is a sum of positive terms that converges for n > -½, and converges quickly for c >= 1. On
// the diagonal
//
//	J_n(0) = √π 2ⁿ Γ(n+½),   π (2n-1)!! for integer n                                  (2)
//
// Differentiating the integral gives dJ_n/dc = -n² J_{n-1}. With this derivative the hypergeometric
// equation becomes
//
//	J_n = (2n-1) (1-c) J_{n-1} + (n-1)² c (2-c) J_{n-2}                              (3)
//
// For c <= 1 nothing is subtracted, so this recursion is numerically stable. Starting from J_0 = φ
// and J_1 = sin θ + φ cos θ, it gives J_n for all integer n. Around c = 0, with x = c/2,
//
//	J_n/J_n(0) = F(-n, -n; ½-n; x)
//	           - Γ(n+1)²/(Γ(n+3/2) Γ(n+½) cos πn) x^(n+½) F(½, ½; n+3/2; x)                 (4)
//
// The two terms have poles at integer n+½, which cancel. See series.go for an accurate evaluation.
//
// Source: Cho, Kernel methods for deep learning, PhD thesis, UCSD 2012, ch. 2 and app. A (J_n and
// its diagonal, A.20); DLMF 14.12.1, 15.8.4 and 15.5.
package arccosine
