// Package device says what a back end is: what computes c = 1 - cosine for package engine. The
// processor is one (engine/internal/panel), a GPU another (package cuda), and package devicetest
// has the smallest.
//
// A [Backend] is asked for rows by a [Request] and answers with tiles ([Tile]). One with a
// processor of its own ([Accelerator]) may apply the request's kernel, a [Program], to each c.
//
// What doesn't live here: the back ends, which know nothing of engine, and the translation of
// kernels into programs, which is the business of package kernel. [Program.Eval] is the reference
// for back ends.
package device
