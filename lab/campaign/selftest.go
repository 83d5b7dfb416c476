package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// planted has a fault for each part, as a patch of the repository.
//
//go:embed planted/*
var planted embed.FS

// selftest plants the fault of each part in a copy of the repository and runs the part there, which must find it.
func selftest(ctx context.Context, root string, chosen []part) error {
	folder, err := os.MkdirTemp("", "gram-selftest-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	list := exec.CommandContext(ctx, "git", "ls-files", "-co", "--exclude-standard", "-z")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			continue // deleted, or a link
		}
		if err := write(folder, map[string][]byte{name: data}); err != nil {
			return err
		}
	}
	missed := 0
	for _, p := range chosen {
		found, err := p.finds(ctx, folder)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if found == "" {
			missed++
			found = "MISSED"
		}
		fmt.Printf("%s: %s\n", p.name, found)
	}
	if missed > 0 {
		return fmt.Errorf("%d planted faults were missed", missed)
	}
	return nil
}

// finds plants the part's fault, runs it and takes the fault away. It returns the first finding, "" for none.
func (p part) finds(ctx context.Context, folder string) (string, error) {
	fault, err := planted.ReadFile("planted/" + p.name + ".patch")
	if err != nil {
		return "", err
	}
	apply := func(args ...string) error {
		c := exec.CommandContext(ctx, "patch", append(args, "-p1", "-s", "-N", "-r", "-")...)
		c.Dir, c.Stdin = folder, bytes.NewReader(fault)
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("patch: %w: %s", err, out)
		}
		return nil
	}
	if err := apply(); err != nil {
		return "", err
	}
	defer func() { _ = apply("-R") }()
	args := []string{"run", "-trimpath", "./campaign", "-short", "-fresh", "-only", p.name}
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir, c.Env = filepath.Join(folder, "lab"), append(os.Environ(), "GRAM_ROOT="+folder)
	out, err := c.CombinedOutput()
	if at := bytes.Index(out, []byte("FOUND")); at >= 0 {
		line, _, _ := bytes.Cut(out[at:], []byte("\n"))
		return string(line[:min(len(line), 300)]), nil
	}
	if err == nil {
		return "", nil
	}
	return "", fmt.Errorf("%w: %s", err, out[max(0, len(out)-2000):])
}
