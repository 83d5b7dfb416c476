package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// vectorsOf draws vectors of three classes in ten columns. Values vary around a mean of the class.
// column converts them to the values of a file type.
func vectorsOf(r *rand.Rand, n int, column func(j int, v float64) float64) (rows [][]float64, classes []int) {
	means := rand.New(rand.NewPCG(1, 1))
	var mean [3][10]float64
	for c := range mean {
		for j := range mean[c] {
			mean[c][j] = 1.2 * means.NormFloat64()
		}
	}
	for i := range n {
		row := musttest.MakeSlice(10, func(j int) float64 { return column(j, mean[i%3][j]+r.NormFloat64()) })
		rows, classes = append(rows, row), append(classes, i%3)
	}
	return rows, classes
}

// reference returns the accuracy of 5 nearest neighbours on columns with mean 0 and variance 1.
func reference(train [][]float64, of []int, test [][]float64, truth []int) float64 {
	n, cols := float64(len(train)), len(train[0])
	weights := make([]float64, cols)
	for j := range weights {
		var sum, squares float64
		for _, x := range train {
			sum += x[j]
		}
		for _, x := range train {
			squares += (x[j] - sum/n) * (x[j] - sum/n)
		}
		weights[j] = n / max(squares, 1e-300)
	}
	right := 0
	for i, x := range test {
		var nearest [5]int
		taken := make([]bool, len(train))
		var votes [3]int
		for k := range nearest {
			best := math.Inf(1)
			for t, y := range train {
				var d float64
				for j := range x {
					d += weights[j] * (x[j] - y[j]) * (x[j] - y[j])
				}
				if !taken[t] && d < best {
					best, nearest[k] = d, t
				}
			}
			taken[nearest[k]] = true
			votes[of[nearest[k]]]++
		}
		answer := 0
		for c, v := range votes {
			if v > votes[answer] {
				answer = c
			}
		}
		if answer == truth[i] {
			right++
		}
	}
	return float64(right) / float64(len(test))
}

// Defaults suit all kinds of vectors: train without options and each -type have nearly the accuracy
// of a plain reference on scaled columns.
func TestDefaultsSuitVectors(t *testing.T) {
	const near = 0.06 // about two standard deviations of an accuracy of 0.85 on 150 vectors
	kinds := map[string]func(j int, v float64) float64{
		"counts":        func(_ int, v float64) float64 { return max(math.Round(3+2*v), 0) },
		"fractions":     func(_ int, v float64) float64 { return 5 + v },
		"negative":      func(_ int, v float64) float64 { return v },
		"unlike":        func(j int, v float64) float64 { return math.Pow(10, float64(j%5)) * (6 + v) },
		"whole, unlike": func(j int, v float64) float64 { return math.Round(math.Pow(10, float64(j%4)) * (60 + 10*v)) },
		"tiny":          func(_ int, v float64) float64 { return 1e-3 * v },
		"shifted":       func(_ int, v float64) float64 { return 1000 + v },
	}
	types := []string{"", "c_svc", "nu_svc", "linear", "logistic", "knn:k=5", "landmark:m=60"}
	dir := t.TempDir()
	write := func(name string, rows [][]float64, classes []int) string {
		var b strings.Builder
		for i, x := range rows {
			fmt.Fprint(&b, classes[i]+1)
			for j, v := range x {
				if v != 0 {
					fmt.Fprintf(&b, " %d:%v", j+1, float32(v))
				}
			}
			fmt.Fprintln(&b)
		}
		path := filepath.Join(dir, name)
		musttest.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
		return path
	}
	for kind, column := range kinds {
		r := rand.New(rand.NewPCG(3, 3))
		train, of := vectorsOf(r, 150, column)
		test, truth := vectorsOf(r, 150, column)
		want := reference(train, of, test, truth)
		source, other, model := write("train.svm", train, of), write("test.svm", test, truth), filepath.Join(dir, "m.model")
		for _, typ := range types {
			args := []string{"train", "-q", "-in", source, "-o", model}
			if typ != "" {
				args = append(args, "-type", typ)
			}
			runs(t, args...)
			answers := runs(t, "predict", "-q", "-in", other, "-model", model)
			right := 0
			for i, line := range strings.Fields(answers) {
				if line == fmt.Sprint(truth[i]+1) {
					right++
				}
			}
			got := float64(right) / float64(len(truth))
			t.Logf("%-14s %-14s %.3f, reference %.3f", kind, typ, got, want)
			if !(got >= want-near) {
				t.Errorf("%s, -type %q: %.3f of the answers are right, expected nearly %.3f", kind, typ, got, want)
			}
		}
	}
}
