// Package solver is the place of the learners: the dual SMO solver for support vector machines, multi-class schemes, cross-validation
// and models.
//
// It sees a Gram matrix only through an interface that it declares itself (length, diagonal, rows) and never through package engine, so any
// matrix of the caller's can stand behind it. It holds nothing yet.
package solver
