package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/gramengine/gram/internal/report"
)

// Flags holds the flags of a command for one run. A command composes its flags from groups. A group
// is a small struct with a Declare method, which declares flags, their checks, and the files that
// they name.
type Flags struct {
	*flag.FlagSet
	ProgramName string // name of the program, for commands that a report suggests

	JSON  bool // true to print one JSON object instead of text
	Quiet bool // true to print neither progress nor messages, nor a report if -o writes the result

	ReportPath string // value of -report, see DeclareReport

	PrintsResult bool // true if the command prints its result, not only a report, when -o is unset

	MaxArgs     int                                   // maximum number of arguments besides flags
	Args        []string                              // arguments besides flags
	positional  []Argument                            // see SetArguments
	RewriteArgs func(args []string) ([]string, error) // converts arguments in other programs' syntax; nil for none

	Usage, Help, Examples string // texts that depend on the arguments; "" for the command's text

	groups       []*group
	currentGroup *group // group of the flags that are declared next
	grouped      map[string]bool
	choices      map[string][]string // values of flags for shell completion
	checks       []func() error
	wrapper      func(context.Context, *Env, RunFunc) error
	cleanups     []func() error
	inputs       []input
	outputs      []output
}

// NewFlags makes the flags of a command, including -json.
func NewFlags(name string) *Flags { return newFlags(name, true) }

func newFlags(name string, hasJSON bool) *Flags {
	f := &Flags{
		FlagSet:     flag.NewFlagSet(name, flag.ContinueOnError),
		ProgramName: "gram",
		choices:     map[string][]string{},
		grouped:     map[string]bool{},
	}
	f.SetOutput(io.Discard) // the caller prints errors and help
	f.wrapper = func(ctx context.Context, e *Env, work RunFunc) error { return work(ctx, e) }
	f.StartGroup("Output", "")
	if hasJSON {
		f.BoolVar(&f.JSON, "json", false, "print the report as a JSON object")
	}
	f.BoolVar(&f.Quiet, "q", false, "print errors only: no progress, no warnings, and no report if -o is set")
	return f
}

// AddCheck adds a check of the flags. Checks are called in the order in which they were added,
// after all flags are parsed and before anything is read.
func (f *Flags) AddCheck(check func() error) { f.checks = append(f.checks, check) }

// WrapWork wraps the command's work in run, which calls the work once or several times.
func (f *Flags) WrapWork(run func(context.Context, *Env, RunFunc) error) { f.wrapper = run }

// Cleanup adds a function that is called when the command has ended, even after an error.
func (f *Flags) Cleanup(end func() error) { f.cleanups = append(f.cleanups, end) }

// IsSet reports whether at least one of the named flags was set.
func (f *Flags) IsSet(names ...string) bool {
	given := false
	f.Visit(func(fl *flag.Flag) { given = given || slices.Contains(names, fl.Name) })
	return given
}

// ChoiceVar declares a flag with a list of choices. others are accepted but not listed.
func (f *Flags) ChoiceVar(value *string, name, fallback, usage string, choices []string, others ...string) {
	f.StringVar(value, name, fallback, usage)
	f.choices[name] = choices
	f.AddCheck(func() error {
		if *value == fallback || slices.Contains(choices, *value) || slices.Contains(others, *value) {
			return nil
		}
		last := len(choices) - 1
		return Usagef("-%s must be %s or %s, got %q", name, report.Join(choices[:last]), choices[last], *value)
	})
}

// SetChoices sets the values that shell completion offers for a flag.
func (f *Flags) SetChoices(name string, choices ...string) { f.choices[name] = choices }

// Argument is a positional argument that replaces a flag.
type Argument struct{ Flag, ValueName string } // for example "in" and "source"

// SetArguments sets the flags that positional arguments replace, in order. It replaces earlier
// settings.
func (f *Flags) SetArguments(places ...Argument) { f.positional, f.MaxArgs = places, len(places) }

