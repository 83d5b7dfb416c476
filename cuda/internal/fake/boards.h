// Random problems for the solver's kernels, each array in an allocation of its own size, and what
// they give held against the same operations one after the other.
#pragma once

#include "hold.h"

// boards runs the solver's kernels on a problem of so many documents, copies variables each.
static void boards(int documents, int copies) {
	const int variables = documents * copies, rows = 5, stride = documents + 3;
	const unsigned blocks = (variables + BOARD_VARIABLES - 1) / BOARD_VARIABLES;
	std::vector<double> score(variables);
	std::vector<unsigned> mask(variables), column(documents);
	std::vector<float> matrix(rows * stride);
	for (int t = 0; t < variables; t++) {
		score[t] = (int)(rng() % 40 - 20) / 16.0; // with ties
		mask[t] = rng() % 16;
	}
	for (int i = 0; i < documents; i++) column[i] = i + 3; // the last column is the end of a row
	for (auto &v : matrix) v = rng() / 4294967296.0f;
	Board board = {score.data(), mask.data(), column.data(), matrix.data(), documents, variables};

	auto want = score;
	auto wantMask = mask;
	std::vector<long long> from;
	std::vector<double> by;
	std::vector<unsigned> changed, masks;
	for (int r = 0; r < rows; r++) from.push_back((long long)(rows - 1 - r) * stride), by.push_back((r - 1) * 0.3);
	for (int t = 0; t < variables; t += 1 + variables / 7) changed.push_back(t), masks.push_back(wantMask[t] = rng() % 16);
	for (auto shrink : {&changed, &masks}) shrink->shrink_to_fit();
	from.shrink_to_fit(), by.shrink_to_fit();
	for (int t = 0; t < variables; t++)
		for (int r = 0; r < rows; r++) want[t] = fma(by[r], (double)matrix[from[r] + column[t % documents]], want[t]);
	Update update = {from.data(), by.data(), changed.data(), masks.data(), rows, (long long)changed.size()};
	launch("addRows", (documents + BOARD_THREADS - 1) / BOARD_THREADS, 1, BOARD_THREADS, 0, pass(&board), pass(&update));
	for (int t = 0; t < variables; t++) {
		hold("score", t, 0, score[t], want[t], 0);
		hold("mask", t, 0, mask[t], wantMask[t], 0);
	}

	// Ties again, and what no search may find.
	for (auto &v : score) v = (int)(rng() % 40 - 20) / 16.0;
	if (variables > 20) score[7] = NAN, score[11] = INFINITY, score[13] = -INFINITY;
	for (int up : {1, 0}) {
		std::vector<Ends> ends(blocks);
		launch("extremes", blocks, 1, BOARD_THREADS, 0, pass(&board), pass(ends.data()), up, 2);
		for (unsigned b = 0; b < blocks; b++) {
			Ends e = {-INFINITY, INFINITY, -1, -1};
			for (int t = b * BOARD_VARIABLES; t < variables && t < (int)(b + 1) * BOARD_VARIABLES; t++) {
				if (mask[t] & up && score[t] > e.most) e.most = score[t], e.mostAt = t;
				if (mask[t] & 2 && score[t] < e.least) e.least = score[t], e.leastAt = t;
			}
			hold("most", b, up, ends[b].most, e.most, 0), hold("its place", b, up, ends[b].mostAt, e.mostAt, 0);
			hold("least", b, up, ends[b].least, e.least, 0), hold("its place", b, up, ends[b].leastAt, e.leastAt, 0);
		}
	}

	for (double way : {1.0, -1.0}) {
		std::vector<unsigned> count(blocks);
		std::vector<int> beyond;
		for (int t = 0; t < variables; t++)
			if (mask[t] & 4 && way * score[t] > 0.25) beyond.push_back(t);
		std::vector<Candidate> found(1 + beyond.size()); // no room for more than there are
		Bound bound = {count.data(), found.data(), way, 0.25, 4, blocks};
		launch("beyondCount", blocks, 1, BOARD_THREADS, 0, pass(&board), pass(&bound));
		launch("beyondList", blocks, 1, BOARD_THREADS, 0, pass(&board), pass(&bound));
		hold("beyond", variables, 0, found[0].at, beyond.size(), 0);
		for (size_t i = 0; i < beyond.size(); i++) {
			hold("variable beyond", i, 0, found[1 + i].at, beyond[i], 0);
			hold("its score", i, 0, found[1 + i].score, score[beyond[i]], 0);
		}
	}

	std::vector<unsigned> variable, places;
	for (int t = variables - 1; t >= 0; t -= 1 + variables / 150) {
		variable.push_back(t);
		places.push_back(column[t % documents]);
	}
	for (auto shrink : {&variable, &places}) shrink->shrink_to_fit();
	const int columns = (int)variable.size();
	std::vector<float> value(rows * columns);
	std::vector<double> picked(columns);
	Picked pick = {from.data(), places.data(), variable.data(), value.data(), picked.data(), rows, columns};
	launch("pick", (columns + PICK_THREADS - 1) / PICK_THREADS, rows + 1, PICK_THREADS, 0, pass(&board), pass(&pick));
	for (int c = 0; c < columns; c++) {
		if (score[variable[c]] == score[variable[c]]) hold("picked score", c, 0, picked[c], score[variable[c]], 0);
		for (int r = 0; r < rows; r++) hold("picked value", r, c, value[r * columns + c], matrix[from[r] + places[c]], 0);
	}
}
