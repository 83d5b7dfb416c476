//go:build race

package main

// raceDetector says that the race detector runs, under which memory and allocations are not those
// of the program.
const raceDetector = true
