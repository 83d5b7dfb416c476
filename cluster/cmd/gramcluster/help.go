package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/jobs"
)

// commands returns the commands in the order of the help. A function, since help is among them.
func commands() []*command {
	return []*command{&workCommand, &gatherCommand, &statusCommand, &cleanCommand}
}

const about = `gramcluster divides a computation of grambench among machines. It schedules nothing: tasks are lines
of text that Spark, Slurm, Kubernetes, xargs or a shell may carry, and results lie in a store that
all machines reach: a folder, or a bucket of S3, Google or Azure. Results have the bits of one
machine.

  gramcluster plan gram -store DIR -in train.svm > tasks.jsonl   what there is to do, a line a task
  gramcluster work -store DIR < tasks.jsonl                      anywhere, any part, again and again
  gramcluster status -store DIR -watch                           how far it is
  gramcluster gather -store DIR -o K.npy                         what grambench gram writes

work may be killed at any moment and started again: what is in the store stays, what isn't is done.`

func writeHelp(w io.Writer) {
	fmt.Fprintf(w, "%s\n\nCommands:\n", about)
	for _, k := range jobs.Kinds {
		fmt.Fprintf(w, "  %-17s %s\n", verb(k)+" "+k.Name(), k.Summary())
	}
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-17s %s\n", c.name, c.summary)
	}
	fmt.Fprint(w, "\ngramcluster help COMMAND, or COMMAND -help, says more and lists the flags; "+
		"so does docs/cluster.md.\n")
}

// help is the command help.
func help(e *env, args []string) int {
	if len(args) == 0 {
		writeHelp(e.stdout)
		return succeeded
	}
	switch name := args[0]; {
	case name == "documents":
		writeDocuments(e.stdout)
		return succeeded
	case (name == "plan" || name == "drive") && len(args) == 1:
		writeKinds(e.stdout, name)
		return succeeded
	}
	c, _, err := find(args)
	switch {
	case err != nil:
		e.say("gramcluster help: %v", err)
		return misused
	case c == nil: // help help
		writeHelp(e.stdout)
		return succeeded
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

var helpFlags = []string{"-h", "-help", "--help"}

// find returns the command that arguments name, and the rest of them; nil for help.
func find(args []string) (*command, []string, error) {
	name, rest := args[0], args[1:]
	switch name {
	case "help", helpFlags[0], helpFlags[1], helpFlags[2]:
		return nil, rest, nil
	case "plan", "drive":
		if len(rest) > 0 && slices.Contains(helpFlags, rest[0]) {
			return nil, args[:1], nil
		}
		var names []string
		for _, k := range jobs.Kinds {
			if verb(k) == name {
				names = append(names, k.Name())
			}
		}
		if len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
			return nil, nil, fmt.Errorf("%s: no kind of job, expected %s KIND, one of %s (gramcluster %s -help "+
				"lists them)", name, name, strings.Join(names, ", "), name)
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

// columns is the width of help, and margin where the texts of flags begin.
const (
	columns = 100
	margin  = 21
)

// write writes the help of a command.
func (c *command) write(w io.Writer, f *flag.FlagSet) {
	fmt.Fprintf(w, "gramcluster %s %s\n%s\n\nFlags:\n", c.name, c.args, strings.TrimRight(c.help, "\n"))
	short := documentFlags()
	f.VisitAll(func(g *flag.Flag) {
		if short.Lookup(g.Name) == nil {
			writeFlag(w, g)
		}
	})
	if f.Lookup("in") == nil {
		return
	}
	line := "Documents:"
	short.VisitAll(func(g *flag.Flag) {
		if value, _ := flag.UnquoteUsage(g); value != "" {
			line += " -" + g.Name + "\u00a0" + value // kept together
		} else {
			line += " -" + g.Name
		}
	})
	fmt.Fprintf(w, "%s\nMore: gramcluster help documents; grambench help sources; grambench kernels\n", wrapped(line, 11))
}

func writeFlag(w io.Writer, g *flag.Flag) {
	value, usage := flag.UnquoteUsage(g)
	left := "-" + g.Name
	if value != "" {
		left += " " + value
	}
	if g.DefValue != "" && g.DefValue != "0" && g.DefValue != "false" {
		usage += " (default: " + g.DefValue + ")"
	}
	fmt.Fprintln(w, wrapped(fmt.Sprintf("  %-*s ", margin-3, left)+usage, margin))
}

// wrapped breaks a line where it is too long, and indents what follows.
func wrapped(line string, indent int) string {
	at := strings.LastIndexByte(line[:min(columns+1, len(line))], ' ')
	if len([]rune(line)) <= columns || at <= indent {
		return strings.ReplaceAll(line, "\u00a0", " ")
	}
	return wrapped(line[:at], indent) + "\n" + wrapped(strings.Repeat(" ", indent)+line[at+1:], indent)
}

// documentFlags are the flags of documents but -in, which are explained by themselves.
func documentFlags() *flag.FlagSet {
	f, own := flag.NewFlagSet("", flag.ContinueOnError), flag.NewFlagSet("", flag.ContinueOnError)
	(&documents{}).declare(f)
	f.VisitAll(func(g *flag.Flag) {
		if g.Name != "in" {
			own.Var(g.Value, g.Name, g.Usage)
			own.Lookup(g.Name).DefValue = g.DefValue
		}
	})
	return own
}

// writeDocuments writes the help of documents.
func writeDocuments(w io.Writer) {
	fmt.Fprint(w, `How plan and drive read the documents of -in SOURCE: as grambench does, with its flags.
grambench help sources and grambench help text say what sources and forms there are.

Flags:
`)
	documentFlags().VisitAll(func(g *flag.Flag) { writeFlag(w, g) })
}

// writeKinds writes the help of plan or drive without a kind.
func writeKinds(w io.Writer, name string) {
	does := map[string]string{
		"plan": `Reads documents, stores them, and prints the tasks of a job, a line each, for gramcluster work. The
same documents and flags are the same job: planned twice, nothing is stored again.`,
		"drive": `Plans a computation of several jobs, each from the results of those before, has a command of yours
do their tasks, and writes what comes of it. Killed and started again with the same flags, it goes
on.`,
	}[name]
	fmt.Fprintf(w, "gramcluster %s KIND -store URL -in SOURCE [flags]\n\n%s\n\nKinds:\n", name, does)
	for _, k := range jobs.Kinds {
		if verb(k) == name {
			fmt.Fprintf(w, "  %-12s %s\n", k.Name(), k.Summary())
		}
	}
	fmt.Fprintf(w, "\ngramcluster %s KIND -help says what a task is, with an example, and lists the flags.\n", name)
}
