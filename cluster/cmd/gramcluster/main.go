// Command gramcluster distributes gram's computations over several computers. It plans tasks, runs
// them and gathers their results. Any scheduler can start it (Spark, Slurm, Kubernetes, xargs).
//
// SPDX-License-Identifier: BSD-3-Clause
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/source"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return program(stdin).Run(args, stdout, stderr)
}

// program returns gramcluster with all its commands. Credentials in URLs are removed from all
// messages.
func program(stdin io.Reader) *cli.Program {
	return &cli.Program{
		Name: "gramcluster",
		Description: `
gramcluster divides a computation of gram among machines. It schedules nothing: tasks are lines
of text that Spark, Slurm, Kubernetes, xargs or a shell may carry, and results lie in a store that
all machines reach: a folder, or a bucket of S3, Google or Azure. Results have the bits of one
machine. work may be killed at any moment and started again: what is in the store stays, what isn't
is done. docs/cluster.md says more.`,
		Examples: `
gramcluster plan gram -store DIR -in train.svm > tasks.jsonl   what there is to do, in lines
gramcluster work -store DIR < tasks.jsonl                      anywhere, any part, again and again
gramcluster status -store DIR -watch                           how far it is
gramcluster gather -store DIR -o K.npy                         what gram matrix writes`,
		Commands: []*cli.Command{
			planCommand(), driveCommand(), workCommand(stdin), &gatherCommand, &statusCommand, &cleanCommand,
			backend.Version,
		},
		Topics: []cli.Topic{source.Topic, source.TextTopic},
		Redact: store.Redact,
	}
}

func logUnlessQuiet(e *cli.Env, format string, args ...any) {
	if !e.Quiet {
		logMessage(e, format, args...)
	}
}

func logMessage(e *cli.Env, format string, args ...any) {
	fmt.Fprintln(e.Stderr, store.Redact(fmt.Sprintf(format, args...)))
}
