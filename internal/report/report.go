// Package report represents the results of commands. A command describes its result once as a
// [Document], which is printed as text or HTML. JSON output contains the report's exported fields.
package report

import (
	"io"

	"github.com/gramengine/gram/internal/snake"
)

// Report is the result of a command. Describe adds the report to a document.
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
