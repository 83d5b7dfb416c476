// Whole numbers that stand for values of unit vectors and their products. Sums of them don't depend
// on their order, so any thread may add at any time, and (i, j) has the bits of (j, i).
#pragma once

DEVICE unsigned placeOf(Entry e) { return (unsigned)e; }
DEVICE unsigned wordOf(Entry e) { return (unsigned)(e >> 32); }
DEVICE float floatOf(unsigned word) { return __builtin_bit_cast(float, word); }

// addUnits adds what a term gives, in units of 2^-62: the product of two words, which is exact, or
// a term of histograms, which is rounded. |Σ| <= 1 for unit vectors and histograms, as is any part
// of it, so no sum overflows.
template <int pairing> DEVICE long long addUnits(long long sum, unsigned a, unsigned b) {
	if (pairing == DOT) return multiplyAdd((int)a, (int)b, sum);
	return sum + nearest(termOf<pairing>(floatOf(a), floatOf(b)) * 0x1p62f);
}

// The same in units of 2^-30, half a unit off at most.
DEVICE int rounded(long long units) { return (int)((units + (1ll << 31)) >> 32); }

// c = 1 - s, cut to [0, 2], of a sum in units of 2^-30: exact but for the conversion to float32.
DEVICE float fromUnits(int s) {
	const int one = 1 << 30, c = one - (s > -one ? s : 1 - one);
	return (float)(c > 0 ? c : 0) * 0x1p-30f;
}

// closeWords is how many words of Tile::close a row has.
DEVICE long long closeWords(const Tile *tile) { return (tile->cols + PANEL - 1) / PANEL * (PANEL / 32); }
