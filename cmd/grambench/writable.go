package main

import (
	"path/filepath"
	"strings"

	"github.com/gramengine/gram/cmd/grambench/internal/matrixio"
)

// writable tries out whether a file can be written, so that a folder that is missing or not writable is noticed before the work and not after it.
func writable(path string) error {
	probe, err := matrixio.Create(path)
	if err == nil {
		probe.Abort()
	}
	return err
}

// checkPlot holds that a picture's name, if there is one, says what it will be.
func checkPlot(path string) error {
	if path != "" && !strings.EqualFold(filepath.Ext(path), ".png") {
		return usagef("-plot %s, expected a name that ends in .png", path)
	}
	return nil
}
