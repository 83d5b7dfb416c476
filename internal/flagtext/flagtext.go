// Package flagtext formats errors that name flags. For Go programs, the same errors name fields of
// options instead. Arguments, such as file names, are unchanged.
package flagtext

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// toFields replaces flags by fields of package gram.
var toFields = strings.NewReplacer("-type ", "Type ", "-grid ", "Grid ", "-kernel ", "Kernel ",
	"-embed ", "Embedding ", "-scheme ", "Scheme ", "-thresholds 1", "Thresholds", "-tolerance ", "Tolerance ",
	"-reject ", "Reject ",
	"by Options.Kernels", "by Model.With(Options{Kernels: ...})")

// Words is text that may name flags. Errorf also replaces flags by fields in arguments of this
// type.
type Words string

// InFields returns the text with fields in place of flags.
func (w Words) InFields() string { return toFields.Replace(string(w)) }

// worded is an error with two texts: one names flags, the other fields.
type worded struct{ flags, fields error }

func (e *worded) Error() string { return e.flags.Error() }
func (e *worded) Unwrap() error { return e.flags }

// Errorf is like [fmt.Errorf], for a format that names flags.
func Errorf(format string, args ...any) error {
	return &worded{fmt.Errorf(format, args...), fmt.Errorf(Words(format).InFields(), fields(args)...)}
}

// Sprintf is like [fmt.Sprintf], but replaces flags by fields in the format and in errors from
// [Errorf].
func Sprintf(format string, args ...any) string {
	return fmt.Sprintf(Words(format).InFields(), fields(args)...)
}

// fields returns the arguments with fields in place of flags.
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

// InFields returns the text of an error. Flags in formats of [Errorf] are replaced by fields.
func InFields(err error) string {
	text := err.Error()
	each(err, func(e error) bool {
		w, is := e.(*worded)
		if is {
			text = strings.Replace(text, w.flags.Error(), w.fields.Error(), 1)
		}
		return !is
	})
	return text
}

// packages matches the package names at the start of an error.
var packages = regexp.MustCompile(`^((corpus|cuda|device|engine|geometry|gram|job|kernel|knn|landmark|learn|linear|` +
	`logistic|matrixio|model|pca|ptx|run|score|shards|solver|sparse|spectrum|store|svm|tiles|token|tune): )+`)

// TrimPackages returns the text of an error without leading package names.
func TrimPackages(text string) string { return text[len(packages.FindString(text)):] }

// Plain returns the text of an error for users of a program. It removes package names before the
// error and before the errors that it wraps. It also removes the names of failed system calls.
func Plain(err error) string {
	text := err.Error()
	each(err, func(e error) bool {
		own := e.Error()
		plain := TrimPackages(own)
		if file, is := e.(*fs.PathError); is {
			plain = file.Path + ": " + file.Err.Error()
		}
		if at := strings.LastIndex(text, own); at >= 0 {
			text = text[:at] + plain + text[at+len(own):]
		}
		return true
	})
	return text
}

// each visits an error and, if visit returns true, the errors that it wraps.
func each(err error, visit func(e error) bool) {
	if err == nil || !visit(err) {
		return
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		each(e.Unwrap(), visit)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			each(one, visit)
		}
	}
}
