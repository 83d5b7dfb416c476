package benchlibsvm

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"

	"github.com/gramengine/gram/lab/internal/peers"
)

// fitScript is what Python runs: it loads a matrix, fits scikit-learn's SVC on it, and prints how
// long that took.
//
//go:embed fit.py
var fitScript string

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
func (b *bench) svmTrainRun(ctx context.Context, vectors, model string) (peers.Ran, []float64, error) {
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
func (b *bench) fit(ctx context.Context, matrix, vectors string) (r peers.Ran, version string, err error) {
	r, err = b.Script(ctx, nil, fitScript, matrix, vectors, number(b.c))
	return r, "scikit-learn " + r.Version, err
}

// number writes a parameter.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
