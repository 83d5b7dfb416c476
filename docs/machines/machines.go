// Package machines is the book of results: a file of bench -suite for each machine that was measured, with the one that
// the index refers to. docs/machines.md is made of the files.
package machines

import (
	"embed"

	"github.com/gramengine/gram/internal/instrument"
)

//go:embed *.json
var files embed.FS

// Reference is the machine whose rates are 100 in the index, version 1. Another one would be another index.
const Reference = "xeon-amx-2"

// Load returns the result of a machine by its name.
func Load(name string) (*instrument.Result, error) {
	text, err := files.ReadFile(name + ".json")
	if err != nil {
		return nil, err
	}
	return instrument.Parse("docs/machines/"+name+".json", text)
}
