package main

import (
	"flag"
	"fmt"
	"strings"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/jobs"
	"github.com/gramengine/gram/internal/cli"
)

// planningCommand returns the name of the command that plans jobs of kind k: plan or drive.
func planningCommand(k job.Kind) string {
	if _, ok := k.DeclareFlags(flag.NewFlagSet("", flag.ContinueOnError)).(job.Driver); ok {
		return "drive"
	}
	return "plan"
}

func kindNames(command string) (names []string) {
	for _, k := range jobs.Kinds {
		if planningCommand(k) == command {
			names = append(names, k.Name)
		}
	}
	return names
}

func kindHelp(command, does string) string {
	text := does + "\n\nKinds:\n"
	for _, k := range jobs.Kinds {
		if planningCommand(k) == command {
			text += fmt.Sprintf("  %-12s %s\n", k.Name, k.Summary)
		}
	}
	return text + fmt.Sprintf("\ngramcluster %s KIND -help describes a kind, with an example and its flags.", command)
}

// selectKind makes the command's first argument select a kind of job. When arguments are parsed, it
// declares the kind's flags, and calls take with the kind and the kind's planner.
func selectKind(f *cli.Flags, command, usage string, take func(job.Kind, job.Planner)) {
	f.Usage = fmt.Sprintf("gramcluster %s KIND %s", command, usage)
	f.RewriteArgs = func(args []string) ([]string, error) {
		names := strings.Join(kindNames(command), ", ")
		switch {
		case len(args) > 0 && (args[0] == "-h" || args[0] == "-help" || args[0] == "--help"):
			return args, nil
		case len(args) == 0 || strings.HasPrefix(args[0], "-"):
			return nil, cli.Usagef("the kind of job is required, as in %s KIND; valid kinds are %s", command, names)
		}
		k, err := job.FindKind(jobs.Kinds, args[0])
		if err != nil {
			return nil, cli.Usagef("unknown kind %q; valid kinds are %s", args[0], names)
		}
		if of := planningCommand(k); of != command {
			return nil, cli.Usagef("%s %s does not exist; use %s %s", command, k.Name, of, k.Name)
		}
		name := command + " " + k.Name
		f.Init(name, flag.ContinueOnError)
		f.Usage, f.Help = fmt.Sprintf("gramcluster %s %s", name, usage), k.Help
		f.StartGroup("Task", "")
		take(k, k.DeclareFlags(f.FlagSet))
		return args[1:], nil
	}
}
