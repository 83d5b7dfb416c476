package experiments

import (
	"strings"

	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/lab/internal/repro/cho"
	"github.com/gramengine/gram/lab/internal/repro/lafferty"
	"github.com/gramengine/gram/lab/internal/repro/lebanon"
	"github.com/gramengine/gram/lab/internal/repro/zhang"
)

// Experiments are all experiments in the order of the list.
var Experiments = []repro.Experiment{lafferty.Experiment, zhang.Experiment, cho.Experiment, lebanon.Experiment}

// Find returns the experiment of a name.
func Find(name string) (repro.Experiment, bool) {
	for _, e := range Experiments {
		if e.Name == name {
			return e, true
		}
	}
	return repro.Experiment{}, false
}

// Names lists the experiments for an error message.
func Names() string {
	var names []string
	for _, e := range Experiments {
		names = append(names, e.Name)
	}
	return strings.Join(names, ", ")
}
