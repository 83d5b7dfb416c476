// Package report prints what commands find: as one JSON object or as text with tables and numbers
// that people read.
package report

import (
	"encoding/json"
	"io"
	"math"
	"strings"
)

// Report is what a command found: it marshals to the JSON object and prints itself as text.
type Report interface {
	WriteText(w io.Writer)
}

// Write prints a report at once, in the form that was asked for.
func Write(w io.Writer, r Report, asJSON bool) error {
	if !asJSON {
		var b strings.Builder
		r.WriteText(&b)
		_, err := io.WriteString(w, b.String())
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// Number is a float64 that marshals NaN and infinities as null: JSON has no other word for them.
type Number float64

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	v := float64(n)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(v)
}
