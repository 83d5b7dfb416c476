//go:build cgo

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// tool returns the path of an installed program. In CI, a missing program is an error.
func tool(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("no %s", names)
	}
	t.Skipf("no %s", names)
	return ""
}

// output runs a command, which must succeed, and returns its output.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// built is the folder of the library. It is removed after the tests.
var built string

// library builds the library once, and returns its folder.
var library = sync.OnceValues(func() (folder string, err error) {
	if folder, err = os.MkdirTemp("", "libgram"); err != nil {
		return "", err
	}
	built = folder
	// Without symbols, because valgrind can't read all symbols of Go.
	build := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o",
		filepath.Join(folder, "libgram.so"))
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return folder, nil
})

// folderOf returns the folder of the library, for tests that load it into other programs.
func folderOf(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the library; make python-check runs it")
	}
	return musttest.Get(library())(t)
}

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(built)
	os.Exit(code)
}

// program compiles the C program against the library.
func program(t *testing.T, flags ...string) string {
	t.Helper()
	cc := tool(t, "gcc", "cc")
	folder := folderOf(t)
	path := filepath.Join(t.TempDir(), "calls")
	args := append([]string{"-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-I.", "testdata/calls.c", "-o", path,
		"-L" + folder, "-lgram", "-Wl,-rpath," + folder, "-lm", "-lpthread"}, flags...)
	output(t, cc, args...)
	return path
}

// The C program calls each function, and repeats calls to check that no memory leaks.
func TestC(t *testing.T) {
	if out := output(t, program(t), t.TempDir(), "100"); out != "ok\n" {
		t.Errorf("it says %q", out)
	}
}

// This is TestC with sanitizers for memory errors, undefined behaviour and leaks of the C program.
func TestCSanitized(t *testing.T) {
	calls := program(t, "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
	if out := output(t, calls, t.TempDir(), "3"); out != "ok\n" {
		t.Errorf("it says %q", out)
	}
}

// misuse matches valgrind's messages about invalid accesses to blocks of malloc.
var misuse = regexp.MustCompile(`Address 0x[0-9a-f]+ is .* a block of size .*`)

// Valgrind detects accesses beyond the caller's memory. Only messages about blocks of malloc count,
// because valgrind misinterprets Go's stacks.
func TestCUnderValgrind(t *testing.T) {
	valgrind, calls := tool(t, "valgrind"), program(t)
	under := func(mode string) (string, []byte) {
		cmd := exec.Command(valgrind, "--error-limit=no", "--undef-value-errors=no", "--num-callers=6", "--leak-check=no",
			calls, t.TempDir(), mode)
		var out, log bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &log
		if err := cmd.Run(); err != nil {
			t.Fatalf("valgrind: %v\n%s%.2000s", err, &out, &log)
		}
		return out.String(), log.Bytes()
	}
	if _, log := under("overrun"); misuse.Find(log) == nil {
		t.Errorf("valgrind doesn't see a write beyond an array")
	}
	out, log := under("0")
	if out != "ok\n" {
		t.Errorf("it says %q", out)
	}
	if at := misuse.FindIndex(log); at != nil {
		t.Errorf("valgrind: %s", log[max(at[0]-1000, 0):min(at[1]+500, len(log))])
	}
}

// The header compiles and links as C++.
func TestHeaderIsCPlusPlus(t *testing.T) {
	compiler := tool(t, "g++", "c++")
	source := filepath.Join(t.TempDir(), "header.cc")
	text := "#include \"gram.h\"\n" +
		"int main() { gram_call call = {}; return gram_free(0, &call) + gram_free(0, nullptr); }\n"
	musttest.NoError(t, os.WriteFile(source, []byte(text), 0o600))
	folder := folderOf(t)
	program := filepath.Join(t.TempDir(), "header")
	output(t, compiler, "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I.", source, "-o", program,
		"-L"+folder,
		"-lgram", "-Wl,-rpath,"+folder)
	output(t, program)
}
