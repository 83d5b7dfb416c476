// Command gram trains and uses kernel machines on sparse documents: it trains, evaluates, predicts and explains,
// finds neighbours and duplicates, and writes Gram matrices.
//
//	gram COMMAND [flags]
//
// The commands are in cmd/internal, one package for each group. They parse flags, read, and write reports; they don't
// import each other. The mathematics is in package engine, the documents are in package corpus, the learners in package
// learn.
package main

import (
	"io"
	"os"

	"github.com/gramengine/gram/cmd/internal/explain"
	"github.com/gramengine/gram/cmd/internal/machines"
	"github.com/gramengine/gram/cmd/internal/matrices"
	"github.com/gramengine/gram/cmd/internal/neighbours"
	"github.com/gramengine/gram/cmd/internal/serve"
	"github.com/gramengine/gram/cmd/internal/spectral"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/source"
)

// program has the commands in the order of the help.
var program = cli.Program{
	Name: "gram",
	About: `
gram trains classifiers and regressions on texts, tables and vectors, and computes kernel matrices.`,
	Commands: []*cli.Command{
		machines.Train, machines.Predict, machines.Evaluate, machines.Grid, machines.CV, explain.Command, serve.Command,
		neighbours.Neighbours, neighbours.Duplicates, matrices.Matrix, spectral.PCA, spectral.Command, matrices.Corpus,
		matrices.Kernels,
	},
	Topics: []cli.Topic{source.Topic, source.TextTopic, backend.Topic, machines.Topic, machines.LearnersTopic},
	Examples: `
gram train -in mail/ -o mail.model           a model from texts, one sub-folder per class
gram predict -in new.tsv -model mail.model`,
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole program.
func run(args []string, stdout, stderr io.Writer) int {
	return backend.Run(&program, args, stdout, stderr)
}
