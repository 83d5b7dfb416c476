//go:build cuda && cgo && linux

package cuda

import (
	"errors"
	"fmt"
)

// handle tracks whether a [Device], or an object created from it, is open. A parent can't be closed
// while it has open children. The zero value is closed. Device.mu guards isOpen and childCount.
type handle struct {
	d           *Device
	description string
	parent      *handle // nil for the device
	isOpen      bool
	childCount  int
}

// begin opens a handle that has a parent. d.mu must be locked.
func (h *handle) begin() {
	h.isOpen = true
	h.parent.childCount++
}

// withDevice locks the device and calls work while the device's context is current.
func (h *handle) withDevice(work func() error) error {
	if h.d == nil {
		return fmt.Errorf("cuda: the device is not open: %w", ErrClosed)
	}
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	if !h.isOpen {
		return fmt.Errorf("cuda: %s: %w", h.description, ErrClosed)
	}
	_, err := h.d.inContext(work)
	return err
}

// end closes a handle without open children. The first call that closes the handle calls giveBack
// and returns true. If the context can't be set, end tries again and joins the errors.
func (h *handle) end(giveBack func() error) (first bool, err error) {
	if h.d == nil {
		return false, nil
	}
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	if !h.isOpen {
		return false, nil
	}
	if h.childCount > 0 {
		return false, fmt.Errorf("cuda: %s cannot be closed while %d users are still open", h.description, h.childCount)
	}
	h.isOpen = false
	if h.parent != nil {
		h.parent.childCount--
	}
	began, err := h.d.inContext(giveBack)
	if !began {
		_, again := h.d.inContext(giveBack)
		err = errors.Join(err, again)
	}
	return true, err
}

func (h *handle) close(giveBack func() error) error {
	_, err := h.end(giveBack)
	return err
}
