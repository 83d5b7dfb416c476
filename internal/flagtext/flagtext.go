// Package flagtext words errors for two readers. Formats name flags, as users of the command know them. Go programs
// get the same text with fields of options instead. What is formatted, such as the name of a file, stays as it is.
package flagtext

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// toFields turns flags of own words into fields of package gram.
var toFields = strings.NewReplacer("-type ", "Type ", "-grid ", "Grid ", "-kernel ", "Kernel ",
	"-embed ", "Embedding ", "-scheme ", "Scheme ", "-thresholds 1", "Thresholds", "-tolerance ", "Tolerance ",
	"-reject ", "Reject ",
	"PredictOptions.Kernels[", "Kernels[", "PredictOptions.Kernels", "Model.With(Options{Kernels: ...})")

// Words are the program's own words, which may name flags: in the arguments of [Errorf] fields stand for these, too.
type Words string

// InFields returns words that name fields.
func (w Words) InFields() string { return toFields.Replace(string(w)) }

// worded is an error in both forms.
type worded struct{ flags, fields error }

func (e *worded) Error() string { return e.flags.Error() }
func (e *worded) Unwrap() error { return e.flags }

// Errorf is [fmt.Errorf] with a format that names flags.
func Errorf(format string, args ...any) error {
	return &worded{fmt.Errorf(format, args...), fmt.Errorf(Words(format).InFields(), fields(args)...)}
}

// Sprintf is [fmt.Sprintf] with fields in place of the flags that a format and errors of [Errorf] name.
func Sprintf(format string, args ...any) string {
	return fmt.Sprintf(Words(format).InFields(), fields(args)...)
}

// fields returns arguments that name fields.
func fields(args []any) []any {
	args = slices.Clone(args)
	for i, arg := range args {
		switch arg := arg.(type) {
		case Words:
			args[i] = arg.InFields()
		case error:
			args[i] = errors.New(InFields(arg))
		}
	}
	return args
}

// InFields returns the text of an error with fields in place of the flags that formats of [Errorf] named.
func InFields(err error) string {
	text := err.Error()
	each(err, func(e *worded) { text = strings.Replace(text, e.flags.Error(), e.fields.Error(), 1) })
	return text
}

// each visits the errors of Errorf that no other one holds.
func each(err error, visit func(e *worded)) {
	switch e := err.(type) {
	case *worded:
		visit(e)
	case interface{ Unwrap() error }:
		each(e.Unwrap(), visit)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			each(one, visit)
		}
	}
}
