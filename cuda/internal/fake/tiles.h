// Documents for the kernels of rows, each array in an allocation of its own size, and c held against
// counted terms.
#pragma once

#include "hold.h"

// has says whether a document has a term, by lot: one of four. Every fifth is as the one before it.
static bool has(unsigned doc, unsigned term) {
	doc -= doc % 5 == 4;
	return ((doc * 2654435761u ^ term * 40503u) * 2246822519u >> 16) % 4 == 0;
}

// Documents by rank: the first dense ranks are the dense end, and up to head the head, in chunks of
// perChunk ranks. Values are 2^-3, so that what is computed is exact.
struct Documents {
	int terms;
	std::vector<long long> headAt{0}, tailAt{0}, exactAt{0}, list{0};
	std::vector<unsigned> cut, exactTerm, longs;
	std::vector<Entry> entry, tailEntry, posting;
	std::vector<float> scale;
	std::vector<double> exactValue;
	std::vector<int> chunkTerms;
	std::vector<Digits> digits; // perDocument of each
	int perDocument;
	Side side;
	Head cuts;

	static Entry entryOf(unsigned place) { return (Entry)(1u << 28) << 32 | place; }

	// Of some every third is long.
	Documents(int n, int terms, int dense, int head, int perChunk, bool some) : terms(terms) {
		// Chunks from the rarest rank on, at least one.
		std::vector<int> bound{head};
		do {
			bound.push_back(std::max(bound.back() - perChunk, dense));
			chunkTerms.push_back(bound[bound.size() - 2] - bound.back());
		} while (bound.back() > dense);
		perDocument = (dense + TENSOR_TERMS - 1) / TENSOR_TERMS * (TENSOR_TERMS / 4);
		digits.resize((size_t)n * perDocument);
		for (int i = 0; i < n; i++) {
			for (size_t c = 0; c + 1 < bound.size(); c++) {
				for (int r = bound[c] - 1; r >= bound[c + 1]; r--)
					if (has(i, r)) entry.push_back(entryOf((1 + r - bound[c + 1]) * (4 * PANEL)));
				do entry.push_back(entryOf(0));
				while (entry.size() % AT_ONCE);
				headAt.push_back(entry.size());
			}
			for (int r = 0; r < terms; r++) {
				if (!has(i, r)) continue;
				exactTerm.push_back(r);
				if (r < dense) { // 1 in units of the scale
					const int at = r % TENSOR_TERMS;
					(&digits[(size_t)i * perDocument + (r - at) / 4 + at / 16].x)[at % 16 / 4] |= 127u << (8 * (at % 4));
				}
				if (r >= head) tailEntry.push_back(entryOf(r - head));
			}
			tailAt.push_back(tailEntry.size());
			exactAt.push_back(exactTerm.size());
		}
		const int places = (n + TAIL_COLUMNS - 1) / TAIL_COLUMNS + 1, long_ = (terms - head) / 2;
		for (int t = head; t < terms; t++) {
			for (int i = 0; i < n; i++)
				if (has(i, t)) posting.push_back(entryOf(i));
			for (int c = 0; t < head + long_ && c < places; c++)
				cut.push_back(std::partition_point(posting.begin() + list.back(), posting.end(),
								  [c](Entry e) { return (unsigned)e < (unsigned)c * TAIL_COLUMNS; }) -
							  posting.begin() - list.back());
			list.push_back(posting.size());
		}
		longs.assign((n + PANEL - 1) / PANEL * (PANEL / 32), 0x49249249);
		scale.assign(n + TENSOR_COLUMNS, 0.125f), exactValue.assign(exactTerm.size(), 0.125);
		for (auto shrink : {&headAt, &tailAt, &exactAt, &list}) shrink->shrink_to_fit();
		for (auto shrink : {&cut, &exactTerm}) shrink->shrink_to_fit();
		for (auto shrink : {&entry, &tailEntry, &posting}) shrink->shrink_to_fit();
		side = {headAt.data(), entry.data(), tailAt.data(), tailEntry.data(), list.data(), posting.data(),
			cut.data(), exactAt.data(), exactTerm.data(), exactValue.data(), digits.data(), scale.data(),
			long_, places, some ? longs.data() : nullptr};
		cuts = {chunkTerms.data(), (long long)chunkTerms.size()};
	}

	double c(int i, int j) const {
		int common = 0, others = 0;
		for (int r = 0; r < terms; r++) common += has(i, r) && has(j, r), others += has(i, r) != has(j, r);
		const double c = 1 - common / 64.0;
		return c < 0.1 ? others / 128.0 : c;
	}
};

