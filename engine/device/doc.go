// Package device defines the interface of back ends, which compute c = 1 - cosine for package engine: the processor
// (engine/internal/panel), a GPU (package cuda), and the smallest (devicetest).
//
// A [Backend] answers a [Request] for rows with tiles ([Tile]). An [Accelerator] may apply the request's kernel, a
// [Program] made by package kernel, to each c. [Program.Eval] is the reference for back ends.
package device
