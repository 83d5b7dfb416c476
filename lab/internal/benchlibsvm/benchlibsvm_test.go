package benchlibsvm

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/lab/internal/peers/peerstest"
)

// texts writes documents of three classes, which share all words but use them unequally.
func texts(t *testing.T, name string, from, to int) string {
	t.Helper()
	var b strings.Builder
	for i := from; i < to; i++ {
		class := i % 3
		fmt.Fprintf(&b, "class %d\t", class)
		for k := range 12 {
			word := rune('a' + (i*i*(k+1)+7*k)%9)
			if (i+k)%3 == 0 {
				word = rune('k' + class)
			}
			fmt.Fprintf(&b, "%c%c ", word, word)
		}
		b.WriteByte('\n')
	}
	file := filepath.Join(t.TempDir(), name)
	musttest.Do(t, os.WriteFile(file, []byte(b.String()), 0o600))
	return file
}

func TestBesideLIBSVM(t *testing.T) {
	svmTrain, err := exec.LookPath("svm-train")
	if err != nil {
		t.Skip("svm-train is not installed")
	}
	if _, err := exec.LookPath("svm-predict"); err != nil {
		t.Skip("svm-predict is not installed")
	}
	args := []string{
		"-gram", peerstest.Build(t), "-train", texts(t, "train.tsv", 0, 240), "-test", texts(t, "test.tsv", 240, 330),
		"-own", "1", "-python", "no-such-python",
	}
	status, stdout, stderr := peerstest.Run(t, Program, args...)
	if status != 0 {
		t.Errorf("exit status %d: %s", status, stderr)
	}
	for _, want := range []string{
		"train.tsv: 240 documents, 3 classes", "90 test documents", "svm-predict", "3 pairs of classes",
		"of 90 are svm-predict's", "no-such-python",
	} {
		if !strings.Contains(stdout+stderr, want) {
			t.Errorf("no %q in\n%s%s", want, stdout, stderr)
		}
	}
	if strings.Count(stdout, ": passed\n") != 2 {
		t.Errorf("expected two comparisons that passed:\n%s", stdout)
	}

	// A program that prints another objective, and labels every document alike, must be noticed.
	liar := filepath.Join(t.TempDir(), "liar")
	script := fmt.Sprintf("#!/bin/sh\n%s \"$@\" | sed 's/^obj = -\\(.\\)/obj = -9\\1/'\n", svmTrain)
	predictor := filepath.Join(t.TempDir(), "predictor")
	for file, text := range map[string]string{liar: script, predictor: "#!/bin/sh\nsed 's/.*/1/' \"$1\" >\"$3\"\n"} {
		musttest.Do(t, os.WriteFile(file, []byte(text), 0o700))
	}
	status, stdout, stderr = peerstest.Run(t, Program, append(args, "-svm-train", liar, "-svm-predict", predictor)...)
	if status != 1 || strings.Count(stdout, ": FAILED\n") != 2 {
		t.Errorf("exit status %d, expected 1 and two comparisons that failed:\n%s%s", status, stdout, stderr)
	}
}

func TestNothingElseThere(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	status, stdout, stderr := peerstest.Run(t, Program, "-gram", peerstest.Build(t), "-train",
		texts(t, "train.tsv", 0, 60), "-own", "1", "-svm-train", none, "-svm-predict", none, "-python", none)
	if status != 0 || strings.Count(stderr, "left out:") != 3 {
		t.Errorf("exit status %d, expected 0 and three programs left out: %s", status, stderr)
	}
	if strings.Count(stdout, "gram") < 3 || strings.Contains(stdout, "svm-") ||
		strings.Contains(stdout, "passed") {
		t.Errorf("expected gram alone:\n%s", stdout)
	}
}

func TestUsage(t *testing.T) { peerstest.Usage(t, Program, "-rounds 0", "-own 0", "-test x") }

func TestParseObjectives(t *testing.T) {
	all, err := parseObjectives("*.*\noptimization finished, #iter = 5\nnu = 0.1\nobj = -12.5, rho = 0.5\nnSV = 2\n" +
		"obj = -1e-3, rho = -1\nTotal nSV = 2\n")
	if err != nil || len(all) != 2 || all[0] != -12.5 || all[1] != -1e-3 {
		t.Errorf("%v, %v", all, err)
	}
	for _, text := range []string{"", "obj = none, rho = 1\n"} {
		if all, err := parseObjectives(text); err == nil {
			t.Errorf("%q gives %v", text, all)
		}
	}
}

func TestVerdict(t *testing.T) {
	for _, test := range []struct {
		worst       float64
		same, tests int
		want        bool
	}{
		{1e-6, 999, 1000, true}, {0, 0, 0, true}, {2e-5, 1000, 1000, false}, {0, 998, 1000, false},
		{math.NaN(), 1000, 1000, false},
	} {
		tr := &trial{bench: &bench{}, pairs: 1, worst: test.worst, same: test.same, tests: test.tests}
		var out bytes.Buffer
		if passed := tr.write(&out); passed != test.want || strings.Contains(out.String(), "FAILED") == test.want {
			t.Errorf("%+v: passed %v:\n%s", test, passed, out.String())
		}
	}
}

func TestSameLabel(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"1", "+1", true}, {"1", "1.0", true}, {"a", "a", true}, {"1", "-1", false}, {"a", "b", false},
		{"a", "1", false},
	} {
		if got := sameLabel(test.a, test.b); got != test.want {
			t.Errorf("%q and %q: %v", test.a, test.b, got)
		}
	}
}
