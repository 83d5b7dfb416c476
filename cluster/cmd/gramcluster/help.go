package main

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/jobs"
)

// commands returns the commands in the order of the help. A function, since help is among them.
func commands() []*command {
	return []*command{&workCommand, &gatherCommand, &statusCommand, &cleanCommand}
}

const about = `gramcluster divides a computation of grambench among machines. It schedules nothing: tasks are lines of
text that Spark, Slurm, Kubernetes, xargs or a shell may carry, and results lie in a store that all
machines reach: a folder, or a bucket of S3, Google or Azure. Results have the bits of one machine.

  gramcluster plan gram -store DIR -in train.svm > tasks.jsonl   what there is to do, a line a task
  gramcluster work -store DIR < tasks.jsonl                      anywhere, any part, any number of times
  gramcluster status -store DIR -watch                           how far it is
  gramcluster gather -store DIR -o K.npy                         the result, as grambench gram writes it

work may be killed at any moment and started again: what is in the store stays, what isn't is done.`

func writeHelp(w io.Writer) {
	fmt.Fprintf(w, "%s\n\nCommands:\n", about)
	for _, k := range jobs.Kinds {
		fmt.Fprintf(w, "  %-17s %s\n", verb(k)+" "+k.Name(), k.Summary())
	}
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-17s %s\n", c.name, c.summary)
	}
	fmt.Fprint(w, "\ngramcluster help COMMAND, or COMMAND -help, lists its flags; docs/cluster.md says more.\n")
}

// help is the command help.
func help(e *env, args []string) int {
	if len(args) == 0 {
		writeHelp(e.stdout)
		return succeeded
	}
	c, _, err := find(args)
	if err != nil || c == nil {
		e.say("gramcluster help: %v", err)
		return misused
	}
	f := flag.NewFlagSet(c.name, flag.ContinueOnError)
	c.setup(f)
	c.write(e.stdout, f)
	return succeeded
}

// verb is the command that takes a kind of job.
func verb(k job.Kind) string {
	if _, ok := k.Declare(flag.NewFlagSet("", flag.ContinueOnError)).(job.Driver); ok {
		return "drive"
	}
	return "plan"
}

// find returns the command that arguments name, and the rest of them; nil for help.
func find(args []string) (*command, []string, error) {
	name, rest := args[0], args[1:]
	switch name {
	case "help", "-h", "-help", "--help":
		return nil, rest, nil
	case "plan", "drive":
		var names []string
		for _, k := range jobs.Kinds {
			if verb(k) == name {
				names = append(names, k.Name())
			}
		}
		if len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
			return nil, nil, fmt.Errorf("%s: no kind of job, expected %s KIND, one of %s", name, name,
				strings.Join(names, ", "))
		}
		k, err := job.KindOf(jobs.Kinds, rest[0])
		switch {
		case err == nil && verb(k) != name:
			return nil, nil, fmt.Errorf("%s %s, expected %s %s", name, k.Name(), verb(k), k.Name())
		case err != nil:
			return nil, nil, fmt.Errorf("%s: kind %q, expected one of %s", name, rest[0], strings.Join(names, ", "))
		case name == "drive":
			return driveCommand(k), rest[1:], nil
		}
		return planCommand(k), rest[1:], nil
	}
	var names []string
	for _, c := range commands() {
		if c.name == name {
			return c, rest, nil
		}
		names = append(names, c.name)
	}
	return nil, nil, fmt.Errorf("command %q, expected plan, drive, %s or help", name, strings.Join(names, ", "))
}

// write writes the help of a command.
func (c *command) write(w io.Writer, f *flag.FlagSet) {
	fmt.Fprintf(w, "gramcluster %s %s\n%s\n\nFlags:\n", c.name, c.args, strings.TrimRight(c.help, "\n"))
	f.VisitAll(func(g *flag.Flag) {
		value, usage := flag.UnquoteUsage(g)
		left := "-" + g.Name
		if value != "" {
			left += " " + value
		}
		if g.DefValue != "" && g.DefValue != "0" && g.DefValue != "false" {
			usage += " (default: " + g.DefValue + ")"
		}
		fmt.Fprintf(w, "  %-18s  %s\n", left, usage)
	})
}
