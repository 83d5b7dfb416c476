package repro

import "context"

// Experiment is an experiment of a paper that gramlab repro can run.
type Experiment struct {
	Name    string
	Paper   string // authors, title, year and sections
	Corpora string // names of the corpora that the experiment reads
	RunTime string // duration with default settings
	Help    string // description of the measured quantities, several lines

	// New returns the default settings, as a pointer to a struct for package params.
	New func() Settings
}

// Settings is implemented by the settings of an experiment.
type Settings interface {
	// Run runs the experiment. After an error, the report, if not nil, contains the completed
	// tables. If a setting is out of range, the error is a usage error.
	Run(ctx context.Context, r *Env) (*Report, error)
}
