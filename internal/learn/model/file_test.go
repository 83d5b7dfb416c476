package model

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestWriteFails(t *testing.T) {
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := tiny().Write(ended, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("Write after the end: %v", err)
	}
	if _, err := tiny().WriteLIBSVM(ctx, io.Discard, LIBSVMOptions{}); err == nil {
		t.Error("LIBSVM's form of a diffusion kernel is written")
	}
	broken := *tiny()
	broken.SupportDoc = nil
	if err := broken.Write(ctx, io.Discard); err == nil || !strings.Contains(err.Error(), "0 numbers of documents") {
		t.Errorf("Write of what is no model: %v", err)
	}
}
