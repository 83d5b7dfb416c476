package repro

import (
	"context"
	"flag"
	"strings"
)

// Experiment is what one paper did, and how it is repeated.
type Experiment struct {
	Name   string
	Paper  string // authors, title, journal and year, and the sections
	Data   string // which corpora it reads, by their names in the folder of data
	Time   string // how long the whole takes on which machine, such as "8 minutes on two cores"
	Waits  string // what it waits for, where it can't be run yet; empty otherwise
	Curves bool   // it draws learning curves, so that -plot means something
	Help   string // the protocol in plain words: what is done as in the paper, what the paper leaves open and which flag decides it, examples

	// Setup declares the experiment's own flags and returns what runs when they are parsed. The report is what is complete, also beside an error, such as the
	// end of ctx; it may be nil then. A [UsageError] is a flag that makes no sense, found before anything is read.
	Setup func(f *flag.FlagSet) func(ctx context.Context, r *Run) (*Report, error)
}

// UsageError is a mistake in how an experiment was called.
type UsageError struct{ Err error }

func (u UsageError) Error() string { return u.Err.Error() }

// Unwrap returns the mistake itself.
func (u UsageError) Unwrap() error { return u.Err }

// Experiments returns all experiments in the order of the list.
func Experiments() []Experiment {
	return []Experiment{laffertyLebanon, zhangChenLee, cho, lebanonLafferty}
}

// lebanonLafferty keeps its place.
var lebanonLafferty = Experiment{
	Name:  "lebanon-lafferty",
	Paper: "Lebanon and Lafferty, Hyperplane Margin Classifiers on the Multinomial Manifold, ICML 2004",
	Data:  "webkb, reuters-modapte",
	Waits: "waits for spherical logistic regression",
}

// Find returns the experiment of a name.
func Find(name string) (Experiment, bool) {
	for _, e := range Experiments() {
		if e.Name == name {
			return e, true
		}
	}
	return Experiment{}, false
}

// Names lists the experiments for an error message.
func Names() string {
	var names []string
	for _, e := range Experiments() {
		names = append(names, e.Name)
	}
	return strings.Join(names, ", ")
}
