package machines

import (
	"flag"
	"slices"

	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/report"
)

// LearnersTopic is what help says of learners.
var LearnersTopic = cli.Topic{Name: "learners", Summary: "what -type names, other than support vector machines", Text: `
For train, cv and grid, -type also names learners other than support vector machines, with their
parameters after a colon: -type NAME:parameter=value,parameter=value. predict recognises their
models. -grid takes lists of their parameters, and of C.

` + learn.Help()}

// learner is what -type names.
type learner struct {
	*learn.Learner
	trainer learn.Trainer
}

// machineFlags are the flags of support vector machines; a learner takes those that it names.
var machineFlags = []string{
	"kernel", "embed", "scheme", "c", "nu", "epsilon", "weight", "probabilities", "reject",
	"thresholds", "tolerance", "shrinking",
	"s", "t", "g", "d", "r", "n", "p", "e", "h", "b", "backend", "gpu-mem", "gpu-tensor", "to",
	"log2c", "log2g", "one-se", "choose-time", "layers", "width",
}

// checkLearner checks that a learner has a use for the flags that were given.
func (m *machine) checkLearner() error {
	for _, q := range []struct {
		name string
		v    float64
	}{{"-c", m.c}, {"-tolerance (-e)", m.tolerance}} {
		if !(q.v > 0 && q.v < 1e300) {
			return cli.Usagef("%s %v, expected a number above 0, below 1e300", q.name, q.v)
		}
	}
	var unused string
	m.f.Visit(func(f *flag.Flag) {
		name := f.Name
		if own, ok := map[string]string{"e": "tolerance", "scale": "embed"}[name]; ok {
			name = own
		}
		if unused == "" && slices.Contains(machineFlags, name) && !m.learner.Takes(name) {
			unused = f.Name
		}
	})
	if unused != "" {
		takes := ""
		if len(m.learner.Flags) > 0 {
			takes = ", which takes " + report.Join(m.learner.Flags)
		}
		return cli.Usagef("-%s does not apply to -type %s%s", unused, m.learner.Name, takes)
	}
	if n := len(m.Specs); n > 1 && m.f.Lookup("grid") == nil {
		return cli.Usagef("%d kernels, expected one (gram grid compares several)", n)
	}
	_, err := m.options(nil)
	return err
}
