package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"

	"github.com/gramengine/gram/cmd/grambench/internal/beside"
	"github.com/gramengine/gram/cmd/grambench/internal/report"
)

// fitScript is what Python runs: it loads a matrix, fits scikit-learn's SVC on it, and prints how
// long that took.
//
//go:embed fit.py
var fitScript string

// sample is one run of a program.
type sample struct{ seconds, cores float64 }

// samples are the runs of one program.
type samples []sample

func (s *samples) add(r beside.Ran) { *s = append(*s, sample{r.Seconds, r.Cores}) }

// median returns the median, least and greatest seconds, and the median of cores.
func (s samples) median() (seconds, least, most, cores float64) {
	var all, used []float64
	for _, one := range s {
		all, used = append(all, one.seconds), append(used, one.cores)
	}
	return report.Median(all), slices.Min(all), slices.Max(all), report.Median(used)
}

// findOthers looks for the programs to compare with. It says which aren't there, and sets their
// names to "".
func (b *bench) findOthers(ctx context.Context) {
	for _, p := range []struct {
		name     *string
		variable string
	}{{&b.svmTrain, "SVM_TRAIN"}, {&b.svmPredict, "SVM_PREDICT"}} {
		if _, err := exec.LookPath(*p.name); err != nil {
			b.Say("left out: %s isn't there (%s names it; on Debian: apt-get install libsvm-tools)", *p.name,
				p.variable)
			*p.name = ""
		}
	}
	b.NeedPython(ctx, "numpy, sklearn.svm")
}

// svmTrainRun runs svm-train on vectors and returns the objective of each of its problems.
func (b *bench) svmTrainRun(ctx context.Context, vectors, model string) (beside.Ran, []float64, error) {
	r, err := b.Execute(ctx, b.svmTrain, "-t", "2", "-g", number(b.gamma), "-c", number(b.c), "-m", "4000", vectors, model)
	if err != nil {
		return r, nil, err
	}
	objectives, err := parseObjectives(r.Stdout)
	return r, objectives, err
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
// Seconds are those of the fit alone.
func (b *bench) fit(ctx context.Context, matrix, vectors string) (r beside.Ran, version string, err error) {
	var said struct {
		Seconds, Cores float64
		Version        string
	}
	if _, err := b.Script(ctx, &said, fitScript, matrix, vectors, number(b.c)); err != nil {
		return r, "", err
	}
	return beside.Ran{Seconds: said.Seconds, Cores: said.Cores}, "scikit-learn " + said.Version, nil
}

// number writes a parameter.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
