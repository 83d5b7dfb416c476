// The shapes that kernels and host agree on. cuda/layout.go has the same; a test holds both together.
#pragma once

enum {
	PANEL = 128,        // documents in a panel
	PANEL_THREADS = 512,
	TAIL_COLUMNS = 4096, // columns whose tail one block adds up
	TAIL_THREADS = 256,
	FINISH_THREADS = 128,
	SLOTS = 12, // locals and stack of a program
};

// Entry is a value of a document in the head: the place of its term in the panel, in units of 16 bytes, and the value.
struct Entry {
	unsigned place;
	float value;
};

// Side is a set of documents. Offsets have an element more than what they are of.
struct Side {
	const long long *head;       // of each document, its first entry
	const unsigned *segment;     // [documents][segments+1], where segments begin, from head on
	const Entry *entry;          // the rarest term first
	const long long *tail;       // of each document, its first value in the tail
	const unsigned *tailTerm;    // number of the posting list
	const float *tailValue;      //
	const long long *list;       // of each term of the tail, its first posting; of the columns alone
	const unsigned *listDoc;     // ascending
	const float *listValue;      //
	const long long *exact;      // of each document, its first value in float64
	const unsigned *exactTerm;   // ascending
	const double *exactValue;    // of unit length together
};

// Head says how the head is cut: into chunks, whose panels fit into shared memory, and these into segments, the rarest first.
struct Head {
	const int *chunk; // [chunks+1] first segment of each
	const int *terms; // [chunks] number of terms
	long long chunks;
	long long segments;
};

// Tile is where results go: rows × cols values, row r at value + r stride, stride a multiple of PANEL. Row r is that of document docs[r], column j that of lo+j.
struct Tile {
	float *value;
	const unsigned *docs;
	long long stride, rows, lo, cols;
	long long first; // number of row 0 among the rows of the request, by which programs have their attributes
};

// Table is a piecewise polynomial, see asm.Kernels.Piecewise: rows of eight numbers.
struct Table {
	const float4 *rows;
	long long bits, log;
};

// Program is a kernel, see package device.
struct Program {
	const unsigned *code; // operation in the lowest 8 bits, argument above
	const double *consts;
	const Table *tables;
	const double *x, *y; // attributes of rows [attribute][rows] and of columns [attribute][columns]
	long long length, locals, columns, rows;
};
