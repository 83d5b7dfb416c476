// Package device defines the interface of back ends, which compute c = 1 - cosine for package
// engine. Back ends are the CPU (engine/internal/panel), GPUs (package cuda) and a minimal back end
// for tests (devicetest).
//
// A [Backend] computes the rows of a [Request] as tiles ([Tile]). An [Accelerator] may apply the
// request's kernel to each c, as a [Program] made by package kernel. [Program.Eval] is the
// reference implementation.
package device
