package repro

import (
	"context"
	"flag"
	"fmt"
)

// Experiment is what one paper did, and how it is repeated.
type Experiment struct {
	Name   string
	Paper  string // authors, title, journal and year, and the sections
	Data   string // which corpora it reads, by their names in the folder of data
	Time   string // how long the whole takes on which machine, such as "8 minutes on two cores"
	Waits  string // what it waits for, where it can't be run yet; empty otherwise
	Curves bool   // whether it draws learning curves, so that -plot means something
	// Help is the protocol: a paragraph that says what is measured, what is as in the paper, what the
	// paper leaves open, and examples after a line "Examples:". The help of the command has the first
	// paragraph and the examples, to fit on a screen.
	Help string

	// Listed are flags that the help of the command only lists, as ListedAs, since Help explains them.
	Listed   []string
	ListedAs string

	// Setup declares the experiment's own flags and returns the function to call when they are
	// parsed. That function returns what is complete even beside an error, such as the end of ctx;
	// the report may then be nil. It returns a [UsageError] for a flag that makes no sense, before
	// it reads anything.
	Setup func(f *flag.FlagSet) func(ctx context.Context, r *Run) (*Report, error)
}

// UsageError is a mistake in how an experiment was called.
type UsageError struct{ Err error }

// Usagef formats a [UsageError].
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

func (u UsageError) Error() string { return u.Err.Error() }

// Unwrap returns the mistake itself.
func (u UsageError) Unwrap() error { return u.Err }
