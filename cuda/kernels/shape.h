// The shapes that kernels and host agree on. cuda/shape.go has the same; a test holds both
// together.
#pragma once

// GLOBAL pointers are to the device's memory: what the compiler can't see of a pointer that it
// loads from memory itself.
#ifndef GLOBAL
#define GLOBAL
#endif
// Of two numbers the first, and the other where few threads can run, see fake/threads.h.
#ifndef FEWER
#define FEWER(usual, fewer) usual
#endif

enum {
	PANEL = 128,        // documents in a panel
	PANEL_THREADS = FEWER(512, 128),
	PANEL_BLOCKS = 2,   // of panelDot that a multiprocessor has registers for
	AT_ONCE = 4,        // entries that a warp of panelDot loads ahead
	TAIL_COLUMNS = 4096, // columns whose tail one block adds up
	TAIL_THREADS = FEWER(256, 64),
	NARROW_VALUES = 1024, // see tail.h
	CLOSE_THREADS = FEWER(256, 64),
	REDUCE_THREADS = FEWER(256, 64),
	TENSOR_ROWS = FEWER(128, 64), // that a block of panelTensor takes
	TENSOR_COLUMNS = 64,
	TENSOR_THREADS = FEWER(256, 128),
	TENSOR_TERMS = 32, // a step
	SLOTS = 12, // locals and stack of a program
};

// Entry is a place, in the low 32 bits, and a value's word above it: of the dot product whole(v),
// units of 2^-31, of the pairings of histograms the bits of a float. In the head the place is that
// of the value's term in the panel, in bytes, where the first line is all zeros and entries that
// fill up a part have their place; in the tail it is the number of the posting list; in a list the
// document.
typedef unsigned long long Entry;

// Digits is a digit of a document's values at 16 terms of the dense end, see tensor.h, the first
// term's in the lowest byte. Of TENSOR_TERMS terms the greatest digits come first.
typedef uint4 Digits;

// Side is a set of documents. Offsets have an element more than what they are of.
struct Side {
	const long long GLOBAL *head;   // [documents × chunks + 1] first entry of a document in a chunk
	const Entry GLOBAL *entry;      // a multiple of AT_ONCE of each, at least so many
	const long long GLOBAL *tail;   // of each document, its first value in the tail
	const Entry GLOBAL *tailEntry;
	const long long GLOBAL *list;   // of each term of the tail, its first posting; of the columns alone
	const Entry GLOBAL *posting;    // documents ascending
	const unsigned GLOBAL *cut;     // [cutTerms][cuts], where a list goes on at every TAIL_COLUMNS
	const long long GLOBAL *exact;  // of each document, its first value in float64
	const unsigned GLOBAL *exactTerm; // ascending
	const double GLOBAL *exactValue; // of unit length together
	const Digits GLOBAL *dense;     // [documents][steps of TENSOR_TERMS terms][4 digits][terms / 16] of the dense end
	const float GLOBAL *denseScale; // [documents + TENSOR_COLUMNS] powers of two, of which the digits are
	long long cutTerms, cuts;       // the first terms of the tail, and places in each of their lists
	const unsigned GLOBAL *longs;   // [documents, up to a multiple of PANEL, / 32] a bit for each with more than
	                                // NARROW_VALUES values in the tail; null where none has
};

// Head says how the head is cut into chunks of terms, whose panels fit into shared memory.
struct Head {
	const int GLOBAL *terms; // [chunks] number of terms
	long long chunks;
};

// Tile is where results go: rows × cols values, row r at value + r stride, stride a multiple of
// PANEL. Row r is that of document docs[r], column j that of lo+j, lo a multiple of PANEL. Until a
// value is done its place holds a sum of products, a whole number of units of 2^-30.
struct Tile {
	float GLOBAL *value;
	const unsigned GLOBAL *docs;
	const unsigned GLOBAL *order; // of the rows, those with the most values in the tail first
	long long stride, rows, lo, cols;
	long long first;        // number of row 0 among the rows of the request, by which programs have their attributes
	unsigned GLOBAL *close; // [rows][cols, up to a multiple of PANEL, / 32] a bit for each pair with c < 0.1
};

// Table is a piecewise polynomial, see asm.Kernels.Piecewise: rows of eight numbers.
struct Table {
	const float4 GLOBAL *rows;
	long long bits, log;
};

// Program is a kernel, see package device.
struct Program {
	const unsigned GLOBAL *code; // operation in the lowest 8 bits, argument above
	const double GLOBAL *consts;
	const Table GLOBAL *tables;
	const double GLOBAL *x; // attributes of rows [attribute][rows]
	const double GLOBAL *y; // and of columns [attribute][columns]
	long long length, locals, columns, rows;
	const Table GLOBAL *only; // the program is this table of c, which isn't one of logarithms; or null
};
