package main

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/cpuid/v2"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/musttest"
)

var updateDigests = flag.Bool("update-digests", false, "write testdata/digests.txt")

// TestDigests checks that results are unchanged bit for bit, for each instruction set: the matrices
// of every kernel, by the digests of verify, and models. After an intended change, run go test
// ./cmd/gram -run TestDigests -update-digests, and give the reason in the commit.
func TestDigests(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the digests are those of amd64: elsewhere the compiler may fuse multiply-adds")
	}
	if testing.Short() {
		t.Skip("slow with the race detector")
	}
	const file = "testdata/digests.txt"
	// The cache sizes determine the head and its segments, and so the order of sums.
	caches := cpuid.CPU.Cache
	t.Cleanup(func() { cpuid.CPU.Cache = caches })
	cpuid.CPU.Cache.L1D, cpuid.CPU.Cache.L2 = 32<<10, 1<<20
	sets := asm.Available()
	if *updateDigests && !slices.Contains(sets, asm.AVX512) {
		t.Fatalf("digests of %v, expected avx512 among them to write %s", sets, file)
	}
	var found []string
	for _, isa := range sets {
		found = append(found, matrixDigests(t, string(isa))...)
		found = append(found, modelDigests(t, string(isa))...)
	}
	if *updateDigests {
		musttest.NoError(t, os.WriteFile(file, []byte(strings.Join(found, "\n")+"\n"), 0o644))
		return
	}
	text := musttest.Get(os.ReadFile(file))(t)
	want := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		isa, _, _ := strings.Cut(line, " ")
		if slices.Contains(sets, asm.ISA(isa)) {
			want[strings.TrimSpace(line)] = true
		}
	}
	for _, line := range found {
		if !want[line] {
			t.Errorf("found %s, which %s doesn't have", line, file)
		}
		delete(want, line)
	}
	for line := range want {
		t.Errorf("%s has %s, which wasn't found", file, line)
	}
}

// matrixDigests returns lines with instruction set, kernel, embedding and digest.
func matrixDigests(t *testing.T, isa string) (lines []string) {
	t.Helper()
	var report struct {
		Rows []struct{ ISA, Kernel, Embedding, SHA256 string }
	}
	text := runs(t, "verify", "-json", "-in", "synthetic:docs=150,terms=400", "-isa", isa)
	musttest.NoError(t, json.Unmarshal([]byte(text), &report))
	if len(report.Rows) < 50 {
		t.Fatalf("%d rows of verify, expected 50 and more", len(report.Rows))
	}
	for _, r := range report.Rows {
		lines = append(lines, fmt.Sprintf("%s %s in %s: %s", r.ISA, r.Kernel, r.Embedding, r.SHA256))
	}
	return lines
}

// modelDigests returns lines with instruction set, flags and digest of models.
func modelDigests(t *testing.T, isa string) (lines []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model")
	for _, flags := range []string{
		"-kernel diffusion:t=0.5 -c 10",
		"-kernel diffusion:t=0.5 -c 10 -scheme one-vs-rest",
		"-kernel diffusion:t=0.5 -c 10 -workers 1 -m 100M",
		"-kernel rbf:gamma=1 -c 1 -b 1",
		"-kernel compose(arccos:n=1,arccos:n=0) -s 1 -n 0.1",
	} {
		args := []string{"train", "-q", "-in", "synthetic:docs=400,terms=600,classes=4", "-isa", isa, "-o", path}
		runs(t, append(args, strings.Fields(flags)...)...)
		model := musttest.Get(os.ReadFile(path))(t)
		lines = append(lines, fmt.Sprintf("%s train %s: %x", isa, flags, sha256.Sum256(model)))
	}
	return lines
}

// runs runs the command, which must succeed, and returns the standard output.
func runs(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr strings.Builder
	if status := runEither(args, &stdout, &stderr); status != 0 {
		t.Fatalf("%q: status %d, %s", args, status, &stderr)
	}
	return stdout.String()
}
