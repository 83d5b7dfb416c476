package cli

import (
	"fmt"
	"io"
	"strings"
)

// printManual prints the manual page of the program, with all commands and topics, for groff or
// mandoc.
func (p *Program) printManual(w io.Writer) {
	m := &manualWriter{w}
	about := strings.TrimPrefix(strings.TrimSpace(p.Description), p.Name+" ")
	m.writeLine(`.TH %s 1 "" "%s %s" "User Commands"`, strings.ToUpper(p.Name), p.Name, Version)
	m.writeSection("NAME", p.Name+" - "+strings.Join(strings.Fields(about), " "))
	m.writeSection("SYNOPSIS", p.Name+" COMMAND [flags]")
	m.writeSection("COMMANDS", "")
	for _, c := range p.Commands {
		f, _ := c.flags()
		usage, help, examples := p.helpTexts(c, f)
		m.writeLine(".SS %s", escapeRoff(c.Name))
		m.writeText(usage + "\n\n" + help)
		f.collectFlags()
		for _, g := range f.sortedGroups() {
			if m.writeLine(".PP\n%s:", escapeRoff(g.title)); g.topic != "" {
				m.writeText(strings.Join(g.flagNames(), ", ") + ": see " + strings.ToUpper(g.topic))
				continue
			}
			m.writeFlags(g)
		}
		m.writeText("\nExamples:\n" + indent(examples))
	}
	for _, t := range p.Topics {
		m.writeSection(strings.ToUpper(t.Name), t.Text)
		if t.Declare == nil {
			continue
		}
		f := newFlags(t.Name, true)
		t.Declare(f)
		for _, g := range f.groups {
			if g.topic == t.Name {
				m.writeLine(".SS %s", escapeRoff(g.title))
				m.writeFlags(g)
			}
		}
	}
	m.writeSection("EXAMPLES", indent(p.Examples))
	m.writeSection("EXIT STATUS", "0 done, 1 failed, 2 wrong usage, 130 interrupted by ^C.")
}

// manualWriter writes text with the man macros of roff.
type manualWriter struct{ w io.Writer }

func (m *manualWriter) writeLine(format string, args ...any) { fmt.Fprintf(m.w, format+"\n", args...) }

func (m *manualWriter) writeSection(title, text string) {
	m.writeLine(".SH %s", escapeRoff(title))
	m.writeText(text)
}

func (m *manualWriter) writeFlags(g *group) {
	for _, fl := range g.flags {
		m.writeLine(".TP\n.B %s\n%s", escapeRoff(flagWithValue(fl)), escapeRoff(usageWithDefault(fl)))
	}
}

// writeText writes paragraphs. Indented lines keep their line breaks.
func (m *manualWriter) writeText(text string) {
	kept := false
	for line := range strings.Lines(strings.Trim(text, "\n")) {
		line = strings.TrimRight(line, "\n")
		if indented := strings.HasPrefix(line, " "); indented != kept && line != "" {
			m.writeLine(map[bool]string{true: ".nf", false: ".fi"}[indented])
			kept = indented
		}
		if line == "" {
			m.writeLine(".PP")
		} else {
			m.writeLine("%s", escapeRoff(line))
		}
	}
	if kept {
		m.writeLine(".fi")
	}
}

func escapeRoff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		return `\&` + line
	}
	return line
}
