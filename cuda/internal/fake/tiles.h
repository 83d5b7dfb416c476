// Random documents for the kernels of rows, each array in an allocation of its own size, and c held
// against float64.
#pragma once

#include "hold.h"

// digits writes those of a value, in units of its document's scale, to a place of a quad, see
// kernels/tensor.h.
static void digits(Quad *q, int at, double value) {
	long long v = llrint(value * (127 << 24));
	for (unsigned *word : {&q->w, &q->z, &q->y, &q->x}) {
		const long long d = ((v + 128) & 255) - 128;
		*word |= (unsigned)(d & 255) << (8 * at);
		v = (v - d) / 256;
	}
}

// Documents by rank: the first dense ranks are the dense end, and up to head the head, in chunks of
// perChunk ranks.
struct Documents {
	int n, terms, dense, head;
	std::vector<std::map<int, double>> rows;

	std::vector<long long> headAt{0}, tailAt{0}, exactAt{0}, list{0};
	std::vector<unsigned> cut, exactTerm;
	std::vector<Entry> entry, tailEntry, posting;
	std::vector<float> scale;
	std::vector<double> exactValue;
	std::vector<int> chunkTerms;
	std::vector<Quad> quads; // perDocument of each
	int perDocument;
	Side side;
	Head cuts;

	static Entry entryOf(unsigned place, double value) {
		const long long word = std::min(llrint(value * 0x1p31), 0x7fffffffll);
		return (Entry)(unsigned)word << 32 | place;
	}

	Documents(int n, int terms, int dense, int head, int perChunk, bool wide)
		: n(n), terms(terms), dense(dense), head(head), rows(n) {
		for (int i = 0; i < n; i++) {
			const int length = 1 + rng() % 40;
			if (i % 5 > 2) rows[i] = rows[i - 1]; // a duplicate, or with a word more nearly one
			if (i % 5 == 3) rows[i][rng() % terms] += 0.2;
			if (i % 5 < 3) for (int k = 0; k < length; k++) rows[i][terms * pow(rng() / 4294967296.0, 3)] += 1;
			double sum = 0;
			for (auto &e : rows[i]) sum += e.second * e.second;
			for (auto &e : rows[i]) e.second /= sqrt(sum);
		}
		// Chunks from the rarest rank on, at least one.
		std::vector<int> bound{head};
		do {
			bound.push_back(std::max(bound.back() - perChunk, dense));
			chunkTerms.push_back(bound[bound.size() - 2] - bound.back());
		} while (bound.back() > dense);
		perDocument = (dense + TENSOR_TERMS - 1) / TENSOR_TERMS * (TENSOR_TERMS / 4);
		quads.resize((size_t)n * perDocument);
		for (int i = 0; i < n; i++) {
			for (size_t c = 0; c + 1 < bound.size(); c++) {
				for (int r = bound[c] - 1; r >= bound[c + 1]; r--)
					if (rows[i].count(r)) entry.push_back(entryOf((1 + r - bound[c + 1]) * (4 * PANEL), rows[i][r]));
				do entry.push_back(entryOf(0, 1));
				while (entry.size() % AT_ONCE);
				headAt.push_back(entry.size());
			}
			scale.push_back(1);
			while (scale[i] > 0x1p-4f && std::all_of(rows[i].begin(), rows[i].end(), [&](auto &e) {
				return e.first >= dense || fabs(e.second) <= scale[i] / 2;
			}))
				scale[i] /= 2;
			for (auto &e : rows[i]) {
				exactTerm.push_back(e.first);
				exactValue.push_back(e.second);
				if (e.first < dense) digits(&quads[(size_t)i * perDocument + e.first / 4], e.first % 4, e.second / scale[i]);
				if (e.first < head) continue;
				tailEntry.push_back(entryOf(e.first - head, e.second));
			}
			tailAt.push_back(tailEntry.size());
			exactAt.push_back(exactTerm.size());
		}
		const int places = (n + TAIL_COLUMNS - 1) / TAIL_COLUMNS + 1, long_ = (terms - head) / 2;
		for (int t = head; t < terms; t++) {
			for (int i = 0; i < n; i++)
				if (rows[i].count(t)) posting.push_back(entryOf(i, rows[i][t]));
			for (int c = 0; t < head + long_ && c < places; c++)
				cut.push_back(std::partition_point(posting.begin() + list.back(), posting.end(),
								  [c](Entry e) { return (unsigned)e < (unsigned)c * TAIL_COLUMNS; }) -
							  posting.begin() - list.back());
			list.push_back(posting.size());
		}
		for (auto shrink : {&headAt, &tailAt, &exactAt, &list}) shrink->shrink_to_fit();
		for (auto shrink : {&cut, &exactTerm}) shrink->shrink_to_fit();
		for (auto shrink : {&entry, &tailEntry, &posting}) shrink->shrink_to_fit();
		scale.resize(n + TENSOR_COLUMNS), scale.shrink_to_fit(), exactValue.shrink_to_fit();
		side = {headAt.data(), entry.data(), tailAt.data(), tailEntry.data(), list.data(), posting.data(),
			cut.data(), exactAt.data(), exactTerm.data(), exactValue.data(), quads.data(), scale.data(),
			long_, places, wide};
		cuts = {chunkTerms.data(), (long long)chunkTerms.size()};
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
	Documents d(n, 400, dense, 90, 37, n % 2);
	const int lo = n > 128 ? 128 : 0, cols = n - lo;
	const long long stride = (cols + PANEL - 1) / PANEL * PANEL;
	std::vector<unsigned> docs;
	for (int i = n - 1; i >= 0; i -= 1 + i % 2) docs.push_back(i);
	const int rows = (int)docs.size(), height = 13;
	float *value = (float *)aligned_alloc(16, rows * stride * sizeof(float));
	std::vector<unsigned> close(rows * stride / 32);
	Tile tile = {value, docs.data(), stride, rows, lo, cols, 0, close.data()};
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
				pass(&tile), d.perDocument);
		launch("panelDot", (cols + PANEL - 1) / PANEL, (rows + height - 1) / height, PANEL_THREADS,
			(1 + d.chunkTerms[0]) * 4 * PANEL, pass(&d.side), pass(&d.side), pass(&d.cuts), pass(&tile), p,
			height, 1);
		launch("closePairs", (rows * stride / 32 + CLOSE_THREADS - 1) / CLOSE_THREADS, 1, CLOSE_THREADS, 0,
			pass(&d.side), pass(&d.side), pass(&tile), p, (int)DOT);
		reduced(tile);
		for (int r = 0; r < rows; r++)
			for (int j = 0; j < cols; j++) {
				auto &a = d.rows[docs[r]], &b = d.rows[lo + j];
				double c = 0;
				for (auto &e : a) c += pow(e.second - (b.count(e.first) ? b[e.first] : 0), 2) / 2;
				for (auto &e : b) c += a.count(e.first) ? 0 : e.second * e.second / 2;
				const double want = p ? 6 * exp(-2 * c) : c, got = value[r * stride + j];
				hold(p ? "program" : "c", docs[r], lo + j, got, want, p ? 2e-5 : 1e-6);
			}
	}
	free(value);
}
