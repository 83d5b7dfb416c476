package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// architectures lists an assembler target per GPU generation since compute capability 8.0.
var architectures = []string{"sm_80", "sm_90", "sm_100"}

// findPTXAS searches for NVIDIA's assembler. It returns an empty path if there is none. looked
// lists the searched locations.
func findPTXAS() (path string, looked []string) {
	name := os.Getenv("PTXAS")
	if name != "" {
		looked = []string{"PTXAS=" + name}
	} else {
		name, looked = "ptxas", []string{"the directories in PATH"}
	}
	if path, err := exec.LookPath(name); err == nil {
		return path, looked
	}
	for _, pattern := range []string{"/usr/local/cuda/bin/ptxas", "/usr/local/cuda-*/bin/ptxas"} {
		looked = append(looked, pattern)
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return found[len(found)-1], looked
		}
	}
	return "", looked
}

// assemble writes a cubin for each architecture to the folder dir. If there is no assembler, it
// prints installation instructions.
func assemble(ptx, dir string, out io.Writer) error {
	ptxas, looked := findPTXAS()
	if ptxas == "" {
		fmt.Fprintf(out, "no cubins were made because ptxas is not in %s; install the CUDA toolkit or the "+
			"Python package nvidia-cuda-nvcc-cu12, or set PTXAS=FILE\n", strings.Join(looked, ", "))
		return nil
	}
	for _, a := range architectures {
		target := filepath.Join(dir, "gram."+a+".cubin")
		if text, err := exec.Command(ptxas, "-arch="+a, ptx, "-o", target).CombinedOutput(); err != nil {
			return fmt.Errorf("%s -arch=%s: %w\n%s", ptxas, a, err, text)
		}
		fmt.Fprintln(out, target)
	}
	return nil
}
