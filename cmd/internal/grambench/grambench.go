// Package grambench implements the program grambench and its command info.
package grambench

import (
	"github.com/gramengine/gram/cmd/internal/bench"
	"github.com/gramengine/gram/cmd/internal/soak"
	"github.com/gramengine/gram/cmd/internal/verify"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/source"
)

// Program is the program grambench. Its commands are in the order of the help text.
var Program = cli.Program{
	Name: "grambench",
	Description: `
grambench verifies every back end against a reference in float64, and measures this machine.`,
	Commands: []*cli.Command{verify.Command, bench.Command, soak.Command, Info, backend.Version},
	Topics:   []cli.Topic{source.Topic, source.TextTopic, backend.Topic, bench.SuiteTopic},
	Examples: `
grambench verify                             all kernels and instruction sets, on Go source files
grambench bench -in train.svm`,
}
