//go:build cuda && cgo && linux

package cuda

import (
	"errors"
	"fmt"
)

// handle is the common part of a [Device] and its children. It can be used until it is closed. It
// belongs to a parent handle, which can't be closed before it. Its zero value is closed. Device.mu
// guards live and users.
type handle struct {
	d     *Device
	what  string
	of    *handle // parent; nil for the device
	live  bool
	users int // number of open children
}

// begin opens a handle that belongs to another; d.mu is locked.
func (h *handle) begin() {
	h.live = true
	h.of.users++
}

// do runs work exclusively, with the device's context as the current context.
func (h *handle) do(work func() error) error {
	if h.d == nil {
		return fmt.Errorf("cuda: used without a device: %w", ErrClosed)
	}
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	if !h.live {
		return fmt.Errorf("cuda: %s: %w", h.what, ErrClosed)
	}
	_, err := h.d.inContext(work)
	return err
}

// end closes a handle. The first call frees what the handle holds and reports that it is the first. If
// the context can't be made current, end tries once more and still returns the error of the first try.
func (h *handle) end(giveBack func() error) (first bool, err error) {
	if h.d == nil {
		return false, nil
	}
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	if !h.live {
		return false, nil
	}
	if h.users > 0 {
		return false, fmt.Errorf("cuda: %s closed with %d users that aren't closed, expected none", h.what, h.users)
	}
	h.live = false
	if h.of != nil {
		h.of.users--
	}
	began, err := h.d.inContext(giveBack)
	if !began {
		_, again := h.d.inContext(giveBack)
		err = errors.Join(err, again)
	}
	return true, err
}

// close is end without a result.
func (h *handle) close(giveBack func() error) error {
	_, err := h.end(giveBack)
	return err
}
