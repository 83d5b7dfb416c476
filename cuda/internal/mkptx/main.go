// Command mkptx compiles the kernels to PTX, which the driver of any device from compute capability
// 8.0 on compiles further:
//
//	mkptx [-check] [-cubins TO] DIRECTORY
//
// It needs clang, by default clang-19 (CLANG names another), and no CUDA toolkit. The PTX is in
// git; its head has the digest of the sources and the compiler's version. -check compiles nothing
// and reports whether the digest is that of the sources. -cubins has the PTX that is there assembled
// for some architectures, where ptxas is at hand, for machines whose driver has no compiler.
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

// arguments are the compiler's. PTX 7.0 is the first version with compute capability 8.0, and every
// driver from 450 on reads it. Multiplications and additions are fused where the source says so,
// and nowhere else.
var arguments = strings.Fields("-x cuda --cuda-device-only -nocudainc -nocudalib -std=c++17 -fdeclspec " +
	"-O3 -ffp-contract=off -S --cuda-gpu-arch=sm_80 --cuda-feature=+ptx70")

func main() {
	check := flag.Bool("check", false, "say whether the PTX is that of the sources")
	cubins := flag.String("cubins", "", "write cubins of the PTX into this `directory`, and compile nothing")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "mkptx: expected one directory")
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
	want, err := digest(dir)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, target)
	if check {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if have := stated(text); have != want {
			return fmt.Errorf("%s is of sources with the digest %s, found %s: make ptx writes it anew",
				path, have, want)
		}
		fmt.Fprintf(out, "%s is fresh\n", path)
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

// stated returns the digest that a PTX file says it is of.
func stated(ptx []byte) string {
	m := regexp.MustCompile(`(?m)^// sources: ([0-9a-f]{64})$`).FindSubmatch(ptx)
	if m == nil {
		return "none"
	}
	return string(m[1])
}

// digest returns the SHA-256 of what the PTX is made of: names and contents of the sources, and the
// arguments.
func digest(dir string) (string, error) {
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
