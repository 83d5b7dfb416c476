//go:build cgo

package main

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// A length beyond any memory is an error before the data is read.
func TestLengthsAreThoseOfMemory(t *testing.T) {
	data, number := byte(1), int64(1)
	for _, n := range []int64{-1, maxBytes + 1, 1 << 62, 1<<63 - 1} {
		musttest.WantError((text{span[byte]{&data, n}}).string("text"))(t, fmt.Sprintf("a text of %d bytes", n))
		if _, err := (span[int64]{&number, n / 8}).slice("numbers"); err == nil && n > 0 && n/8 > maxBytes/8 {
			t.Errorf("no error for %d numbers", n/8)
		}
		list := stringList{data: &[]*byte{&data}[0], sizes: &n, count: 1}
		musttest.WantError(list.list("texts"))(t, fmt.Sprintf("a list with a text of %d bytes", n))
	}
}

// The context ends when *cancel becomes nonzero, before or during the call, and with the call.
func TestWatch(t *testing.T) {
	for _, late := range []bool{false, true} {
		var flag int32
		c := &call{in: &request{cancel: &flag}}
		if !late {
			flag = 1
		}
		stop := c.watch()
		if late {
			if c.ctx.Err() != nil {
				t.Error("the context ends before cancel")
			}
			atomic.StoreInt32(&flag, 1)
		}
		<-c.ctx.Done()
		stop()
	}
	var flag int32
	c := &call{in: &request{cancel: &flag}}
	c.watch()()
	flag = 1 // the race detector would see a read
	if c.ctx.Err() == nil {
		t.Error("the context goes on after the call")
	}
}
