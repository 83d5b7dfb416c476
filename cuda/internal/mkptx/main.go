// Command mkptx compiles the kernels to PTX. The driver compiles the PTX for any device of compute
// capability 8.0 or higher. Usage:
//
//	mkptx [-check] [-cubins TO] DIRECTORY
//
// It uses clang-19, or the compiler named by the environment variable CLANG, without a CUDA
// toolkit. The PTX is in git. Its header holds the compiler version and a digest of sources and
// compiler arguments. With -check, mkptx only checks that this digest is up to date. With -cubins,
// it assembles the existing PTX with ptxas, if available, for drivers without a compiler.
package main

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

const source, target = "gram.cu", "gram.ptx"

// arguments are the compiler arguments. PTX 7.0 is the first version that supports compute
// capability 8.0, and requires driver 450 or later. Multiplications and additions are fused only if
// the source does so explicitly.
var arguments = strings.Fields("-x cuda --cuda-device-only -nocudainc -nocudalib -std=c++17 -fdeclspec " +
	"-O3 -ffp-contract=off -S --cuda-gpu-arch=sm_80 --cuda-feature=+ptx70")

func main() {
	check := flag.Bool("check", false, "check that the PTX matches the sources")
	cubins := flag.String("cubins", "", "assemble the existing PTX into cubins in this `directory`")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: mkptx [-check] [-cubins DIRECTORY] DIRECTORY")
		os.Exit(2)
	}
	err := error(nil)
	if *cubins != "" {
		err = assemble(filepath.Join(flag.Arg(0), target), *cubins, os.Stdout)
	} else {
		err = run(flag.Arg(0), *check, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mkptx:", err)
		os.Exit(1)
	}
}

func run(dir string, check bool, out io.Writer) error {
	want, err := sourceDigest(dir)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, target)
	if check {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if have := recordedDigest(text); have != want {
			return fmt.Errorf("%s was compiled from sources with digest %s, but their digest is now %s; run make ptx",
				path, have, want)
		}
		fmt.Fprintf(out, "%s is up to date\n", path)
		return nil
	}
	clang := os.Getenv("CLANG")
	if clang == "" {
		clang = "clang-19"
	}
	version, err := exec.Command(clang, "--version").Output()
	if err != nil {
		return fmt.Errorf("%s --version: %w (on Debian: apt-get install clang-19)", clang, err)
	}
	first, _, _ := strings.Cut(string(version), "\n")
	compiler := exec.Command(clang, append(arguments, source, "-o", "-")...)
	compiler.Dir = dir
	var complaints bytes.Buffer
	compiler.Stderr = &complaints
	text, err := compiler.Output()
	if err != nil {
		return fmt.Errorf("%s %s: %w\n%s", clang, source, err, complaints.Bytes())
	}
	head := fmt.Sprintf("// Made by cuda/internal/mkptx (make ptx); don't edit.\n// sources: %s\n// compiler: %s\n",
		want, first)
	return os.WriteFile(path, append([]byte(head), text...), 0o666)
}

func recordedDigest(ptx []byte) string {
	m := regexp.MustCompile(`(?m)^// sources: ([0-9a-f]{64})$`).FindSubmatch(ptx)
	if m == nil {
		return "none"
	}
	return string(m[1])
}

func sourceDigest(dir string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, strings.Join(arguments, " "))
	for _, pattern := range []string{"*.cu", "*.h"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return "", err
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(h, "%s %d\n%s\n", filepath.Base(f), len(text), text)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
