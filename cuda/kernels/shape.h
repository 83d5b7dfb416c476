// The shapes that kernels and host agree on. cuda/shape.go has the same; a test holds both together.
#pragma once

// GLOBAL pointers are to the device's memory: what the compiler can't see of a pointer that it loads from memory itself.
#ifndef GLOBAL
#define GLOBAL
#endif

enum {
	PANEL = 128,        // documents in a panel
	PANEL_THREADS = 512,
	TAIL_COLUMNS = 4096, // columns whose tail one block adds up
	TAIL_THREADS = 256,
	FINISH_THREADS = 128,
	MIRROR = 32,
	MIRROR_THREADS = 256,
	PEAK_THREADS = 256,
	SLOTS = 12, // locals and stack of a program
};

// Entry is a value of a document in the head: the place of its term in the panel, in bytes, and above it the bits of the value.
typedef unsigned long long Entry;

// Side is a set of documents. Offsets have an element more than what they are of.
struct Side {
	const long long GLOBAL *head;       // of each document, its first entry
	const unsigned GLOBAL *segment;     // [documents][segments+1], where segments begin, from head on
	const Entry GLOBAL *entry;          // the rarest term first
	const long long GLOBAL *tail;       // of each document, its first value in the tail
	const unsigned GLOBAL *tailTerm;    // number of the posting list
	const float GLOBAL *tailValue;      //
	const long long GLOBAL *list;       // of each term of the tail, its first posting; of the columns alone
	const unsigned GLOBAL *listDoc;     // ascending
	const float GLOBAL *listValue;      //
	const long long GLOBAL *exact;      // of each document, its first value in float64
	const unsigned GLOBAL *exactTerm;   // ascending
	const double GLOBAL *exactValue;    // of unit length together
};

// Head says how the head is cut: into chunks, whose panels fit into shared memory, and these into segments, the rarest first.
struct Head {
	const int GLOBAL *chunk; // [chunks+1] first segment of each
	const int GLOBAL *terms; // [chunks] number of terms
	long long chunks;
	long long segments;
};

// Tile is where results go: rows × cols values, row r at value + r stride, stride a multiple of PANEL. Row r is that of document docs[r], column j that of lo+j.
struct Tile {
	float GLOBAL *value;
	const unsigned GLOBAL *docs;
	long long stride, rows, lo, cols;
	long long first; // number of row 0 among the rows of the request, by which programs have their attributes
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
};
