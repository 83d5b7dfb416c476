package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// fitScript is what Python runs: it loads a matrix, fits scikit-learn's SVC on it, and prints how long that took.
//
//go:embed fit.py
var fitScript string

// findOthers looks for the programs to compare with; what isn't there is said, and its name becomes "".
func (b *bench) findOthers(ctx context.Context) {
	for _, p := range []struct {
		name     *string
		variable string
	}{{&b.svmTrain, "SVM_TRAIN"}, {&b.svmPredict, "SVM_PREDICT"}} {
		if _, err := exec.LookPath(*p.name); err != nil {
			fmt.Fprintf(b.stderr, "benchlibsvm: left out: %s isn't there (%s names it; on Debian: apt-get install libsvm-tools)\n", *p.name, p.variable)
			*p.name = ""
		}
	}
	if err := exec.CommandContext(ctx, b.python, "-c", "import numpy, sklearn.svm").Run(); err != nil {
		fmt.Fprintf(b.stderr, "benchlibsvm: left out: %s has no scikit-learn (PYTHON names one that has)\n", b.python)
		b.python = ""
	}
}

// svmTrainRun runs svm-train on vectors and returns the objective of each of its problems.
func (b *bench) svmTrainRun(ctx context.Context, vectors, model string) (sample, []float64, error) {
	s, stdout, _, err := b.execute(ctx, b.svmTrain, "-t", "2", "-g", number(b.gamma), "-c", number(b.c), "-m", "4000", vectors, model)
	if err != nil {
		return s, nil, err
	}
	objectives, err := parseObjectives(stdout)
	return s, objectives, err
}

var objectiveLine = regexp.MustCompile(`(?m)^obj = (\S+), rho = `)

// parseObjectives reads the objectives out of what svm-train prints.
func parseObjectives(text string) ([]float64, error) {
	var all []float64
	for _, found := range objectiveLine.FindAllStringSubmatch(text, -1) {
		v, err := strconv.ParseFloat(found[1], 64)
		if err != nil {
			return nil, fmt.Errorf("svm-train printed %q, expected an objective", found[0])
		}
		all = append(all, v)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("svm-train printed no objective")
	}
	return all, nil
}

// readLines reads predictions, a label a line.
func readLines(file string) ([]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), nil
}

// fit runs scikit-learn's SVC on the matrix in a NumPy file, with the labels of a file of vectors. The sample's seconds are those of the fit alone.
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