// setPositional sets the flags of positional arguments. An argument skips flags that are set
// already, unless the argument would then name a file to overwrite.
func (f *Flags) setPositional() error {
	place, places := 0, f.positional[:min(len(f.Args), len(f.positional))]
	writes := func(o output) bool { return o.flag == "-"+f.positional[place+1].Flag }
	for i := range places {
		_, err := os.Lstat(f.Args[i])
		for f.IsSet(f.positional[place].Flag) && place+1 < len(f.positional) &&
			(errors.Is(err, fs.ErrNotExist) || !slices.ContainsFunc(f.outputs, writes)) {
			place++
		}
		at := f.positional[place]
		if f.IsSet(at.Flag) {
			return Usagef("-%s %s and the argument %q both name a %s", at.Flag,
				f.Lookup(at.Flag).Value, f.Args[i], at.ValueName)
		}
		if err := f.Set(at.Flag, f.Args[i]); err != nil {
			return UsageError{err}
		}
		place = min(place+1, len(f.positional)-1)
	}
	return nil
}

// Parse parses the command-line arguments, sets the flags and runs the checks.
func (f *Flags) Parse(args []string) error {
	if err := f.parseArgs(args); err != nil {
		return err
	}
	if err := f.setPositional(); err != nil {
		return err
	}
	for _, check := range f.checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// parseArgs parses flags, and the arguments between and after the flags.
func (f *Flags) parseArgs(args []string) error {
	if f.RewriteArgs != nil {
		var err error
		if args, err = f.RewriteArgs(args); err != nil {
			return err
		}
	}
	f.VisitAll(func(fl *flag.Flag) {
		if _, several := fl.Value.(interface{ Several() }); !several {
			fl.Value = &onceValue{Value: fl.Value}
		}
	})
	for {
		if err := f.FlagSet.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return err
			}
			return f.explain(err)
		}
		switch {
		case f.NArg() == 0:
			return nil
		case f.MaxArgs == 0:
			return Usagef("unexpected argument %q; the command takes only flags", f.Arg(0))
		case len(f.Args) == f.MaxArgs:
			return Usagef("unexpected argument %q after %s", f.Arg(0), report.Join(f.Args))
		}
		f.Args, args = append(f.Args, f.Arg(0)), f.FlagSet.Args()[1:]
	}
}

// explain turns an error of package flag into a usage error, with the flag that was probably meant,
// or the allowed values.
func (f *Flags) explain(err error) error {
	const unknown = "flag provided but not defined: -"
	if text := err.Error(); len(text) > len(unknown) && text[:len(unknown)] == unknown {
		var names []string
		f.VisitAll(func(fl *flag.Flag) { names = append(names, "-"+fl.Name) })
		for _, name := range slices.Sorted(maps.Keys(f.choices)) {
			if choice := text[len(unknown):]; slices.Contains(f.choices[name], choice) {
				return Usagef("%w; did you mean -%s %s?", err, name, choice)
			}
		}
		return Usagef("%w%s", err, suggestion(text[len(unknown)-1:], names))
	} else if plain, is := strings.CutSuffix(text, ": parse error"); is {
		wanted := "a number"
		if strings.Contains(plain, "boolean") {
			wanted = "true or false"
		}
		return Usagef("%s: must be %s", plain, wanted)
	}
	return UsageError{err}
}

// onceValue is the value of a flag that may be repeated only with the same text, so that no value
// silently replaces another.
type onceValue struct {
	flag.Value
	isSet bool
	text  string
}

func (o *onceValue) Set(text string) error {
	if o.isSet && text != o.text {
		return fmt.Errorf("already set to %q", o.text)
	}
	o.isSet, o.text = true, text
	return o.Value.Set(text)
}

// IsBoolFlag reports whether the wrapped value is a boolean flag.
func (o *onceValue) IsBoolFlag() bool {
	b, ok := o.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// isBool reports whether a flag takes no value.
func isBool(fl *flag.Flag) bool {
	b, ok := fl.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// IsBool reports whether a flag is declared and takes no value.
func (f *Flags) IsBool(name string) bool {
	fl := f.Lookup(name)
	return fl != nil && isBool(fl)
}
