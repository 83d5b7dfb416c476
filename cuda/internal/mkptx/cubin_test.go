package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// An assembler writes a cubin for each architecture. Without an assembler, the output lists the
// searched paths.
func TestAssemble(t *testing.T) {
	dir := t.TempDir()
	fake := filepath.Join(dir, "ptxas")
	musttest.NoError(t, os.WriteFile(fake, []byte("#!/bin/sh\necho \"$1\" >\"$4\"\n"), 0o777))
	t.Setenv("PTXAS", fake)
	var out strings.Builder
	musttest.NoError(t, assemble("gram.ptx", dir, &out))
	for _, a := range architectures {
		if text, err := os.ReadFile(filepath.Join(dir, "gram."+a+".cubin")); string(text) != "-arch="+a+"\n" {
			t.Errorf("%s: found %q, error %v", a, text, err)
		}
	}
	if found, _ := filepath.Glob("/usr/local/cuda*/bin/ptxas"); len(found) > 0 {
		return
	}
	t.Setenv("PTXAS", fake+"s")
	out.Reset()
	if err := assemble("gram.ptx", dir, &out); err != nil ||
		!strings.Contains(out.String(), "ptxas is not in PTXAS="+fake+"s, /usr/local/cuda/bin/ptxas") {
		t.Errorf("error %v, %q", err, out.String())
	}
}
