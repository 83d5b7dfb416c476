// Command grambench computes, verifies and benchmarks Gram matrices of kernels on sparse documents,
// and trains support vector machines on them.
//
//	grambench COMMAND [flags]
//
// What lives here is wiring: flags, reading, progress, tables and files. The mathematics is in
// package engine, the documents are in package sparse, the learners in package learn. In
// internal, cli knows what a command is, source reads what it works on, backend says where it
// computes, report and chart print and draw what it found; the commands are above them, one package
// for each group, and don't know each other.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/gramengine/gram/cmd/grambench/internal/bench"
	"github.com/gramengine/gram/cmd/grambench/internal/explain"
	"github.com/gramengine/gram/cmd/grambench/internal/machines"
	"github.com/gramengine/gram/cmd/grambench/internal/matrices"
	"github.com/gramengine/gram/cmd/grambench/internal/neighbours"
	"github.com/gramengine/gram/cmd/grambench/internal/serve"
	"github.com/gramengine/gram/cmd/grambench/internal/soak"
	"github.com/gramengine/gram/cmd/grambench/internal/spectral"
	"github.com/gramengine/gram/cmd/grambench/internal/verify"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/source"
)

// program has the commands in the order of the help.
var program = cli.Program{
	Name: "grambench",
	About: `
grambench computes Gram matrices of kernels on sparse documents, and trains classifiers with them.`,
	Commands: []*cli.Command{
		matrices.Info, matrices.Corpus, matrices.Gram, neighbours.Neighbours, neighbours.Duplicates,
		machines.Train, machines.Predict, machines.Evaluate, machines.CV, machines.Grid, explain.Command,
		serve.Command, verify.Command, bench.Command, soak.Command, matrices.Kernels, spectral.Command, spectral.PCA,
	},
	Topics: []cli.Topic{source.Topic, source.TextTopic, backend.Topic, machines.Topic, machines.LearnersTopic,
		bench.SuiteTopic},
	Examples: `
grambench train -in mail/ -o mail.model      a model from texts, one sub-folder per class
grambench predict -in new.tsv -model mail.model`,
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole program.
func run(args []string, stdout, stderr io.Writer) int {
	if err := backend.Startable(); err != nil {
		fmt.Fprintln(stderr, "grambench:", err)
		return cli.Failed
	}
	return program.Run(args, stdout, stderr)
}
