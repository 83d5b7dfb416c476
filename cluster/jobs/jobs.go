// Package jobs lists the kinds of jobs.
package jobs

import (
	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/jobs/gram"
)

// Kinds are all kinds, in the order of the help.
var Kinds = []job.Kind{gram.Kind}
