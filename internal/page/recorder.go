package page

import (
	"cmp"
	"strings"

	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/report"
)

// Completer is a report that adds to its page: a title, figures, charts, documents.
type Completer interface{ CompletePage(p *Page) error }

// WriteFile writes the page of a command's report to a file.
func WriteFile(file, command string, r report.Report) error {
	p := Of(command, r)
	if own, is := r.(Completer); is {
		if err := own.CompletePage(p); err != nil {
			return err
		}
	}
	_, err := matrixio.Make(file, p.Write)
	return err
}

// Of makes the page of a report from what it writes as text: the first line leads, other lines are one section,
// and each table is one that sorts.
func Of(title string, r report.Report) *Page {
	to := recorder{lines: Section{Title: "Summary"}}
	r.WriteText(&to)
	_, _ = to.Write([]byte("\n")) // where the last line has none
	to.flush()
	return &Page{Title: title, Lead: to.lead, Sections: append([]Section{to.lines}, to.tables...)}
}

// recorder takes apart what a report writes.
type recorder struct {
	lead    string
	lines   Section
	tables  []Section
	begun   string // a line without its end
	heading string // the line before, where it follows an empty one
	empty   bool   // the line before is
}

// Write takes lines. One that begins with blanks goes on with the line before.
func (r *recorder) Write(b []byte) (int, error) {
	lines := strings.Split(r.begun+string(b), "\n")
	r.begun = lines[len(lines)-1]
	for _, line := range lines[:len(lines)-1] {
		text, facts, after := strings.TrimSpace(line), r.lines.Facts, r.empty
		if r.empty = text == ""; r.lead == "" {
			r.lead = text
		} else if line != text && r.heading != "" {
			r.heading += " " + text
		} else if line != text && len(facts) > 0 {
			facts[len(facts)-1][1] += " " + text
		} else if r.flush(); after {
			r.heading = text
		} else {
			r.add(text)
		}
	}
	return len(b), nil
}

// flush adds a line that no table followed.
func (r *recorder) flush() {
	r.add(r.heading)
	r.heading = ""
}

// add adds a line: a fact where it begins with a name and a colon.
func (r *recorder) add(text string) {
	name, value, is := strings.Cut(text, ": ")
	if is && len(name) <= 40 && !strings.Contains(name, ";") {
		r.lines.Facts = append(r.lines.Facts, [2]string{name, value})
	} else if text != "" {
		r.lines.Text = strings.TrimPrefix(r.lines.Text+"\n"+text, "\n")
	}
}

// WriteTable implements [report.TableWriter]. A table without a name has the heading before it, up to a colon.
func (r *recorder) WriteTable(t *report.Table) {
	title, text := t.Name, r.heading
	if title == "" {
		title, text, _ = strings.Cut(r.heading, ": ")
	}
	if r.heading, r.empty = "", false; len(t.Rows()) > 0 {
		r.tables = append(r.tables, Section{Title: cmp.Or(title, t.Titles()[0]), Text: text, Table: t})
	}
}
