package engine

import (
	"fmt"

	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/tiles"
)

// Progress is how far a computation is: Done of Total pairs of documents.
type Progress = compute.Progress

// guarded calls a function that the caller handed over, under the name that it has there, and makes
// an error of a panic.
func guarded(name string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("engine: %s: %w", name, tiles.NewPanicError(v))
		}
	}()
	return f()
}
