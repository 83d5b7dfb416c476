package cli

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gramengine/gram/internal/report"
)

const helpWidth = 100

type group struct {
	title string
	topic string // help topic that explains the flags; the command's help then only lists them
	flags []*flag.Flag
}

// maxListedFlags is the maximum number of a topic's flags that a command's help lists. If there are
// more, the help only names the topic.
const maxListedFlags = 12

// StartGroup starts or continues a group of flags, which contains the flags declared before the
// next call. If the group has a help topic, the topic explains the flags, and the help of commands
// only lists them.
func (f *Flags) StartGroup(title, topic string) {
	f.collectFlags()
	at := slices.IndexFunc(f.groups, func(g *group) bool { return g.title == title })
	if at < 0 {
		at = len(f.groups)
		f.groups = append(f.groups, &group{title: title, topic: topic})
	}
	f.currentGroup = f.groups[at]
}

// sortedGroups returns the groups, with the output group last.
func (f *Flags) sortedGroups() []*group {
	return append(f.groups[1:len(f.groups):len(f.groups)], f.groups[0])
}

func (g *group) flagNames() (names []string) {
	for _, fl := range g.flags {
		if names = append(names, flagWithValue(fl)); fl.Name == "in" && fl.DefValue != "" {
			names = append(names, "("+fl.DefValue+" by default)")
		}
	}
	return names
}

// collectFlags adds the flags without a group to the current group.
func (f *Flags) collectFlags() {
	f.VisitAll(func(fl *flag.Flag) {
		if !f.grouped[fl.Name] {
			f.grouped[fl.Name] = true
			f.currentGroup.flags = append(f.currentGroup.flags, fl)
		}
	})
}

// StringVar declares a flag as package flag does. Groups list flags in the order of declaration.
func (f *Flags) StringVar(p *string, name, value, usage string) {
	f.FlagSet.StringVar(p, name, value, usage)
	f.collectFlags()
}

// IntVar declares a flag, see StringVar.
func (f *Flags) IntVar(p *int, name string, value int, usage string) {
	f.FlagSet.IntVar(p, name, value, usage)
	f.collectFlags()
}

// Float64Var declares a flag, see StringVar.
func (f *Flags) Float64Var(p *float64, name string, value float64, usage string) {
	f.FlagSet.Float64Var(p, name, value, usage)
	f.collectFlags()
}

// BoolVar declares a flag, see StringVar.
func (f *Flags) BoolVar(p *bool, name string, value bool, usage string) {
	f.FlagSet.BoolVar(p, name, value, usage)
	f.collectFlags()
}

// Var declares a flag, see StringVar.
func (f *Flags) Var(value flag.Value, name, usage string) {
	f.FlagSet.Var(value, name, usage)
	f.collectFlags()
}

// Topic is a help text that several commands share.
type Topic struct {
	Name, Summary string // the list of topics omits a topic without a summary
	Text          string
	Declare       func(f *Flags) // declares the flags of the topic; nil for none
}

func (t Topic) write(w io.Writer) {
	fmt.Fprintln(w, strings.TrimSpace(t.Text))
	if t.Declare == nil {
		return
	}
	f := NewFlags(t.Name)
	t.Declare(f)
	for _, g := range f.groups {
		if g.topic == t.Name {
			fmt.Fprintf(w, "\n%s:\n", g.title)
			writeFlags(w, g.flags)
		}
	}
}

func (p *Program) printOverview(w io.Writer) {
	fmt.Fprintf(w, "%s\n\nUsage: %s COMMAND [flags]\n\nCommands:\n", strings.TrimSpace(p.Description), p.Name)
	for _, c := range p.Commands {
		fmt.Fprintf(w, "  %-10s %s\n", c.Name, c.Summary)
	}
	fmt.Fprintf(w, "  %-10s %s\n", "completion", "print a completion script for bash, zsh or fish")
	fmt.Fprintf(w, "  %-10s %s\n", "man", "print all help texts as a manual page")
	fmt.Fprintf(w, "  %-10s show help on a command or topic, such as %s help %s\n", "help", p.Name, p.Commands[0].Name)
	fmt.Fprint(w, "\nHelp topics:\n")
	for _, t := range p.Topics {
		if t.Summary != "" {
			fmt.Fprintf(w, "  %-10s %s\n", t.Name, t.Summary)
		}
	}
	fmt.Fprintf(w, "\nExamples:\n%s", indent(p.Examples))
	fmt.Fprint(w, "\nResults go to standard output, progress and diagnostics to standard error.\n"+
		"Exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted by ^C.\n")
}

// helpTexts returns the usage line, the description and the examples of a command.
func (p *Program) helpTexts(c *Command, f *Flags) (usage, help, examples string) {
	usage, help, examples = f.Usage, f.Help, f.Examples
	if usage == "" {
		args := c.ArgsUsage
		if args == "" && len(f.positional) == 1 {
			args = "[" + strings.ToUpper(f.positional[0].ValueName) + "]"
		}
		usage = strings.TrimSpace(p.Name + " " + c.Name + " [flags] " + args)
	}
	if help == "" {
		help = c.Help
	}
	if examples == "" {
		examples = c.Examples
	}
	return usage, strings.TrimSpace(help), examples
}

func (p *Program) writeHelp(c *Command, w io.Writer, f *Flags) {
	f.collectFlags()
	usage, help, examples := p.helpTexts(c, f)
	fmt.Fprintf(w, "Usage: %s\n\n%s\n\n", usage, help)
	var listed, topics []string
	for _, g := range f.sortedGroups() {
		switch {
		case g.topic != "":
			names := g.flagNames()
			var b strings.Builder
			report.Wrap(&b, g.title+": ", strings.Join(names, "  "), helpWidth)
			if len(names) <= maxListedFlags {
				listed = append(listed, b.String())
			}
			if !slices.Contains(topics, g.topic) {
				topics = append(topics, g.topic)
			}
		default:
			fmt.Fprintf(w, "%s:\n", g.title)
			writeFlags(w, g.flags)
		}
	}
	fmt.Fprint(w, strings.Join(listed, ""))
	if examples != "" {
		fmt.Fprintf(w, "\nExamples:\n%s", indent(examples))
	}
	if len(topics) > 0 {
		more := p.Name + " help " + strings.Join(topics, ", ")
		if f.Lookup("kernel") != nil && slices.Contains(p.commandNames(), "kernels") {
			more += "; " + p.Name + " kernels"
		}
		fmt.Fprintf(w, "\nMore: %s\n", more)
	}
}

// flagWithValue returns a flag with the name of its value, such as "-m SIZE".
func flagWithValue(fl *flag.Flag) string {
	arg, _ := flag.UnquoteUsage(fl)
	return strings.TrimSpace("-" + fl.Name + " " + arg)
}

// flagUsage returns the usage text of a flag without a leading "VALUE: ".
func flagUsage(fl *flag.Flag) string {
	arg, text := flag.UnquoteUsage(fl)
	return strings.TrimPrefix(text, arg+": ")
}

func usageWithDefault(fl *flag.Flag) string {
	if fl.DefValue != "" && fl.DefValue != "0" && fl.DefValue != "false" {
		return flagUsage(fl) + " (default: " + fl.DefValue + ")"
	}
	return flagUsage(fl)
}

func writeFlags(w io.Writer, flags []*flag.Flag) {
	for _, fl := range flags {
		report.Wrap(w, "  "+report.Pad(flagWithValue(fl), 18)+" ", usageWithDefault(fl), helpWidth)
	}
}

func indent(lines string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(lines), "\n", "\n  ") + "\n"
}
