//go:build cgo

package main

import (
	"testing"
	"time"
)

// A timer that fires at once, before it is stored, finds it stored: on its goroutine a panic would end the process.
func TestWatchFiresAtOnce(t *testing.T) {
	every := everyPoll
	everyPoll = time.Nanosecond
	t.Cleanup(func() { everyPoll = every })
	var flag int32
	for range 200_000 {
		c := &call{in: &request{cancel: &flag}}
		c.watch()()
		if c.ctx.Err() == nil {
			t.Fatal("the context goes on after the call")
		}
	}
}
