package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// A file of either form is loaded, and what is no model is refused with its name.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.model")
	for _, m := range []*Model{tiny(), recipes()[1].train(t)} {
		var b bytes.Buffer
		musttest.Do(t, m.Write(ctx, &b))
		musttest.Do(t, os.WriteFile(path, b.Bytes(), 0o666))
		same(t, musttest.Get(Load(ctx, path, nil))(t), m)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Load(ended, path, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Load after the end: %v", err)
	}
	broken := *tiny()
	broken.SupportDoc = nil
	var b bytes.Buffer
	err := broken.Write(ctx, &b)
	if err == nil || !strings.Contains(err.Error(), "0 numbers of documents") || b.Len() > 0 {
		t.Errorf("%d bytes of what is no model: %v", b.Len(), err)
	}
	var labels []int32
	labels, err = recipe{typ: CSVC, kernel: "linear"}.train(t).WriteLIBSVM(ctx, &b, LIBSVMOptions{})
	if err != nil || fmt.Sprint(labels) != "[1 2 3]" {
		t.Fatalf("labels %v, %v", labels, err)
	}
	musttest.Do(t, os.WriteFile(path, b.Bytes(), 0o666))
	if got, err := Load(ctx, path, nil); err != nil || got.Kernel != "linear" || fmt.Sprint(got.Classes) != "[1 2 3]" {
		t.Errorf("LIBSVM's form isn't recognised: %v", err)
	}
	text := filepath.Join(dir, "text")
	musttest.Do(t, os.WriteFile(text, []byte("svm_typo c_svc\n"), 0o666))
	for path, want := range map[string]string{
		dir: "is a directory", filepath.Join(dir, "none"): "no such file",
		text: text + `: wrong file format: it begins with "svm_typo`,
	} {
		if _, err := Load(ctx, path, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Load of %s: %v, expected %q", path, err, want)
		}
	}
}
