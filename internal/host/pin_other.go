//go:build !linux

package host

import "errors"

var errPin = errors.New("host: pinning to processors is for Linux")

// Pin binds the calling goroutine to a logical processor until release, which the same goroutine must call.
func Pin(int) (release func(), err error) { return func() {}, errPin }

// Confine binds all threads of the process, and those that they start, to some logical processors.
func Confine([]int) error { return errPin }

// ProcessorSeconds is the processor time of the process, and false where the system doesn't tell.
func ProcessorSeconds() (seconds float64, known bool) { return 0, false }
