// Command gram trains, evaluates and explains models of documents, and predicts the documents'
// labels. It also finds neighbours and duplicates, and writes Gram matrices.
//
//	gram COMMAND [flags]
//
// The commands are in cmd/internal, one package per group of commands. These packages parse flags
// and write reports. Package corpus reads documents, package engine computes kernel values, and
// package internal/learn has the learners.
//
// SPDX-License-Identifier: BSD-3-Clause
package main

import (
	"io"
	"os"

	"github.com/gramengine/gram/cmd/commands"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
)

var program = cli.Program{
	Name: "gram",
	Description: `
gram trains classifiers and regressions on texts, tables and vectors, and computes kernel matrices.`,
	Commands: commands.Commands,
	Topics:   commands.Topics(),
	Examples: `
gram train -in mail/ -o mail.model           a model from texts, one sub-folder per class
gram predict -in new.tsv -model mail.model`,
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	return backend.Run(&program, args, stdout, stderr)
}
