package learners

import (
	"errors"
	"flag"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// parseSVM parses line as arguments of a command with two positional arguments.
func parseSVM(line string) (*train, error) {
	f, s := cli.NewFlags("train"), &train{}
	s.declare(f)
	f.MaxArgs = 2
	s.Source = "some" // default for lines without a source
	return s, f.Parse(strings.Fields(line))
}

// threeClasses returns a corpus of vectors with columns 1 to 4 and the classes 1, -1 and cats.
func threeClasses() *corpus.Corpus {
	c := &corpus.Corpus{
		Source: "three.svm", Classes: []string{"1", "-1", "cats"},
		Documents: &sparse.CSR{
			Cols:    5,
			Offsets: []int64{0, 1, 2, 3},
			Terms:   []uint32{1, 4, 2},
			Values:  []float32{1, 1, 1},
		},
		Labels: sparse.Labels{Offsets: []int64{0}},
	}
	c.Labels.Add(0)
	c.Labels.Add(1)
	c.Labels.Add(2)
	return c
}

// svm-train's flags set the same kernel and settings as in svm-train.
func TestSVMTrainLetters(t *testing.T) {
	for line, want := range map[string]struct {
		kernel string
		check  func(s *train) bool
	}{
		"-t 0 a":                   {"linear", func(s *train) bool { return s.Signed }},
		"-t 1 -g 0.5 -d 2 -r -1 a": {"polynomial:gamma=0.5,r=-1,degree=2", nil},
		"-t 1 a":                   {"polynomial:gamma=0.2,r=0,degree=3", nil}, // gamma is 1/columns by default
		"-t 2 -g 7 a":              {"rbf:gamma=7", nil},
		"-g 7 a":                   {"rbf:gamma=7", nil},
		"-t 2 -g 0 a":              {"rbf:gamma=0.2", nil},
		"-t 3 a":                   {"sigmoid:gamma=0.2,r=0", nil},
		"a": {"diffusion:t=0.5",
			func(s *train) bool { return !s.Signed && s.parameterValue("c") == 1 && s.learner.Name == "c_svc" }},
		"-s 4 -n 0.25 -c 7 a": {"diffusion:t=0.5",
			func(s *train) bool {
				return s.learner.Name == "nu_svr" && s.parameterValue("nu") == 0.25 && s.parameterValue("c") == 7
			}},
		"-s 3 -p 0.01 -e 1e-5 a b": {"diffusion:t=0.5",
			func(s *train) bool {
				return s.parameterValue("epsilon") == 0.01 && s.parameterValue("tolerance") == 1e-5 && s.f.Args[1] == "b"
			}},
		"-h 0 -b 1 -m 300 a": {"diffusion:t=0.5",
			func(s *train) bool {
				t := s.learner.trainer
				return t.IsSet("shrinking") && params.Get(t, "probabilities") == true && s.Memory == 300<<20
			}},
		"-kernel ngd -workers 2 a -q": {"ngd:shift=0",
			func(s *train) bool { return s.Workers == 2 && s.f.Quiet && !s.learner.trainer.IsSet("weight") }},
		"-type one-class -in a": {"diffusion:t=0.5",
			func(s *train) bool { return s.learner.Name == "one_class" && s.Source == "a" }},
	} {
		s, err := parseSVM(line)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		k, err := s.kernelOf(threeClasses())
		if err != nil || k.String() != want.kernel {
			t.Errorf("%s: kernel %v, %v, expected %s", line, k, err, want.kernel)
		}
		if want.check != nil && !want.check(s) {
			t.Errorf("%s: %+v", line, s)
		}
	}
}

func TestSVMWeights(t *testing.T) {
	for line, want := range map[string]map[string]float64{
		"-w1 5 -w-1 2 a": {"1": 5, "-1": 2},
		// different spellings of a number name the same class
		"-w+1 5 -wcats 0.5 a":                         {"1": 5, "cats": 0.5},
		"-w1=5 -weight cats=3 --weight=-1=2 a":        {"1": 5, "cats": 3, "-1": 2},
		"-workers 1 -c 3 a":                           nil,
		"-kernel linear:embed=tfidf -wcats 2 a -w1 4": {"cats": 2, "1": 4},
	} {
		s, err := parseSVM(line)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		_, err = s.options(threeClasses())
		got := params.Get(s.learner.trainer, "weight")
		if err != nil || !reflect.DeepEqual(got, want) || s.f.Args[0] != "a" {
			t.Errorf("%s: weights %v, %v, arguments %q, expected %v", line, got, err, s.f.Args, want)
		}
	}
	s := musttest.Get(parseSVM("-wdogs 2 a"))(t)
	musttest.WantError(s.options(threeClasses()))(t, "a weight for a class that isn't there", "dogs")
}

// The default scheme for documents with several labels is one classifier per label.
func TestSVMScheme(t *testing.T) {
	several := threeClasses()
	several.Labels = sparse.Labels{Offsets: []int64{0, 1, 3, 3}, IDs: []int32{0, 1, 2}}
	for _, c := range []struct {
		line   string
		corpus *corpus.Corpus
		want   solver.Scheme
	}{
		{"a", threeClasses(), solver.OneVsOne}, {"a", several, solver.MultiLabel},
		{"-scheme one-vs-rest a", several, solver.OneVsRest}, {"-scheme labels a", threeClasses(), solver.MultiLabel},
	} {
		s := musttest.Get(parseSVM(c.line))(t)
		_, err := s.options(c.corpus)
		if got := learn.SchemeOf(s.learner.trainer); err != nil || got != c.want {
			t.Errorf("%s: scheme %v, %v, expected %v", c.line, got, err, c.want)
		}
	}
}

func TestSVMUsage(t *testing.T) {
	for line, want := range map[string]string{
		"-s 5 a": "0, 1, 2, 3 or 4", "-t 7 a": "0, 1, 2, 3 or 4", "-t 4 -embed tf a": "precomputed",
		"-type svm a": "valid types are c_svc",
		"-w1":         "-wCLASS WEIGHT",
		"-w1 x a":     "above 0", "-c 0 a": "-c must be", "-c NaN a": "got NaN", "-s 1 -n 2 a": "at most 1",
		"-e -1 a":            "got -1",
		"-kernel ngd -g 1 a": "requires -t", "-r 1 a": "requires -t", "-kernel ngd -t 1 a": "is set by both",
		"-s 1 -w1 2 a": "-weight does not apply to -type nu_svc; valid parameters are scheme, nu,",
		"-s 2 -b 1 a":  "-b does not",
		"-n 0.1 a":     "-n does not apply to -type c_svc", "-set depth=3 a": "-set depth does not apply",
		"-set c=0 a": "-set c must be a number above 0, got 0", "-set c a": "NAME=VALUE", "-b 2 a": "0 or 1",
		"-type linear:c=5 -c 3 a":                    "c is set by both -type linear:c=5 and -c 3",
		"-c 3 -set c=5 a":                            "c is set by both -c 3 and -set c=5",
		"-s 1 -n 0.1 -nu 0.2 a":                      "nu is set by both -n 0.1 and -nu 0.2",
		"-h 0 -set shrinking=1 a":                    "shrinking is set by both -h 0 and -set shrinking=1",
		"-s 2 -type linear a":                        "type is set by both -type linear and -s 2",
		"-w1 2 -weight 1=3 a":                        "weight of 1 is set by both -weight 1=2 and -weight 1=3",
		"-type linear:embed=tfidf-l1 -embed tf-l2 a": "embed is set by both -type linear:embed=tfidf-l1 and -embed tf-l2",
		"-embed tf-l2 -set embed=tf a":               "embed is set by both -set embed=tf and -embed tf-l2",
		"-scale 0..1 -embed tf a":                    "embed is set by both -embed tf and -scale 0..1",
		"-type knn:kernel=linear -kernel ngd a":      "kernel is set by both -type knn:kernel=linear and -kernel ngd",
		"-type c_svc:kernel=linear -t 2 a":           "kernel is set by both -type c_svc:kernel=linear and -t 2",
		"a b c":                                      "unexpected",
		"-scheme all a":                              "-scheme", "-depth 3": "not defined",
	} {
		_, err := parseSVM(line)
		var usage cli.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, expected a usage error with %q", line, err, want)
		}
	}
	for _, line := range []string{"-h", "-help", "--help", "-h -c 3", "-c 3 -h"} {
		musttest.WantError(parseSVM(line))(t, line, flag.ErrHelp)
	}
	if s, err := parseSVM("-in a -c 3"); err != nil || !slices.Equal(s.f.Args, nil) {
		t.Errorf("flags alone: %v", err)
	}
}
