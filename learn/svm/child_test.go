package svm

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// child names the variable that tells this program to be one of children instead of running tests.
const child = "GRAM_SVM_TEST_CHILD"

// children are what other processes do for a test: they get a folder or other words, and print what
// the test reads.
var children = map[string]func(argument string) error{"store": trainWithStore, "memory": trainWithin}

func TestMain(m *testing.M) {
	name, argument, ok := strings.Cut(os.Getenv(child), "=")
	if !ok {
		os.Exit(m.Run())
	}
	if err := children[name](argument); err != nil {
		_, _ = os.Stdout.WriteString("error: " + err.Error() + "\n")
		os.Exit(1)
	}
	os.Exit(0)
}

// command returns this program as a child; start starts it, and skips the test where that can't be.
func command(t *testing.T, name, argument string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), child+"="+name+"="+argument)
	return c
}

func start(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if err := c.Start(); errors.Is(err, syscall.ENOEXEC) {
		t.Skip("an emulated processor's program can't start itself")
	} else if err != nil {
		t.Fatal(err)
	}
}
