// Command gramlab repeats the experiments of the papers that gram's kernels come from, and compares
// gram with other programs.
//
//	gramlab COMMAND [flags]
//
// It is a module of its own: who uses gram doesn't build it.
package main

import (
	"io"
	"os"

	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/lab/internal/benchduplicates"
	"github.com/gramengine/gram/lab/internal/benchlearners"
	"github.com/gramengine/gram/lab/internal/benchlibsvm"
	"github.com/gramengine/gram/lab/internal/benchpca"
	"github.com/gramengine/gram/lab/internal/benchpeers"
	"github.com/gramengine/gram/lab/internal/benchtext"
	"github.com/gramengine/gram/lab/internal/bounds"
	"github.com/gramengine/gram/lab/internal/experiments"
	"github.com/gramengine/gram/lab/internal/geometry"
	"github.com/gramengine/gram/lab/internal/hyperbolic"
	"github.com/gramengine/gram/lab/internal/peers"
)

// program has the commands in the order of the help.
var program = cli.Program{
	Name: "gramlab",
	About: `
gramlab repeats the experiments of the papers that gram's kernels come from, and compares
gram with other programs.`,
	Commands: []*cli.Command{
		experiments.Command, bounds.Command, geometry.Command, hyperbolic.Command,
		peers.BenchCommand(
			benchduplicates.Program, benchlibsvm.Program, benchlearners.Program, benchpca.Program, benchpeers.Program,
			benchtext.Program,
		),
	},
	Topics: append([]cli.Topic{backend.Topic}, experiments.Topics()...),
	Examples: `
gramlab repro                                the experiments, and what they read
gramlab repro cho -data DIR -sets rectangles
gramlab bench pca -data corpora              gram against scikit-learn`,
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole program.
func run(args []string, stdout, stderr io.Writer) int {
	return backend.Run(&program, args, stdout, stderr)
}
