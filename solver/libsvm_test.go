package solver

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// svmTrain runs LIBSVM's svm-train on a matrix. It returns the objective and rho of each problem,
// in LIBSVM's order.
func svmTrain(t *testing.T, m *Dense, targets []float64, args ...string) (objective, rho []float64) {
	t.Helper()
	program, err := exec.LookPath("svm-train")
	if err != nil {
		t.Skip("svm-train is not installed")
	}
	var text bytes.Buffer
	for i, z := range targets {
		fmt.Fprintf(&text, "%v 0:%d", z, i+1)
		for j, v := range m.Row(i) {
			fmt.Fprintf(&text, " %d:%v", j+1, v)
		}
		text.WriteByte('\n')
	}
	dir := t.TempDir()
	in := filepath.Join(dir, "matrix")
	musttest.NoError(t, os.WriteFile(in, text.Bytes(), 0o600))
	out, err := exec.Command(program,
		append(append([]string{"-t", "4", "-e", "1e-5"}, args...), in, filepath.Join(dir, "model"))...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, found := range regexp.MustCompile(`obj = (\S+), rho = (\S+)`).FindAllSubmatch(out, -1) {
		for i, to := range []*[]float64{&objective, &rho} {
			v := musttest.Get(strconv.ParseFloat(string(found[i+1]), 64))(t)
			*to = append(*to, v)
		}
	}
	return objective, rho
}

// closeToLIBSVM compares decision functions with svm-train's results, which have six decimals. Both
// solvers end with a violation of at most 10^-5. By duality this violation changes the objective by
// at most 10^-5·Σα. In ν-SVC, coefficients and rho are divided by the margin, which has an error of
// 2·10^-5. The maximum coefficient is the inverse of the margin. The violation doesn't bound the
// error of rho, so the tolerance of rho is ten times larger.
func closeToLIBSVM(t *testing.T, got []*DecisionFunction, objective, rho []float64, divided bool) {
	t.Helper()
	if len(got) != len(objective) {
		t.Fatalf("svm-train solved %d problems, expected %d", len(objective), len(got))
	}
	for i, m := range got {
		scale := 1.0
		if divided {
			for _, c := range m.Coef {
				scale = math.Max(scale, math.Abs(c))
			}
		}
		if tol := 1e-5*math.Abs(objective[i]) + 1e-6; !(math.Abs(m.Objective-objective[i]) <= max(tol,
			4e-5*(scale-1)*math.Abs(objective[i]))) {
			t.Errorf("problem %d: objective %v, svm-train has %v", i, m.Objective, objective[i])
		}
		if !(math.Abs(m.Rho-rho[i]) <= 1e-4*scale) {
			t.Errorf("problem %d: rho %v, svm-train has %v", i, m.Rho, rho[i])
		}
	}
}

func TestSameOptimumAsLIBSVM(t *testing.T) {
	const n = 300
	ctx, fine := context.Background(), Options{Tolerance: 1e-5}
	m, x := gaussian(t, 5, n, 4, 0.2)
	signs, targets := make([]float64, n), make([]float64, n)
	positive := noisySigns(5, x)
	positive[0] = true // makes the positive class svm-train's first class
	for i := range n {
		signs[i] = -1
		if positive[i] {
			signs[i] = 1
		}
		// the second term is noise; without it ν-SVR takes 10⁵ steps, also in svm-train
		targets[i] = math.Sin(x[i][0]) + 0.5*math.Sin(50*x[i][1])
	}
	three := classes(x, 3)
	names := make([]float64, n) // svm-train orders classes by first occurrence
	seen := map[int]int{}
	for i, c := range three {
		if _, ok := seen[c]; !ok {
			seen[c] = len(seen)
		}
		three[i], names[i] = seen[c], float64(c)
	}
	two := musttest.MakeSlice(n, func(i int) int { return signIndexOf(positive[i]) })
	for _, test := range []struct {
		name    string
		targets []float64
		args    []string
		Training
	}{
		{"C-SVC", signs, []string{"-c", "10", "-w1", "2"},
			Training{Labels: two, Classes: 2, Parameters: Parameters{Regularization: Regularization{C: 10},
				Weights: []float64{2}}}},
		{"C-SVC/classes", names, []string{"-c", "3"}, Training{Labels: three, Classes: 3, Parameters: withC(3)}},
		{"nu-SVC", signs, []string{"-s", "1", "-n", "0.3"},
			Training{Labels: two, Classes: 2, Parameters: Parameters{Regularization: Regularization{Nu: 0.3}}}},
		{"nu-SVC/classes", names, []string{"-s", "1", "-n", "0.2"},
			Training{Labels: three, Classes: 3, Parameters: Parameters{Regularization: Regularization{Nu: 0.2}}}},
		{"one-class", signs, []string{"-s", "2", "-n", "0.25"},
			Training{Labels: two, OneClass: true, Parameters: Parameters{Regularization: Regularization{Nu: 0.25}}}},
		{"epsilon-SVR", targets, []string{"-s", "3", "-c", "5", "-p", "0.05"},
			Training{Targets: targets, Parameters: Parameters{Regularization: Regularization{C: 5, Epsilon: 0.05}}}},
		{"nu-SVR", targets, []string{"-s", "4", "-c", "5", "-n", "0.4"},
			Training{Targets: targets, Parameters: Parameters{Regularization: Regularization{C: 5, Nu: 0.4}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			objective, rho := svmTrain(t, m, test.targets, test.args...)
			got := musttest.Get(Train(ctx, m, test.Training, fine))(t).Functions
			closeToLIBSVM(t, got, objective, rho, strings.HasPrefix(test.name, "nu-SVC"))
		})
	}
}
