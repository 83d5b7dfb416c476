package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/musttest"
)

// senseless lists specifications without a sense, what is wrong with them, and what would do.
var senseless = []struct{ spec, found, expected string }{
	{"diffusion:t=0", "found t=0", "a number above 0"},
	{"diffusion:t=-1", "found t=-1", "a number above 0"},
	{"diffusion:t=NaN", "found t=NaN", "a number above 0"},
	{"diffusion:t=0.5,order=1,form=printed,cutoff=3", "found order=1", "order=0 with form=printed"},
	{"diffusion:t=0.5,n=10", "found n=10", "the leading exponential doesn't depend on n"},
	{"ngd-exp:t=0", "found t=0", "a number above 0"},
	{"ngd-power:beta=1.5", "found beta=1.5", "above 0 and up to 1"},
	{"ned:beta=2.5", "found beta=2.5", "above 0 and up to 2"},
	{"hellinger:gamma=0", "found gamma=0", "a number above 0"},
	{"chi2:gamma=0", "found gamma=0", "a number above 0"},
	{"chi2:embed=tf-l1-sqrt", "found chi2:embed=tf-l1-sqrt", "embed=tf-l1-chi2 or tfidf-l1-chi2"},
	{"js:t=-2", "found t=-2", "a number above 0"},
	{"0.5*diffusion + 0.5*js", "found js", "compares histograms in its own way, embed=tf-l1-js or tfidf-l1-js"},
	{"0.5*chi2 + 0.5*js", "found js", "the similarity of the embedding tf-l1-chi2, which all parts share"},
	{"rbf:gamma=-1", "found gamma=-1", "a number above 0"},
	{"arccos:n=-0.5", "found n=-0.5", "above -1/2, at which the integral diverges"},
	{"arccos:n=-3", "found n=-3", "above -1/2, at which the integral diverges"},
	{"arccos:n=1,bias=0.3", "found bias=0.3", "only units of degree 0 have thresholds to move"},
	{"arccos:n=0,sigma=0", "found sigma=0", "a number above 0"},
	{"arccos:n=2,sigma=1", "found sigma=1", "only units of degree 0 have thresholds to smooth"},
	{"power(linear):p=0.5", "found linear", "a kernel that is nowhere below 0, for the power 0.5"},
	{"normalise(ngd)", "found ngd", "k(x, x) > 0"},
	{"0*linear", "found 0", "a number other than 0"},
}

// Specifications without a sense are refused with the reason, by the engine as by every command
// that takes a kernel, before it reads any document.
func TestSenselessKernels(t *testing.T) {
	commands := [][]string{
		{
			"gram",
			"-in",
			"nowhere.svm",
			"-o",
			"K.npy",
			"-kernel",
		}, {"spectrum", "-in", "nowhere.svm", "-kernel"}, {"verify", "-in", "nowhere.svm", "-kernel"},
		{
			"bench",
			"-in",
			"nowhere.svm",
			"-kernel",
		}, {"train", "nowhere.svm", "m.model", "-kernel"}, {"cv", "nowhere.svm", "-kernel"},
		{"grid", "nowhere.svm", "-kernel"}, {"kernels"},
	}
	for _, s := range senseless {
		if k, err := kernel.Parse(s.spec); k != nil || err == nil || !strings.Contains(err.Error(), s.found) ||
			!strings.Contains(err.Error(), s.expected) {
			t.Errorf("ParseKernel(%q) = %v, %v, expected %q and %q", s.spec, k, err, s.found, s.expected)
		}
		for _, c := range commands {
			refused(t, append(c[:len(c):len(c)], s.spec), cli.Misuse, s.found, s.expected)
		}
	}
	for list, expected := range map[string]string{"-grid t=1,0": "found t=0", "-grid t=-1": "found t=-1"} {
		refused(t, append([]string{"grid", "nowhere.svm", "-kernel", "diffusion"}, strings.Fields(list)...),
			cli.Misuse, expected, "a number above 0")
	}
	refused(t, []string{"grid", "nowhere.svm", "-kernel", "arccos", "-grid", "n=1,-0.5"}, cli.Misuse, "found n=-0.5",
		"at which the integral diverges")
	refused(t, []string{"spectrum", "-in", "nowhere.svm", "-kernel", "diffusion", "-t", "0.5,0"}, cli.Misuse,
		"found t=0", "a number above 0")
}

// A power of values below 0 is no number: which document has one is said once it is read.
func TestPowersOfNegativeData(t *testing.T) {
	file := filepath.Join(t.TempDir(), "minus.svm")
	musttest.Do(t, os.WriteFile(file, []byte("1 1:1 2:2\n2 1:2 2:-3\n1 1:1\n2 2:2\n"), 0o666))
	out := filepath.Join(t.TempDir(), "out")
	for _, spec := range []string{"linear:embed=tf-l1-pow0.75", "bhattacharyya", "diffusion"} {
		for _, c := range [][]string{
			{"gram", "-in", file, "-o", out, "-to", "npy", "-kernel", spec, "-signed"},
			{"spectrum", "-in", file, "-kernel", spec, "-signed"},
			{"verify", "-in", file, "-kernel", spec, "-signed"}, {"train", "-q", file, out, "-kernel", spec, "-signed"},
			{"cv", "-q", "-v", "2", file, "-kernel", spec, "-signed"},
			{"grid", "-q", "-v", "2", file, "-kernel", spec, "-signed"},
		} {
			refused(t, c, cli.Failed, "found -3, expected a finite value not below 0", "of all values")
		}
	}
}

// refused runs a command, which shall fail with a message that holds all of what is wanted, and
// print no results.
func refused(t *testing.T, args []string, status int, wanted ...string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if got := run(args, &stdout, &stderr); got != status || stdout.Len() > 0 {
		t.Errorf("grambench %s: exit status %d, expected %d, output %q, %q", strings.Join(args, " "), got, status,
			stdout.String(), stderr.String())
		return
	}
	for _, want := range wanted {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("grambench %s: %q, expected %q in it", strings.Join(args, " "), stderr.String(), want)
		}
	}
}
