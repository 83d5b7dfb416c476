// Random problems for the solver's kernels, each array in an allocation of its own size. What the
// kernels give is held elsewhere; here sanitizers look on.
#pragma once

#include "hold.h"

// random fills an allocation of so many values.
template <class T, class F> static std::vector<T> randoms(int n, F f) {
	std::vector<T> v(n);
	for (auto &e : v) e = f();
	return v;
}

// boards runs the solver's kernels on a problem of so many documents, copies variables each.
static void boards(int documents, int copies) {
	const int variables = documents * copies, rows = 5, stride = documents + 3, few = 1 + variables / 150;
	const unsigned blocks = (variables + BOARD_VARIABLES - 1) / BOARD_VARIABLES;
	auto score = randoms<double>(variables, [] { return (int)(rng() % 40 - 20) / 16.0; }); // with ties
	auto mask = randoms<unsigned>(variables, [] { return rng() % 16; });
	auto matrix = randoms<float>(rows * stride, [] { return rng() / 4294967296.0f; });
	int next = 3; // the last column is the end of a row
	auto column = randoms<unsigned>(documents, [&] { return next++; });
	Board board = {score.data(), mask.data(), column.data(), matrix.data(), documents, variables};

	auto from = randoms<long long>(rows, [&] { return (long long)(rng() % rows) * stride; });
	std::vector<double> by(rows, 0.3);
	auto changed = randoms<unsigned>(few, [at = 0, few]() mutable { return at++; }); // each once
	std::vector<unsigned> masks(few, 5);
	Update update = {from.data(), by.data(), changed.data(), masks.data(), rows, few};
	launch("addRows", (documents + BOARD_THREADS - 1) / BOARD_THREADS, 1, BOARD_THREADS, 0, pass(&board), pass(&update));
	if (variables > 20) score[7] = NAN, score[11] = INFINITY, score[13] = -INFINITY;
	std::vector<Ends> ends(blocks);
	launch("extremes", blocks, 1, BOARD_THREADS, 0, pass(&board), pass(ends.data()), 1, 2);

	for (double way : {1.0, -1.0}) {
		std::vector<unsigned> count(blocks);
		long long beyond = 0; // there is no room for more
		for (int t = 0; t < variables; t++) beyond += mask[t] & 4 && way * score[t] > 0.25;
		std::vector<Candidate> found(1 + beyond);
		Bound bound = {count.data(), found.data(), way, 0.25, 4, blocks};
		launch("beyondCount", blocks, 1, BOARD_THREADS, 0, pass(&board), pass(&bound));
		launch("beyondList", blocks, 1, BOARD_THREADS, 0, pass(&board), pass(&bound));
	}

	auto variable = randoms<unsigned>(few, [&] { return rng() % variables; });
	auto places = randoms<unsigned>(few, [&] { return column[rng() % documents]; });
	std::vector<float> value(rows * few);
	std::vector<double> picked(few);
	Picked pick = {from.data(), places.data(), variable.data(), value.data(), picked.data(), rows, few};
	launch("pick", (few + PICK_THREADS - 1) / PICK_THREADS, rows + 1, PICK_THREADS, 0, pass(&board), pass(&pick));
}
