// Package commands lists the commands of the programs gram and gramlab. gramlab registers more
// learners.
package commands

import (
	"github.com/gramengine/gram/cmd/internal/explain"
	"github.com/gramengine/gram/cmd/internal/learners"
	"github.com/gramengine/gram/cmd/internal/matrices"
	"github.com/gramengine/gram/cmd/internal/neighbours"
	"github.com/gramengine/gram/cmd/internal/serve"
	"github.com/gramengine/gram/cmd/internal/spectral"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/source"
)

// Commands lists the commands in the order of the help text.
var Commands = []*cli.Command{
	learners.Train, learners.Predict, learners.Evaluate, learners.Grid, learners.CV, explain.Command, serve.Command,
	neighbours.Neighbours, neighbours.Duplicates, matrices.Matrix, spectral.PCA, spectral.Command, matrices.Corpus,
	matrices.Kernels, backend.Version,
}

// Topics returns the help topics. All learners must be registered before the call.
func Topics() []cli.Topic {
	return []cli.Topic{source.Topic, source.TextTopic, backend.Topic, learners.LIBSVMTopic, learners.LearnersTopic()}
}
