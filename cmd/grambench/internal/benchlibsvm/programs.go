package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gramengine/gram/cmd/grambench/internal/report"
)

// fitScript is what Python runs: it loads a matrix, fits scikit-learn's SVC on it, and prints how
// long that took.
//
//go:embed fit.py
var fitScript string

// sample is one run of a program.
type sample struct {
	seconds float64
	cores   float64 // processor time by elapsed time
}

// samples are the runs of one program.
type samples []sample

func (s *samples) add(v sample) { *s = append(*s, v) }

// median returns the median, least and greatest seconds, and the median of cores.
func (s samples) median() (seconds, least, most, cores float64) {
	var all, used []float64
	for _, one := range s {
		all, used = append(all, one.seconds), append(used, one.cores)
	}
	return report.Median(all), slices.Min(all), slices.Max(all), report.Median(used)
}

// execute runs a program with the bench's number of threads and returns its time and both outputs.
func (b *bench) execute(ctx context.Context, name string, args ...string) (s sample, stdout, stderr string, err error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Env = append(os.Environ(), "OMP_NUM_THREADS="+strconv.Itoa(b.threads))
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	begin := time.Now()
	err = c.Run()
	s.seconds = time.Since(begin).Seconds()
	if ctx.Err() != nil {
		return s, "", "", ctx.Err()
	}
	if err != nil {
		said := strings.TrimSpace(errs.String() + "\n" + out.String())
		said = said[max(0, len(said)-2000):]
		return s, "", "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, said)
	}
	s.cores = (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds() / s.seconds
	return s, out.String(), errs.String(), nil
}

// grambenchRun runs a command of grambench that prints JSON into said, and returns its standard
// error, too.
func (b *bench) grambenchRun(ctx context.Context, said any, args ...string) (sample, string, error) {
	s, stdout, stderr, err := b.execute(ctx, b.grambench, append(args, "-workers", strconv.Itoa(b.threads), "-json")...)
	if err == nil {
		err = json.Unmarshal([]byte(stdout), said)
	}
	return s, stderr, err
}

// findOthers looks for the programs to compare with. It says which aren't there, and sets their
// names to "".
func (b *bench) findOthers(ctx context.Context) {
	for _, p := range []struct {
		name     *string
		variable string
	}{{&b.svmTrain, "SVM_TRAIN"}, {&b.svmPredict, "SVM_PREDICT"}} {
		if _, err := exec.LookPath(*p.name); err != nil {
			b.say("left out: %s isn't there (%s names it; on Debian: apt-get install libsvm-tools)", *p.name,
				p.variable)
			*p.name = ""
		}
	}
	if err := exec.CommandContext(ctx, b.python, "-c", "import numpy, sklearn.svm").Run(); err != nil {
		b.say("left out: %s has no scikit-learn (PYTHON names one that has)", b.python)
		b.python = ""
	}
}

// svmTrainRun runs svm-train on vectors and returns the objective of each of its problems.
func (b *bench) svmTrainRun(ctx context.Context, vectors, model string) (sample, []float64, error) {
	s, stdout, _, err := b.execute(ctx, b.svmTrain, "-t", "2", "-g", number(b.gamma), "-c", number(b.c), "-m", "4000",
		vectors, model)
	if err != nil {
		return s, nil, err
	}
	objectives, err := parseObjectives(stdout)
	return s, objectives, err
}

var objectiveLine = regexp.MustCompile(`(?m)^obj = (\S+), rho = `)

// parseObjectives reads the objectives out of what svm-train prints.
func parseObjectives(text string) (all []float64, err error) {
	for _, found := range objectiveLine.FindAllStringSubmatch(text, -1) {
		v, err := strconv.ParseFloat(found[1], 64)
		if err != nil {
			return nil, fmt.Errorf("svm-train printed %q, expected an objective", found[0])
		}
		all = append(all, v)
	}
	if all == nil {
		err = errors.New("svm-train printed no objective")
	}
	return all, err
}

// fit runs scikit-learn's SVC on the matrix in a NumPy file, with the labels of a file of vectors.
// The sample's seconds are those of the fit alone.
func (b *bench) fit(ctx context.Context, matrix, vectors string) (s sample, version string, err error) {
	_, stdout, _, err := b.execute(ctx, b.python, "-c", fitScript, matrix, vectors, number(b.c))
	if err != nil {
		return s, "", err
	}
	var said struct {
		Seconds, Cores float64
		Version        string
	}
	if err := json.Unmarshal([]byte(stdout), &said); err != nil {
		return s, "", fmt.Errorf("scikit-learn printed %q: %w", stdout, err)
	}
	return sample{said.Seconds, said.Cores}, "scikit-learn " + said.Version, nil
}

// number writes a parameter.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