// reduced runs the kernels that reduce rows, and holds the sums of rows against the values.
static void reduced(Tile &tile) {
	const int vectors = 2, k = 3;
	std::vector<unsigned long long> sums(tile.rows);
	std::vector<double> by(vectors * tile.cols, 0.5), product(vectors * tile.rows);
	std::vector<int> column(k * tile.rows);
	std::vector<float> value(k * tile.rows);
	launch("digest", tile.rows, 1, REDUCE_THREADS, 0, pass(&tile), pass(sums.data()), 1);
	launch("multiplyRows", tile.rows, vectors, REDUCE_THREADS, 0, pass(&tile), pass(by.data()),
		pass(product.data()), vectors);
	launch("least", tile.rows, 1, REDUCE_THREADS, 0, pass(&tile), pass(column.data()), pass(value.data()), k);
	for (int r = 0; r < tile.rows; r++) {
		std::vector<float> row(tile.value + r * tile.stride, tile.value + r * tile.stride + tile.cols);
		double sum = 0;
		for (float v : row) sum += v / 2;
		hold("product", r, 0, product[vectors * r + 1], sum, 1e-9);
		std::sort(row.begin(), row.end());
		for (int n = 0; n < k && n < (int)row.size(); n++) hold("least", r, n, value[k * r + n], row[n], 0);
	}
}

// tiles runs the kernels of rows on n documents, with and without a program, with a dense end of
// some of the 90 terms of the head, or all.
static void tiles(int n, int dense) {
	const Documents d(n, 300, dense, 90, 37, n % 2);
	const int lo = n > 128 ? 128 : 0, cols = n - lo;
	const long long stride = (cols + PANEL - 1) / PANEL * PANEL;
	std::vector<unsigned> docs, order;
	for (int i = n - 1; i >= 0; i -= 1 + i % 2) docs.push_back(i);
	for (size_t r = 0; r < docs.size(); r++) order.push_back(docs.size() - 1 - r);
	const int rows = (int)docs.size(), height = 13;
	float *value = (float *)aligned_alloc(16, rows * stride * sizeof(float));
	std::vector<unsigned> close(rows * stride / 32);
	Tile tile = {value, docs.data(), order.data(), stride, rows, lo, cols, 0, close.data()};
	const unsigned codes[] = {C, CONST, MUL, EXP, X | 0 << 8, Y | 0 << 8, MUL, MUL, STORE | 0 << 8, LOCAL | 0 << 8};
	const double consts[] = {-2};
	std::vector<double> x(rows, 2), y(cols, 3);
	Program program = {codes, consts, nullptr, x.data(), y.data(), 10, 1, cols, rows, nullptr};
	for (Program *p : {(Program *)nullptr, &program}) {
		launch("tailAdd", rows, (lo + cols - 1) / TAIL_COLUMNS - lo / TAIL_COLUMNS + 1, TAIL_THREADS, 0,
			pass(&d.side), pass(&d.side), pass(&tile));
		if (d.perDocument)
			launch("panelTensor", (cols + TENSOR_COLUMNS - 1) / TENSOR_COLUMNS,
				(rows + TENSOR_ROWS - 1) / TENSOR_ROWS, TENSOR_THREADS, 0, pass(&d.side), pass(&d.side),
				pass(&tile), d.perDocument / (TENSOR_TERMS / 4));
		launch("panelDot", (cols + PANEL - 1) / PANEL, (rows + height - 1) / height, PANEL_THREADS,
			(1 + d.chunkTerms[0]) * 4 * PANEL, pass(&d.side), pass(&d.side), pass(&d.cuts), pass(&tile), p,
			height, 1);
		if (p) launch("applyProgram", rows, 1, REDUCE_THREADS, 0, pass(&tile), p);
		launch("closePairs", (rows * stride / 32 + CLOSE_THREADS - 1) / CLOSE_THREADS, 1, CLOSE_THREADS, 0,
			pass(&d.side), pass(&d.side), pass(&tile), p, (int)DOT);
		reduced(tile);
		for (int r = 0; r < rows; r++)
			for (int j = 0; j < cols; j++) {
				const double c = d.c(docs[r], lo + j), want = p ? 6 * exp(-2 * c) : c, got = value[r * stride + j];
				hold(p ? "program" : "c", docs[r], lo + j, got, want, p ? 2e-5 : 1e-6);
			}
	}
	free(value);
}
