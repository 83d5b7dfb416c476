package cli

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// completion is the help topic of shell completion.
func (p *Program) completion() Topic {
	return Topic{Name: "completion", Text: strings.ReplaceAll(`
Usage: PROGRAM completion bash|zsh

Prints what completes commands, flags and their values in a shell:
  bash   source <(PROGRAM completion bash)
  zsh    source <(PROGRAM completion zsh), after compinit`, "PROGRAM", p.Name)}
}

// complete prints a shell's completion script for the program's commands and flags.
func (p *Program) complete(e *Env, args []string) int {
	before := map[string]string{"bash": "# ", "zsh": "autoload -Uz bashcompinit && bashcompinit\n# "}
	if len(args) != 1 || before[args[0]] == "" {
		p.completion().write(e.Stderr)
		return Misuse
	}
	return e.print(func(w io.Writer) {
		fmt.Fprintf(w, "%scompletion of %s: source <(%[2]s completion %s)\n", before[args[0]], p.Name, args[0])
		writeCompletion(w, p.Name, p.completed())
	})
}

// completed is a command for shell completion.
type completed struct {
	name  string
	flags []completedFlag
	words []string // arguments other than flags and files
}

type completedFlag struct {
	name    string
	choices []string // values of the flag; nil for a file name or any text
}

// completed returns all commands, including help and completion.
func (p *Program) completed() []completed {
	var list []completed
	topics := append(p.names(), "completion")
	for _, c := range p.Commands {
		f, _ := c.flags()
		out := completed{name: c.Name}
		f.VisitAll(func(fl *flag.Flag) { out.flags = append(out.flags, completedFlag{fl.Name, f.choices[fl.Name]}) })
		list = append(list, out)
	}
	for _, t := range p.Topics {
		topics = append(topics, t.Name)
	}
	return append(list, completed{name: "completion", words: []string{"bash", "zsh"}},
		completed{name: "help", words: topics})
}

func names(list []completed) string {
	var out []string
	for _, c := range list {
		out = append(out, c.name)
	}
	return strings.Join(out, " ")
}

// writeCompletion writes a bash function, which zsh supports through bashcompinit.
func writeCompletion(w io.Writer, program string, list []completed) {
	fmt.Fprintf(w, `_%[1]s() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=
	if [ "$COMP_CWORD" -eq 1 ]; then
		COMPREPLY=($(compgen -W "%[2]s" -- "$word"))
		return
	fi
	case ${COMP_WORDS[1]}:$before in
`, program, names(list))
	for _, c := range list {
		for _, fl := range c.flags {
			if fl.choices != nil {
				fmt.Fprintf(w, "\t%s:-%s) words=\"%s\" ;;\n", c.name, fl.name, strings.Join(fl.choices, " "))
			}
		}
	}
	fmt.Fprint(w, "\tesac\n\t[ -n \"$words\" ] || case ${COMP_WORDS[1]}:$word in\n")
	for _, c := range list {
		words, pattern := slices.Clone(c.words), c.name+":*"
		for _, fl := range c.flags {
			words, pattern = append(words, "-"+fl.name), c.name+":-*"
		}
		fmt.Fprintf(w, "\t%s) words=\"%s\" ;;\n", pattern, strings.Join(words, " "))
	}
	fmt.Fprintf(w, `	esac
	[ -z "$words" ] || COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _%[1]s %[1]s
`, program)
}
