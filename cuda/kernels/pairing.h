// What a common term of two documents adds to their similarity, and what it adds to twice c = 1 -
// similarity, by pairing: the dot product of unit vectors, or one of the sums over histograms. See
// package asm for the float32 forms and their accuracy (chiSquare32, jensenShannon32), and engine's
// exact_histogram.go for the float64 ones.
#pragma once

enum Pairing { DOT, CHI_SQUARE, JENSEN_SHANNON };

// 2ab/(a+b), a > 0: exactly 0 for b = 0.
DEVICE float chiSquare(float a, float b) { return (a + a) * b / (a + b); }

// A polynomial, the greatest power first, by fused multiply-adds.
DEVICE float horner(float, float p) { return p; }
template <class... C> DEVICE float horner(float x, float p, float c, C... more) {
	return horner(x, fmaf(p, x, c), more...);
}

// ½ ((a+b) log2(a+b) - a log2 a - b log2 b), a > 0: exactly 0 for b = 0.
DEVICE float jensenShannon(float a, float b) {
	const float m = a < b ? a : b, most = a < b ? b : a;
	const float r = m / most;
	const unsigned bitsOfR = __builtin_bit_cast(unsigned, r);
	const int e = ((int)bitsOfR - 0x3f3504f3) >> 23;
	const float z = __builtin_bit_cast(float, bitsOfR - ((unsigned)e << 23)) - 1;
	const float w = horner(r, 0x1.56178cp-10f, -0x1.c3964ap-8f, 0x1.259374p-6f, -0x1.151cdcp-5f, 0x1.e8b1dep-5f,
		-0x1.ec4288p-4f, 0x1.715422p-2f, 0x1.715476p-1f);
	const float l = horner(z, -0x1.2a0ae6p-4f, 0x1.de60a4p-4f, -0x1.fd899cp-4f, 0x1.26105ep-3f, -0x1.70e65cp-3f,
		0x1.ec762ap-3f, -0x1.715518p-2f, 0x1.715476p-1f);
	return m * (w - 0.5f * (float)e - z * l);
}

// The term of a pairing of histograms.
template <int pairing> DEVICE float termOf(float a, float b) {
	return pairing == CHI_SQUARE ? chiSquare(a, b) : jensenShannon(a, b);
}

// S E(δ) / (2 ln 2) with S = a+b, δ = |a-b|/S, E(δ) = (1+δ) ln(1+δ) + (1-δ) ln(1-δ) = Σ δ^2k /
// (k(2k-1)), which is summed where the logarithms would cancel.
DEVICE double jensenShannonShare(double a, double b) {
	const double s = a + b, d = a < b ? b - a : a - b, delta = d / s, square = delta * delta;
	double e = 0;
	if (square <= 1.0 / 16) {
#pragma unroll
		for (int k = 13; k >= 1; k--) e = e * square + 1.0 / (k * (2 * k - 1));
		e *= square;
	} else {
		const double low = 2 * (a < b ? a : b) / s, high = 2 * (a < b ? b : a) / s;
		e = high * logOf(high) + low * logOf(low);
	}
	return s * e / (2 * 0.693147180559945309417232121458176568);
}

// What a term adds to twice c; one of both may be 0.
DEVICE double shareOf(int pairing, double a, double b) {
	const double d = a - b;
	if (pairing == DOT) return d * d;
	if (a == b) return 0;
	if (a == 0 || b == 0) return a + b;
	if (pairing == CHI_SQUARE) return d * d / (a + b);
	return jensenShannonShare(a, b);
}
