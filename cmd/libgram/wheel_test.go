//go:build cgo

package main

import (
	"archive/zip"
	"bytes"
	"debug/elf"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

var wheels = flag.String("wheels", "", "check the wheels of a folder, as make wheel does")

// oldest is the glibc version of manylinux2014.
const oldest = "2.17"

// faults lists problems of a library in a wheel: symbols of newer glibc versions, and paths of the
// build computer.
func faults(library []byte, machine elf.Machine) (list []string, err error) {
	f, err := elf.NewFile(bytes.NewReader(library))
	if err != nil {
		return nil, err
	}
	if f.Machine != machine {
		list = append(list, fmt.Sprintf("built for %s", f.Machine))
	}
	symbols, err := f.ImportedSymbols()
	if err != nil {
		return nil, err
	}
	for _, s := range symbols {
		if version, ok := strings.CutPrefix(s.Version, "GLIBC_"); ok && later(version, oldest) {
			list = append(list, s.Name+" of glibc "+version)
		}
	}
	needed, err := f.ImportedLibraries()
	for _, name := range needed {
		if !regexp.MustCompile(`^(lib(c|m|dl|rt|pthread|resolv)\.so\.|ld-linux)`).MatchString(name) {
			list = append(list, "needs "+name)
		}
	}
	home, _ := os.UserHomeDir()
	root, _ := filepath.Abs("../..")
	for _, path := range []string{home + "/", root + "/"} {
		if len(path) > 2 && bytes.Contains(library, []byte(path)) {
			list = append(list, "names "+path)
		}
	}
	return list, err
}

// later reports whether a version is newer than another.
func later(version, than string) bool {
	a, b := strings.Split(version, "."), strings.Split(than, ".")
	for i := range min(len(a), len(b)) {
		x, _ := strconv.Atoi(a[i])
		y, _ := strconv.Atoi(b[i])
		if x != y {
			return x > y
		}
	}
	return len(a) > len(b)
}

// The libraries in wheels need no newer glibc and contain no local paths. The command in the docs
// installs the wheel for the CPU.
func TestWheels(t *testing.T) {
	if !later("2.34", oldest) || !later("2.17.1", oldest) || later("2.9", oldest) || later("2.17", oldest) {
		t.Error("versions are compared wrongly")
	}
	folder := folderOf(t)
	own := musttest.Get(os.ReadFile(filepath.Join(folder, "libgram.so")))(t)
	if list, err := faults(own, elf.EM_S390); err != nil || !slices.ContainsFunc(list, func(s string) bool {
		return strings.HasPrefix(s, "built for")
	}) {
		t.Errorf("a library of another machine has the faults %q, %v", list, err)
	}
	if *wheels == "" {
		return
	}
	found, err := filepath.Glob(filepath.Join(*wheels, "*.whl"))
	if err != nil || len(found) == 0 {
		t.Fatalf("wheels are %q, %v, want one or two", found, err)
	}
	install := regexp.MustCompile(`\npip install dist/(.*)\n`).FindSubmatch(
		musttest.Get(os.ReadFile("../../docs/python.md"))(t))
	machines := map[string]elf.Machine{"x86_64": elf.EM_X86_64, "aarch64": elf.EM_AARCH64}
	for _, path := range found {
		name := regexp.MustCompile(`gramengine-.*-py3-none-manylinux2014_(\w+)\.whl$`).FindStringSubmatch(path)
		if name == nil || machines[name[1]] == 0 {
			t.Errorf("wheel %s, want one of a known platform", path)
			continue
		}
		// The command in the docs matches exactly one wheel.
		pattern := strings.ReplaceAll(string(install[1]), "$(uname -m)", name[1])
		if one := musttest.Get(filepath.Glob(filepath.Join(*wheels, pattern)))(t); !slices.Equal(one, []string{path}) {
			t.Errorf("pip install %s on %s takes %q, expected %s", install[1], name[1], one, path)
		}
		wheel := musttest.Get(zip.OpenReader(path))(t)
		defer wheel.Close()
		for _, has := range []string{"\nLicense-Expression: BSD-3-Clause\n", "\nLicense-File: LICENSE\n",
			"\nProject-URL: ", "\nDescription-Content-Type: ", "\n# Python"} {
			if !bytes.Contains(metadata(t, &wheel.Reader), []byte(has)) {
				t.Errorf("%s: metadata without %q", path, has)
			}
		}
		in := musttest.Get(wheel.Open("gramengine/_lib/libgram.so"))(t)
		packed := musttest.Get(io.ReadAll(in))(t)
		if list, err := faults(packed, machines[name[1]]); err != nil || len(list) > 0 {
			t.Errorf("%s: %q, %v", path, list, err)
		}
	}
}

// metadata returns the METADATA of a wheel.
func metadata(t *testing.T, wheel *zip.Reader) []byte {
	names := musttest.Get(fs.Glob(wheel, "gramengine-*.dist-info/METADATA"))(t)
	return musttest.Get(fs.ReadFile(wheel, strings.Join(names, " ")))(t)
}
