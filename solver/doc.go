// Package solver trains support vector machines on a Gram matrix supplied by the caller.
//
// The package sees the matrix only through [Matrix]: its size, its diagonal, and parts of rows, a
// panel at a time. Any type that computes rows can implement [Matrix]. The package has no
// documents, kernels or tiles. A document is a row of the matrix, and a class is a number from 0.
//
// # Algorithm
//
// Every problem is a quadratic program of one form (dual.go): box constraints and one or two
// equality constraints. One algorithm with two levels solves all of them. The outer level
// (outer.go, choose.go) selects the variables with the largest violations of the optimality
// conditions as a working set. It fetches their rows from a cache of bounded size (rows.go). Up to
// half of a working set stays in the next, so most rows are already cached. The inner level
// (inner.go) runs sequential minimal optimisation with second-order selection on the working set
// alone. Its part of the matrix fits the L1 or L2 cache. A pass over the rows of all changed
// variables then updates the scores. If rows are computed on demand, the step of a working set is
// over-relaxed, because fewer steps then need fewer rows. Documents that can't move are temporarily
// left out (shrink.go). The problems of one-vs-rest and of labels share working sets, rows and
// passes (multi_smo.go), and separate searches finish them.
//
// On top of this algorithm, the package implements C-SVC and ν-SVC with multi-class schemes,
// regression and one-class SVMs ([Train]). It also computes decision values, votes and
// probabilities ([Predictor], [Classifier]), and cross-validates with warm starts ([Trial]).
//
// # Validation
//
// Each exported function checks its matrix, labels, folds, parameters and warm starts. Rows of the
// matrix are checked when they are read. If a caller's function (a method of a [Matrix] or
// Options.Progress) panics on a worker, the computation returns a [*PanicError].
//
// # Determinism
//
// A fixed sequence of operations solves each problem. The sequence doesn't depend on the number of
// workers, the memory for rows or time, so every run gives the same bits. It depends on whether the
// matrix is whole. Rows are float32; sums and comparisons use float64.
//
// Sources: Platt (1998); Joachims (1998) for the working set; Keerthi and others (2001); Fan, Chen
// and Lin, JMLR 6 (2005) for second-order selection; Chang and Lin, ACM TIST 2 (2011) for the
// problems and the tolerance; Lin, Lin and Weng (2007) for binary probabilities; Wu, Lin and Weng,
// JMLR 5 (2004) for multi-class probabilities.
package solver
