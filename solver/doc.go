// Package solver trains support vector machines on a Gram matrix supplied by the caller.
//
// The package accesses the Gram matrix only through [Matrix]. Any type that computes rows can
// implement [Matrix]. The package doesn't depend on documents, kernel functions or tiles. Here, a
// document is a row of the matrix, and classes are numbered from 0.
//
// # Algorithm
//
// Every problem is a quadratic program with box constraints and one or two equality constraints
// (dual.go). A two-level algorithm solves these problems. The outer level (outer.go, choose.go)
// selects the variables with the largest violations of the optimality conditions as a working set.
// The rows of these variables come from a cache of bounded size (rows.go). Up to half of the
// variables stay in the next working set, so that many of its rows are already cached. The inner
// level (inner.go) runs sequential minimal optimisation (SMO) with second-order selection on the
// working set alone. The submatrix of the working set fits into the L1 or L2 cache. A pass over the
// rows of all changed variables then updates the gradient, which is stored as scores. If rows are
// computed on demand, the step of each working set is over-relaxed. Over-relaxation reduces the
// numbers of working sets and of computed rows. Shrinking temporarily leaves out documents whose
// variables are unlikely to leave their bounds (shrink.go). The binary problems of one-vs-rest and
// of label sets first share working sets, rows and passes (multi_smo.go). Then each problem is
// solved separately until it converges.
//
// On top of this algorithm, the package implements C-SVC and ν-SVC with multi-class schemes,
// regression and one-class SVMs ([Train]), decision values, votes and probabilities ([Predictor],
// [Classifier]), and cross-validation with warm starts ([CrossValidation]).
//
// # Validation
//
// [Train] and [CrossValidation.Run] check the matrix, labels, folds, parameters and warm starts.
// Rows of the matrix are checked when they are read. If a method of a [Matrix] or Options.Progress
// panics on a worker, the computation returns a [*PanicError].
//
// # Determinism
//
// Results are bit-identical in every run, because the sequence of operations doesn't depend on
// timing. The sequence depends on the result of Whole (see [Matrix]). If Whole returns false and
// the rows don't fit in Options.RowBytes, the sequence depends on RowBytes and on the number of
// workers, which share RowBytes. Otherwise the number of workers doesn't affect the sequence, and
// only a very small RowBytes does. Rows are float32. Sums and comparisons use float64.
//
// Sources: Platt (1998) and Keerthi and others (2001) for SMO; Joachims (1998) for the working set;
// Fan, Chen and Lin, JMLR 6 (2005) for second-order selection; Chang and Lin, ACM TIST 2 (2011) for
// the problems and the tolerance; Lin, Lin and Weng (2007) for binary probabilities; Wu, Lin and
// Weng, JMLR 5 (2004) for multi-class probabilities.
package solver
