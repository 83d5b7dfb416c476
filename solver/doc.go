// Package solver trains support vector machines on a Gram matrix of the caller's.
//
// The matrix is seen through [Matrix] only: its length, its diagonal, and rows restricted to ranges
// of columns, asked for a panel at a time. So anything can stand behind it that computes rows, and
// nothing here knows of documents, kernels or tiles. A document is a row of the matrix, a class is
// a number from 0 on; names and texts are the caller's.
//
// # From the inside out
//
// Every learner is a quadratic problem of one shape (dual.go): box constraints and one or two
// equations. One search solves them all, on two levels. The outer level (outer.go, choose.go) takes
// the variables that violate the optimality conditions most as a working set and asks for their
// rows, which a store bounded in bytes keeps (rows.go); half of a set stays for the next one, so
// that most rows that a round needs are at hand. The inner level (inner.go) is sequential minimal
// optimisation with second-order selection on the working set alone, whose part of the matrix fits
// the first- or second-level cache. Then all scores are brought up to date in one pass over the
// rows of those variables that moved, which is shared by many inner steps. Documents that can't
// move any more are left out of rows and passes, and what they missed is made good from the
// variables that changed meanwhile (shrink.go).
//
// On top of it: the learners [TrainBinary] (C-SVC and ν-SVC), [TrainRegression] and
// [TrainOneClass]; the multi-class schemes, whose problems run in parallel
// ([Train]); decision values, votes and probabilities ([Predictor], [Classifier]); folds,
// cross-validation and warm starts from near solutions ([Trial], [RegressionTrial]).
//
// # What is checked
//
// A matrix is checked where it is handed over, and each of its rows where it is taken: what a row
// doesn't have is never read. Labels, parts, parameters, starts and kernel values are checked by
// the function that they are handed to, which says what it found and what it expected. A function
// of the caller's (a method of a [Matrix] or a [DeviceScores], Options.Progress) that panics on a worker
// ends the computation with a *tiles.PanicError, not the program.
//
// # What doesn't depend on chance
//
// Each problem is solved by a fixed sequence of operations that neither the number of workers nor
// the memory for rows nor the time of day has part in: the result has the same bits from any number
// of workers and from run to run. Rows are float32, everything summed or compared float64.
//
// Sources: Platt (1998); Joachims (1998), the working set; Keerthi and others (2001); Fan, Chen and
// Lin, JMLR 6 (2005), the second-order choice; Chang and Lin, ACM TIST 2 (2011), whose tolerance
// and forms of the problems are kept; Lin, Lin and Weng (2007), probabilities of one machine; Wu,
// Lin and Weng, JMLR 5 (2004), probabilities of several classes.
package solver
