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
	BOARD_THREADS = 256,
	BOARD_VARIABLES = 1024, // scores that a block looks through
	PICK_THREADS = 128,
	TENSOR_ROWS = 128, // that a block of panelTensor takes
	TENSOR_COLUMNS = 64,
	TENSOR_THREADS = 256,
	TENSOR_TERMS = 32, // a step
	SLOTS = 12, // locals and stack of a program
};

// Entry is a value of a document in the head: the place of its term in the panel, in bytes, and above it the bits of the value.
typedef unsigned long long Entry;

// Quad is the digits of a document's values at four terms of the dense end, see tensor.h: a word has the same digit of all four, the first term's in its lowest byte, and
// the first word the greatest digits.
typedef uint4 Quad;

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
	const Quad GLOBAL *dense;           // [documents][quads] of the dense end
	const float GLOBAL *denseScale;     // [documents + TENSOR_COLUMNS] a power of two each, which its digits are in units of
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

// Board is what the solver keeps of one problem: variable t belongs to document t modulo documents, whose column in rows is column[document].
struct Board {
	double GLOBAL *score;
	unsigned GLOBAL *mask;
	const unsigned GLOBAL *column;
	const float GLOBAL *rows;
	long long documents, variables;
};

// Update is by[r] times the row that begins at rows + from[r], for each r, and the masks that are to be set.
struct Update {
	const long long GLOBAL *from;
	const double GLOBAL *by;
	const unsigned GLOBAL *changed;
	const unsigned GLOBAL *masks;
	long long rows, changes;
};

// Ends are the greatest and the least of some scores, and where they are; -1 nowhere.
struct Ends {
	double most, least;
	long long mostAt, leastAt;
};

// Candidate is a variable beyond a bound.
struct Candidate {
	double score;
	long long at;
};

// Bound asks for the variables with a bit of the mask and way·score above a bound.
struct Bound {
	unsigned GLOBAL *count;  // [blocks]
	Candidate GLOBAL *found; // [1+variables]
	double way, above;
	long long bit, blocks;
};

// Picked is the part of some rows at some columns, and the scores of the variables there.
struct Picked {
	const long long GLOBAL *from; // of each row
	const unsigned GLOBAL *column;
	const unsigned GLOBAL *variable;
	float GLOBAL *value;
	double GLOBAL *score;
	long long rows, columns;
};
