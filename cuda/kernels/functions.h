// Functions of package math in float64, each within a few units of 2^-52 relative to its value.
// CUDA's own are part of its toolkit.
#pragma once

DEVICE double bits(unsigned long long b) { return __builtin_bit_cast(double, b); }
DEVICE unsigned long long ofDouble(double v) { return __builtin_bit_cast(unsigned long long, v); }

// their sum is ln 2; the first has 32 zeros at its end
constexpr double LN2_HIGH = 6.93147180369123816490e-01, LN2_LOW = 1.90821492927058770002e-10;
constexpr double INF = __builtin_inf();

// 2^k for -1022 <= k <= 1023.
DEVICE double power2(long long k) { return bits((unsigned long long)(k + 1023) << 52); }

// Σ x^k/k!, k = first … 14, divided by x^first/first!: for |x| <= 0.35, 0.35^14/15! is below 2^-61.
template <int first> DEVICE double series(double x) {
	double p = 1;
#pragma unroll
	for (int k = 14; k > first; k--) p = fma(p, x * (1.0 / k), 1);
	return p;
}

// e^x with x = k ln 2 + r.
DEVICE double expOf(double x) {
	if (x > 709.7827128933841) return INF;
	if (x < -745.1332191019412) return 0;
	double k = rint(x * 1.44269504088896338700);
	double r = fma(-k, LN2_LOW, fma(-k, LN2_HIGH, x));
	long long n = (long long)k, half = n >> 1; // in two steps, since 2^n may be out of range where the result isn't
	return series<0>(r) * power2(half) * power2(n - half);
}

DEVICE double expm1Of(double x) {
	if (x < 0.35 && x > -0.35) return x * series<1>(x);
	return expOf(x) - 1;
}

// ln x with x = 2^k m, √½ <= m < √2, and ln m = 2 artanh s, s = (m-1)/(m+1), |s| < 0.1716.
DEVICE double logOf(double x) {
	if (!(x > 0)) return x == 0 ? -INF : __builtin_nan("");
	if (x == INF) return x;
	long long k = 0;
	if (x < 0x1p-1022) {
		x *= 0x1p54;
		k = -54;
	}
	unsigned long long b = ofDouble(x);
	k += (long long)(b >> 52) - 1023;
	double m = bits((b & 0xfffffffffffffull) | 0x3ff0000000000000ull);
	if (m > 1.41421356237309504880) {
		m *= 0.5;
		k++;
	}
	double f = m - 1, s = f / (2 + f), z = s * s;
	double p = 2.0 / 23;
#pragma unroll
	for (int i = 21; i >= 3; i -= 2) p = fma(p, z, 2.0 / i);
	double n = (double)k;
	return fma(n, LN2_HIGH, fma(n, LN2_LOW, fma(s * z, p, 2 * s)));
}

// ln(1+x) for x > -1: what 1+x loses of x is put right by the quotient.
DEVICE double log1pOf(double x) {
	double u = 1 + x;
	if (u == 1 || u == INF) return x;
	return logOf(u) * (x / (u - 1));
}

DEVICE double tanhOf(double x) {
	double a = x < 0 ? -x : x;
	double e = a > 20 ? INF : expm1Of(2 * a);
	double t = a > 20 ? 1 : e / (e + 2);
	return x < 0 ? -t : t;
}

DEVICE double powerOf(double v, unsigned n) {
	double p = 1;
	for (; n > 0; n >>= 1) {
		if (n & 1) p *= v;
		v *= v;
	}
	return p;
}

// max(v, 0)^p, p > 0.
DEVICE double powOf(double v, double p) { return v <= 0 ? 0 : expOf(p * logOf(v)); }

// 1 - (1-v)^p, without cancellation for small v.
DEVICE double deficitOf(double v, double p) {
	if (v < 0.5) return -expm1Of(p * log1pOf(-v));
	if (p == rint(p)) {
		const double w = 1 - v;
		if (p < 0x1p20) return 1 - powerOf(w, (unsigned)p);
		const double power = powOf(w < 0 ? -w : w, p); // of |w| <= 1
		return w < 0 && p / 2 != rint(p / 2) ? 1 + power : 1 - power;
	}
	return 1 - powOf(1 - v, p);
}
