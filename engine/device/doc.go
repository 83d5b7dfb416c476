// Package device holds what package engine and a back end, such as package cuda, say to each other:
// a [Request] for rows of c = 1 - cosine, and kernels as small programs ([Program]) that a back end
// runs on each value of c where it has computed it. A back end may also keep rows where it computed
// them ([Resident]), and beside them the scores of a problem that a solver works on ([Board]).
//
// What doesn't live here: the back ends, which know nothing of engine; the translation of kernels
// into programs, which is engine's business. A Program is evaluated in Go by [Program.Eval], which
// is what back ends are held against.
package device
