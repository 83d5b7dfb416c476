// Package flagtext formats errors that name flags. For Go programs, the same errors name fields of
// options instead. Other text in the errors, such as file names, is unchanged.
package flagtext

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// flagReplacer replaces flags by fields of package gram's options.
var flagReplacer = strings.NewReplacer("-type ", "Type ", "-grid ", "Grid ", "-kernel ", "Kernel ",
	"-embed ", "Embedding ", "-scheme ", "Scheme ", "-thresholds 1", "Thresholds", "-tolerance ", "Tolerance ",
	"-reject ", "Reject ",
	"by Options.Kernels", "by Model.With(Options{Kernels: ...})")

// FlagText is text that may name flags. Errorf also replaces flags by fields in arguments of this
// type.
type FlagText string

// ReplaceFlags returns the text with fields in place of flags.
func (w FlagText) ReplaceFlags() string { return flagReplacer.Replace(string(w)) }

// flagError is an error with two texts: one names flags, the other fields.
type flagError struct{ withFlags, withFields error }

func (e *flagError) Error() string { return e.withFlags.Error() }
func (e *flagError) Unwrap() error { return e.withFlags }

// Errorf is like [fmt.Errorf], for a format that names flags.
func Errorf(format string, args ...any) error {
	return &flagError{fmt.Errorf(format, args...), fmt.Errorf(FlagText(format).ReplaceFlags(), fieldArgs(args)...)}
}

// Sprintf is like [fmt.Sprintf], but replaces flags by fields in the format and in errors from
// [Errorf].
func Sprintf(format string, args ...any) string {
	return fmt.Sprintf(FlagText(format).ReplaceFlags(), fieldArgs(args)...)
}

// fieldArgs returns the arguments with fields in place of flags.
func fieldArgs(args []any) []any {
	args = slices.Clone(args)
	for i, arg := range args {
		switch arg := arg.(type) {
		case FlagText:
			args[i] = arg.ReplaceFlags()
		case error:
			args[i] = errors.New(FieldMessage(arg))
		}
	}
	return args
}

// FieldMessage returns the text of an error. Flags in formats of [Errorf] are replaced by fields.
func FieldMessage(err error) string {
	text := err.Error()
	walkErrors(err, func(e error) bool {
		w, is := e.(*flagError)
		if is {
			text = strings.Replace(text, w.withFlags.Error(), w.withFields.Error(), 1)
		}
		return !is
	})
	return text
}

// packagePrefix matches the package names at the start of an error.
var packagePrefix = regexp.MustCompile(`^((corpus|cuda|device|engine|geometry|gram|job|kernel|knn|landmark|learn|` +
	`linear|logistic|matrixio|model|pca|ptx|run|score|shards|solver|sparse|spectrum|store|svm|tiles|token|tune): )+`)

// TrimPackages returns the text of an error without leading package names.
func TrimPackages(text string) string { return text[len(packagePrefix.FindString(text)):] }

// UserMessage returns the text of an error for users of a program. It removes package names before
// the error and before the errors that it wraps. It also removes the names of failed system calls.
func UserMessage(err error) string {
	text := err.Error()
	walkErrors(err, func(e error) bool {
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

// walkErrors visits an error and, if visit returns true, the errors that it wraps.
func walkErrors(err error, visit func(e error) bool) {
	if err == nil || !visit(err) {
		return
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		walkErrors(e.Unwrap(), visit)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			walkErrors(one, visit)
		}
	}
}
