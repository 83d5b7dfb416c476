//go:build cgo

package main

import (
	"testing"
	"time"
)

// A length beyond any memory is an error before the data is read.
func TestLengthsAreThoseOfMemory(t *testing.T) {
	data, number := byte(1), int64(1)
	for _, n := range []int64{-1, maxBytes + 1, 1 << 62, 1<<63 - 1} {
		if _, err := (text{&data, n}).string("text"); err == nil {
			t.Errorf("no error for a text of %d bytes", n)
		}
		if _, err := (span[int64]{&number, n / 8}).slice("numbers"); err == nil && n > 0 && n/8 > maxBytes/8 {
			t.Errorf("no error for %d numbers", n/8)
		}
		list := stringList{data: &[]*byte{&data}[0], sizes: &n, count: 1}
		if _, err := list.list("texts"); err == nil {
			t.Errorf("no error for a list with a text of %d bytes", n)
		}
	}
}

// A timer that fires at once finds w.timer set; a panic on its goroutine would end the process.
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
