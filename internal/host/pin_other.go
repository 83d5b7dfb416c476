//go:build !linux

package host

import "errors"

var errPin = errors.New("host: pinning to processors is for Linux")

// Pin returns an error, because this system doesn't support pinning.
func Pin(int) (release func(), err error) { return func() {}, errPin }

// Confine returns an error, because this system doesn't support pinning.
func Confine([]int) error { return errPin }

// ProcessorSeconds returns false, because the CPU time is unknown on this system.
func ProcessorSeconds() (seconds float64, known bool) { return 0, false }
