package cli

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// completion is what help says of it.
func (p *Program) completion() Topic {
	return Topic{Name: "completion", Text: strings.ReplaceAll(`
Usage: PROGRAM completion bash|zsh|fish

Prints what completes commands, flags and their values in a shell:
  bash   source <(PROGRAM completion bash)
  zsh    source <(PROGRAM completion zsh), after compinit
  fish   PROGRAM completion fish | source`, "PROGRAM", p.Name)}
}

// complete prints what completes the program's commands and flags in a shell.
func (p *Program) complete(e *Env, args []string) int {
	shells := map[string]func(io.Writer, string, []completed){
		"bash": bashCompletion,
		"zsh":  zshCompletion,
		"fish": fishCompletion,
	}
	if len(args) != 1 || shells[args[0]] == nil {
		p.completion().write(e.Stderr)
		return Misuse
	}
	return e.print(func(w io.Writer) { shells[args[0]](w, p.Name, p.completed()) })
}

// completed is a command as a shell completes it.
type completed struct {
	name, summary string
	flags         []completedFlag
	words         []string // what may follow besides flags and files
}

type completedFlag struct {
	name, usage string
	takes       bool     // a value
	choices     []string // of the value, nil for a file's name or anything else
}

// completed returns the commands, help and completion among them.
func (p *Program) completed() []completed {
	var list []completed
	topics := append(p.names(), "completion")
	for _, c := range p.Commands {
		f, _ := c.flags()
		out := completed{name: c.Name, summary: c.Summary}
		f.VisitAll(func(fl *flag.Flag) {
			_, usage := flag.UnquoteUsage(fl)
			out.flags = append(out.flags, completedFlag{fl.Name, usage, !isBool(fl), f.choices[fl.Name]})
		})
		list = append(list, out)
	}
	for _, t := range p.Topics {
		topics = append(topics, t.Name)
	}
	return append(list,
		completed{name: "completion", summary: "completion for a shell", words: []string{"bash", "zsh", "fish"}},
		completed{name: "help", summary: "the help of a command or a topic", words: topics})
}

// names returns the names of commands.
func names(list []completed) string {
	var out []string
	for _, c := range list {
		out = append(out, c.name)
	}
	return strings.Join(out, " ")
}

func bashCompletion(w io.Writer, program string, list []completed) {
	fmt.Fprintf(w, `# bash completion of %[1]s: source <(%[1]s completion bash)
_%[1]s() {
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

func zshCompletion(w io.Writer, program string, list []completed) {
	fmt.Fprintf(w, "#compdef %[1]s\n# zsh completion of %[1]s: source <(%[1]s completion zsh)\n_%[1]s() {\n"+
		"\tlocal -a commands\n\tcommands=(\n", program)
	for _, c := range list {
		fmt.Fprintf(w, "\t\t%s\n", single(c.name+":"+c.summary))
	}
	fmt.Fprint(w, "\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe command commands\n\t\treturn\n\tfi\n"+
		"\tlocal name=$words[2]\n\tshift words\n\t(( CURRENT-- ))\n\tcase $name in\n")
	for _, c := range list {
		fmt.Fprintf(w, "\t%s) _arguments", c.name)
		if c.words != nil {
			fmt.Fprintf(w, " %s", single("1: :("+strings.Join(c.words, " ")+")"))
		}
		for _, fl := range c.flags {
			text := "*-" + fl.name + "[" + strings.NewReplacer("[", "(", "]", ")", `\`, "", ":", `\:`).
				Replace(fl.usage) +
				"]"
			switch {
			case fl.choices != nil:
				text += ": :(" + strings.Join(fl.choices, " ") + ")"
			case fl.takes:
				text += ": :_files"
			}
			fmt.Fprintf(w, " \\\n\t\t%s", single(text))
		}
		if c.flags != nil {
			fmt.Fprint(w, " \\\n\t\t'*:file:_files'")
		}
		fmt.Fprint(w, " ;;\n")
	}
	fmt.Fprintf(w, "\tesac\n}\ncompdef _%[1]s %[1]s\n", program)
}

func fishCompletion(w io.Writer, program string, list []completed) {
	fmt.Fprintf(w, "# fish completion of %[1]s: %[1]s completion fish | source\n", program)
	for _, c := range list {
		fmt.Fprintf(w, "complete -c %s -n __fish_use_subcommand -f -a %s -d %s\n", program, c.name, single(c.summary))
		of := "complete -c " + program + " -n '__fish_seen_subcommand_from " + c.name + "'"
		if c.words != nil {
			fmt.Fprintf(w, "%s -f -a %s\n", of, single(strings.Join(c.words, " ")))
		}
		for _, fl := range c.flags {
			fmt.Fprintf(w, "%s -o %s -d %s", of, fl.name, single(fl.usage))
			if fl.takes {
				fmt.Fprint(w, " -r")
			}
			if fl.choices != nil {
				fmt.Fprintf(w, " -f -a %s", single(strings.Join(fl.choices, " ")))
			}
			fmt.Fprintln(w)
		}
	}
}

// single quotes a text for a shell.
func single(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
