// Package solver trains support vector machines on a Gram matrix of the caller's.
//
// It sees the matrix through [Matrix] only: its length, its diagonal, and parts of rows, a panel at
// a time. Anything that computes rows can stand behind it; nothing here knows documents, kernels or
// tiles. A document is a row of the matrix, a class is a number from 0 on. Names and texts are the
// caller's.
//
// # From the inside out
//
// Every problem solved here is a quadratic program of one form (dual.go): box constraints and one or two
// equality constraints. One algorithm solves them all, on two levels. The outer level (outer.go, choose.go)
// takes the variables that violate the optimality conditions most as a working set and asks for their rows,
// which a store bounded in bytes keeps (rows.go). Half of a set stays for the next one, so most rows that a
// round needs are at hand. The inner level (inner.go) is sequential minimal optimisation with second-order
// selection on the working set alone, whose part of the matrix fits the first- or second-level cache. Then one
// pass over the rows of those variables that moved brings all scores up to date, for many inner steps at once.
// Documents that can't move any more are left out for a while (shrink.go). The problems of one-vs-rest and of
// labels, which are over the same documents, share working sets, rows and passes (multi_smo.go), until searches
// of their own take over.
//
// On top of it: C-SVC and ν-SVC with the multi-class schemes, whose problems run in parallel, regression
// and one class ([Train]); decision values, votes and probabilities ([Predictor], [Classifier]); folds,
// cross-validation and warm starts from near solutions ([Trial]).
//
// # What is checked
//
// A matrix is checked where it is handed over, and each of its rows where it is read. Each function
// checks the labels, parts, parameters, starts and kernel values that it is given, and says what it
// found and what it expected. A function of the caller's (a method of a [Matrix],
// Options.Progress) that panics on a worker ends the computation with a [*PanicError], not the
// program.
//
// # Determinism
//
// A fixed sequence of operations solves each problem. It depends neither on the number of workers
// nor on the memory for rows nor on time, so the result has the same bits in every run. Rows are
// float32; everything summed or compared is float64.
//
// Sources: Platt (1998); Joachims (1998), the working set; Keerthi and others (2001); Fan, Chen and
// Lin, JMLR 6 (2005), the second-order choice; Chang and Lin, ACM TIST 2 (2011), whose tolerance
// and forms of the problems are kept; Lin, Lin and Weng (2007), probabilities of one machine; Wu,
// Lin and Weng, JMLR 5 (2004), probabilities of several classes.
package solver
