// Package report represents the results of commands. A command describes its result once, as a
// [Document], which becomes text or an HTML page. JSON output consists of the report's own fields.
package report

import (
	"io"

	"github.com/gramengine/gram/internal/snake"
)

// Report is the result of a command. Its exported fields are its JSON, and it describes itself as a
// document.
type Report interface {
	Describe(d *Document)
}

// Write prints a report as text or JSON.
func Write(w io.Writer, r Report, asJSON bool) error {
	if asJSON {
		return snake.Write(w, r)
	}
	_, err := io.WriteString(w, Text(r))
	return err
}

// Text returns a report as text.
func Text(r Report) string {
	var d Document
	r.Describe(&d)
	return d.String()
}
