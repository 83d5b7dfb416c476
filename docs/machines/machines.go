// Package machines is the book of results: a file of bench -suite for each machine that was measured, with the one that
// the index refers to. README.md beside it is made of the files.
package machines

import (
	"embed"
	"fmt"
	"strings"

	"github.com/gramengine/gram/internal/instrument"
)

//go:embed *.json
var files embed.FS

// Reference is the machine whose rates are 100 in the index, version 1. Another one would be another index.
const Reference = "xeon-amx-2"

// Names are the names of the files without their ending, in alphabetical order.
func Names() (names []string) {
	entries, _ := files.ReadDir(".") // embedded: it's there
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	return names
}

// Load returns the result of a machine.
func Load(name string) (*instrument.Result, error) {
	text, err := files.ReadFile(name + ".json")
	if err != nil {
		return nil, fmt.Errorf("machines: %w, expected one of %s", err, strings.Join(Names(), ", "))
	}
	return instrument.Parse("docs/machines/"+name+".json", text)
}

// MustLoad is Load for a file that is there.
func MustLoad(name string) *instrument.Result {
	r, err := Load(name)
	if err != nil {
		panic(err)
	}
	return r
}
