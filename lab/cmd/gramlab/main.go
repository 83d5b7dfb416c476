// Command gramlab is gram with additional learners, from the papers on which gram's kernels are
// based. It also repeats experiments of these papers.
//
//	gramlab COMMAND [flags]
//
// It is a separate module, so that builds of gram don't include it.
//
// SPDX-License-Identifier: BSD-3-Clause
package main

import (
	"io"
	"os"

	"github.com/gramengine/gram/cmd/commands"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/lab/internal/hyperbolic"
	"github.com/gramengine/gram/lab/internal/lmnn"
	"github.com/gramengine/gram/lab/internal/mkm"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/lab/internal/repro/bounds"
	"github.com/gramengine/gram/lab/internal/repro/cho"
	"github.com/gramengine/gram/lab/internal/repro/geometry"
	"github.com/gramengine/gram/lab/internal/repro/lafferty"
	"github.com/gramengine/gram/lab/internal/repro/lebanon"
	"github.com/gramengine/gram/lab/internal/repro/tables"
	"github.com/gramengine/gram/lab/internal/repro/zhang"
	"github.com/gramengine/gram/lab/internal/selection"
	"github.com/gramengine/gram/lab/internal/sphere"
)

var experiments = append(cho.Experiments, geometry.Experiment, lafferty.Experiment, bounds.Experiment,
	zhang.Experiment, lebanon.Experiment, tables.Experiment)

// learners lists the learners that gram lacks.
var learners = []*learn.Learner{lmnn.Learner, mkm.Learner, sphere.Learner}

var program = newProgram()

func newProgram() *cli.Program {
	learn.Register(learners...)
	return &cli.Program{
		Name: "gramlab",
		Description: `
gramlab is gram with further learners and experiments of papers.`,
		Commands: append([]*cli.Command{
			repro.Command(experiments...), hyperbolic.Command, selection.Command,
		}, commands.Commands...),
		Topics: commands.Topics(),
		Examples: `
gramlab repro zhang-chen-lee -data DIR`,
	}
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	return backend.Run(program, args, stdout, stderr)
}
