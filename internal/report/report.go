// Package report has the results of commands. A command describes what it found once, as a [Document]; that is
// printed as text or becomes a page of HTML. JSON is the report's own fields.
package report

import (
	"encoding/json"
	"io"
	"math"
)

// Report is what a command found: it marshals to the JSON object and describes itself in a document.
type Report interface {
	Describe(d *Document)
}

// Write prints a report as text or JSON, in one write.
func Write(w io.Writer, r Report, asJSON bool) error {
	if !asJSON {
		_, err := io.WriteString(w, Text(r))
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// Text returns a report as text.
func Text(r Report) string {
	var d Document
	r.Describe(&d)
	return d.String()
}

// Number is a float64 that marshals NaN and infinities as null, because JSON can't express them.
type Number float64

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	v := float64(n)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(v)
}
