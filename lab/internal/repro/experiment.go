package repro

import "context"

// Experiment describes the experiment of a paper.
type Experiment struct {
	Name  string
	Paper string // authors, title, year and sections
	Data  string // names of the corpora that it reads
	Time  string // duration with the default settings
	Help  string // what it measures, in a few lines

	// New returns the settings with their defaults: a pointer to a struct that package params sets.
	New func() Settings
}

// Settings are the settings of an experiment.
type Settings interface {
	// Run runs the experiment. If it returns a report together with an error, the report holds the
	// complete tables. A setting out of range is a usage error.
	Run(ctx context.Context, r *Run) (*Report, error)
}
