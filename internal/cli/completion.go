package cli

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

func (p *Program) completionTopic() Topic {
	return Topic{Name: "completion", Text: strings.ReplaceAll(`
Usage: PROGRAM completion bash|zsh|fish

Prints what completes commands, flags and their values in a shell:
  bash   source <(PROGRAM completion bash)
  zsh    source <(PROGRAM completion zsh), after compinit
  fish   PROGRAM completion fish | source`, "PROGRAM", p.Name)}
}

func (p *Program) printCompletion(e *Env, args []string) int {
	before := map[string]string{"bash": "# ", "zsh": "autoload -Uz bashcompinit && bashcompinit\n# "}
	switch {
	case len(args) == 1 && args[0] == "fish":
		return e.printText(func(w io.Writer) { writeFish(w, p.Name, p.completionCommands()) })
	case len(args) != 1 || before[args[0]] == "":
		p.completionTopic().write(e.Stderr)
		return ExitUsage
	}
	return e.printText(func(w io.Writer) {
		fmt.Fprintf(w, "%scompletion of %s: source <(%[2]s completion %s)\n", before[args[0]], p.Name, args[0])
		writeCompletion(w, p.Name, p.completionCommands())
	})
}

type completionCommand struct {
	name, summary string
	flags         []completionFlag
	arguments     []string // arguments other than flags and files
}

type completionFlag struct {
	*flag.Flag
	choices []string // values of the flag; nil for a file name or any text
}

// completionCommands returns all commands, including completion, man and help.
func (p *Program) completionCommands() []completionCommand {
	var list []completionCommand
	topics := append(p.commandNames(), "completion")
	for _, c := range p.Commands {
		f, _ := c.flags()
		out := completionCommand{name: c.Name, summary: c.Summary}
		f.VisitAll(func(fl *flag.Flag) { out.flags = append(out.flags, completionFlag{fl, f.choices[fl.Name]}) })
		list = append(list, out)
	}
	for _, t := range p.Topics {
		topics = append(topics, t.Name)
	}
	return append(list, completionCommand{name: "completion", arguments: []string{"bash", "zsh", "fish"}},
		completionCommand{name: "man"},
		completionCommand{name: "help", arguments: topics})
}

func joinCommandNames(list []completionCommand) string {
	var out []string
	for _, c := range list {
		out = append(out, c.name)
	}
	return strings.Join(out, " ")
}

// writeCompletion writes a bash function, which zsh supports through bashcompinit.
func writeCompletion(w io.Writer, program string, list []completionCommand) {
	fmt.Fprintf(w, `_%[1]s() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=
	if [ "$COMP_CWORD" -eq 1 ]; then
		COMPREPLY=($(compgen -W "%[2]s" -- "$word"))
		return
	fi
	case ${COMP_WORDS[1]}:$before in
`, program, joinCommandNames(list))
	for _, c := range list {
		for _, fl := range c.flags {
			if fl.choices != nil {
				fmt.Fprintf(w, "\t%s:-%s) words=\"%s\" ;;\n", c.name, fl.Name, strings.Join(fl.choices, " "))
			}
		}
	}
	fmt.Fprint(w, "\tesac\n\t[ -n \"$words\" ] || case ${COMP_WORDS[1]}:$word in\n")
	for _, c := range list {
		words, pattern := slices.Clone(c.arguments), c.name+":*"
		for _, fl := range c.flags {
			words, pattern = append(words, "-"+fl.Name), c.name+":-*"
		}
		fmt.Fprintf(w, "\t%s) words=\"%s\" ;;\n", pattern, strings.Join(words, " "))
	}
	fmt.Fprintf(w, `	esac
	[ -z "$words" ] || COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _%[1]s %[1]s
`, program)
}

func writeFish(w io.Writer, program string, list []completionCommand) {
	quote := func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'" }
	fmt.Fprintf(w, "# completion of %s: %[1]s completion fish | source\n", program)
	for _, c := range list {
		fmt.Fprintf(w, "complete -c %s -n __fish_use_subcommand -f -a %s -d %s\n", program, c.name, quote(c.summary))
		seen := fmt.Sprintf("complete -c %s -n '__fish_seen_subcommand_from %s'", program, c.name)
		if c.arguments != nil {
			fmt.Fprintf(w, "%s -f -a %s\n", seen, quote(strings.Join(c.arguments, " ")))
		}
		for _, fl := range c.flags {
			value := " -r" // a file name or any text
			if fl.choices != nil {
				value = " -x -a " + quote(strings.Join(fl.choices, " "))
			} else if isBool(fl.Flag) {
				value = ""
			}
			fmt.Fprintf(w, "%s -o %s%s -d %s\n", seen, fl.Name, value, quote(flagUsage(fl.Flag)))
		}
	}
}
