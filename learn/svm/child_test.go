package svm

import (
	"os"
	"os/exec"
	"testing"
)

// child names the variable that tells this program to train within a bound of memory instead of running tests.
const child = "GRAM_SVM_TEST_CHILD"

func TestMain(m *testing.M) {
	argument, ok := os.LookupEnv(child)
	if !ok {
		os.Exit(m.Run())
	}
	if err := trainWithin(argument); err != nil {
		_, _ = os.Stdout.WriteString("error: " + err.Error() + "\n")
		os.Exit(1)
	}
	os.Exit(0)
}

// command returns this program as a child.
func command(t *testing.T, argument string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), child+"="+argument)
	return c
}
