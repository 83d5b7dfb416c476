package model

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// onlyFile checks that a folder holds one file of a name, and nothing under a temporary name.
func onlyFile(t *testing.T, dir, name string) {
	t.Helper()
	entries := musttest.Get(os.ReadDir(dir))(t)
	if len(entries) != 1 || entries[0].Name() != name {
		t.Errorf("the folder holds %v, expected %s alone", entries, name)
	}
}

func TestSaveAndLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.model")
	first, second := tiny(), recipes()[1].train(t)
	for _, m := range []*Model{first, second} { // the second replaces the first
		musttest.Do(t, m.Save(ctx, path))
		got := musttest.Get(Load(ctx, path, nil))(t)
		same(t, got, m)
		onlyFile(t, dir, "a.model")
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := first.Save(ended, path); !errors.Is(err, context.Canceled) {
		t.Errorf("Save after the end: %v", err)
	}
	if _, err := first.SaveLIBSVM(ended, path, LIBSVMOptions{}); err == nil {
		t.Error("LIBSVM's form of a diffusion kernel is written")
	}
	broken := *first
	broken.SupportDoc = nil
	if err := broken.Save(ctx, path); err == nil || !strings.Contains(err.Error(), "0 numbers of documents") {
		t.Errorf("Save of what is no model: %v", err)
	}
	if _, err := Load(ended, path, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Load after the end: %v", err)
	}
	got, err := Load(ctx, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, second) // as if nothing had happened
	onlyFile(t, dir, "a.model")

	linear := recipe{typ: CSVC, kernel: "linear"}.train(t)
	if labels, err := linear.SaveLIBSVM(ctx, path, LIBSVMOptions{}); err != nil || fmt.Sprint(labels) != "[1 2 3]" {
		t.Fatalf("labels %v, %v", labels, err)
	}
	if got, err = Load(ctx, path, nil); err != nil || got.Kernel != "linear" || fmt.Sprint(got.Classes) != "[1 2 3]" {
		t.Errorf("LIBSVM's form isn't recognised: %v", err)
	}
}

func TestFilesThatArentModels(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink("nowhere", link); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]string{
		dir: "expected a regular file", link: "expected a regular file",
		filepath.Join(dir, "missing", "x"): "x can't be written in folder",
	} {
		if err := tiny().Save(ctx, path); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), ".tmp") {
			t.Errorf("Save to %s: %v, expected %q", path, err, want)
		}
	}
	onlyFile(t, dir, "link")
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
