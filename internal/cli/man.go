package cli

import (
	"fmt"
	"io"
	"strings"
)

// man prints the manual page of the program, with all commands and topics, for groff or mandoc.
func (p *Program) man(w io.Writer) {
	m := &manual{w}
	about := strings.TrimPrefix(strings.TrimSpace(p.About), p.Name+" ")
	m.line(`.TH %s 1 "" "%s %s" "User Commands"`, strings.ToUpper(p.Name), p.Name, Version)
	m.section("NAME", p.Name+" - "+strings.Join(strings.Fields(about), " "))
	m.section("SYNOPSIS", p.Name+" COMMAND [flags]")
	m.section("COMMANDS", "")
	for _, c := range p.Commands {
		f, _ := c.flags()
		usage, help, examples := p.texts(c, f)
		m.line(".SS %s", roff(c.Name))
		m.text(usage + "\n\n" + help)
		f.collect()
		for _, g := range f.sorted() {
			if m.line(".PP\n%s:", roff(g.title)); g.topic != "" {
				m.text(strings.Join(g.names(), ", ") + ": see " + strings.ToUpper(g.topic))
				continue
			}
			m.flags(g)
		}
		m.text("\nExamples:\n" + indent(examples))
	}
	for _, t := range p.Topics {
		m.section(strings.ToUpper(t.Name), t.Text)
		if t.Declare == nil {
			continue
		}
		f := newFlags(t.Name, true)
		t.Declare(f)
		for _, g := range f.groups {
			if g.topic == t.Name {
				m.line(".SS %s", roff(g.title))
				m.flags(g)
			}
		}
	}
	m.section("EXAMPLES", indent(p.Examples))
	m.section("EXIT STATUS", "0 done, 1 failed, 2 wrong usage, 130 interrupted by ^C.")
}

// manual writes text with the man macros of roff.
type manual struct{ w io.Writer }

func (m *manual) line(format string, args ...any) { fmt.Fprintf(m.w, format+"\n", args...) }

func (m *manual) section(title, text string) {
	m.line(".SH %s", roff(title))
	m.text(text)
}

// flags writes a group of flags with their explanations.
func (m *manual) flags(g *group) {
	for _, fl := range g.flags {
		m.line(".TP\n.B %s\n%s", roff(nameOf(fl)), roff(explained(fl)))
	}
}

// text writes paragraphs. Indented lines keep their line breaks.
func (m *manual) text(text string) {
	kept := false
	for line := range strings.Lines(strings.Trim(text, "\n")) {
		line = strings.TrimRight(line, "\n")
		if indented := strings.HasPrefix(line, " "); indented != kept && line != "" {
			m.line(map[bool]string{true: ".nf", false: ".fi"}[indented])
			kept = indented
		}
		if line == "" {
			m.line(".PP")
		} else {
			m.line("%s", roff(line))
		}
	}
	if kept {
		m.line(".fi")
	}
}

// roff escapes a line for roff.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		return `\&` + line
	}
	return line
}
