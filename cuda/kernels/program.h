// Kernels of c as programs, see package device. Included by gram.cu.
#pragma once

// inTable evaluates a table by Horner's rule in float32; what is no c gets its last row, which
// holds NaN.
DEVICE float inTable(const Table GLOBAL *t, float c) {
	const unsigned b = (unsigned)t->bits;
	float u = c * 0x1p24f;
	unsigned fold = 0;
	if (c > 1) {
		u = 2 - c;
		u = (u > 0x1p-24f ? u : 0x1p-24f) * 0x1p24f;
		fold = 25u << b;
	}
	const unsigned m = __builtin_bit_cast(unsigned, u);
	const unsigned last = 176u << b;
	unsigned row = (m >> (23 - b)) + fold;
	row = row < last ? row : last;
	const unsigned mantissa = (m & 0x7fffffu) | 0x3f800000u;
	const unsigned mid = (mantissa & ~((1u << (23 - b)) - 1)) | 1u << (22 - b);
	const float s = __builtin_bit_cast(float, mantissa) - __builtin_bit_cast(float, mid);
	const float4 low = load4(t->rows + 2 * row), high = load4(t->rows + 2 * row + 1);
	return fmaf(fmaf(fmaf(fmaf(fmaf(high.y, s, high.x), s, low.w), s, low.z), s, low.y), s, low.x);
}

// The instructions of package device.
enum {
	C, CONST, X, Y, LOCAL, STORE, ADD, SUB, MUL, DIV, NEG, SQRT, EXP, EXPM1, LOG1P, TANH, POWER, POW, DEFICIT, TABLE,
	CLAMP, SELECT
};

// run applies a program to one c.
DEVICE double run(const Program *p, float c, long long row, long long column) {
	double slots[SLOTS]; // the locals, and the stack but for its top
	double top = 0;
	int depth = (int)p->locals; // of what lies below the top, the 0 at the bottom counted
	for (long long at = 0; at < p->length; at++) {
		const unsigned code = p->code[at], n = code >> 8;
		const unsigned op = code & 255;
		if (op <= LOCAL) { // those that push
			slots[depth++] = top;
			if (op == C) top = c;
			else if (op == CONST) top = p->consts[n];
			else if (op == X) top = p->x[n * p->rows + row];
			else if (op == Y) top = p->y[n * p->columns + column];
			else top = slots[n];
		} else if (op == STORE) {
			slots[n] = top;
			top = slots[--depth];
		} else if (op <= DIV) { // those that take two
			const double u = slots[--depth];
			if (op == ADD) top = u + top;
			else if (op == SUB) top = u - top;
			else if (op == MUL) top = u * top;
			else top = u / top;
		} else if (op == TABLE) {
			top = inTable(p->tables + n, (float)top);
			if (p->tables[n].log) top = expOf(top);
		}
		else if (op == NEG) top = -top;
		else if (op == SQRT) top = sqrt(top);
		else if (op == EXP) top = expOf(top);
		else if (op == EXPM1) top = expm1Of(top);
		else if (op == LOG1P) top = log1pOf(top);
		else if (op == TANH) top = tanhOf(top);
		else if (op == POWER) top = powerOf(top, n);
		else if (op == POW) top = powOf(top, p->consts[n]);
		else if (op == DEFICIT) top = deficitOf(top, p->consts[n]);
		else if (op == CLAMP) top = top < 0 ? 0 : top > 2 ? 2 : top;
		else { // SELECT
			const double u = slots[--depth], w = slots[--depth];
			if (w > 0) top = u;
		}
	}
	return top;
}
