// Package jobs lists the kinds of jobs that gramcluster offers.
package jobs

import (
	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/jobs/duplicates"
	"github.com/gramengine/gram/cluster/jobs/gram"
	"github.com/gramengine/gram/cluster/jobs/landmarks"
	"github.com/gramengine/gram/cluster/jobs/neighbours"
	"github.com/gramengine/gram/cluster/jobs/predict"
	"github.com/gramengine/gram/cluster/jobs/search"
	"github.com/gramengine/gram/cluster/jobs/train"
)

// Kinds lists all kinds of jobs, in the order of the help text.
var Kinds = []job.Kind{
	gram.Kind, train.Kind, search.Kind, predict.Kind, neighbours.Kind, duplicates.Kind, landmarks.Kind,
}
