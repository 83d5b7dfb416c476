//go:build campaign

package campaign

import (
	"cmp"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
)

var solverPart = part{
	name: "solver", short: 8 * time.Second, long: 30 * time.Minute, prepare: prepareSolver,
	about: "random and degenerate binary problems; duality gap and objective must agree with the bound and with LIBSVM",
}

type problem struct {
	Kind   string      `json:"-"`
	K      [][]float64 // rounded to float32
	Y      []float64   // ±1
	C      float64
	Convex bool `json:"-"`
}

func (t *trial) draw() *problem {
	n, dims := 2+t.r.IntN(60), 1+t.r.IntN(8)
	kinds := []string{"usual", "duplicates with opposite labels", "one document of a class", "all the same", "sigmoid",
		"rank one", "scales apart", "two documents"}
	p := &problem{Kind: kinds[t.r.IntN(len(kinds))], C: math.Pow(10, 12*t.r.Float64()-6), Convex: true}
	if p.Kind == "two documents" {
		n = 2
	}
	x := make([][]float64, n)
	scale := 1.0
	for i := range x {
		if p.Kind == "scales apart" {
			scale = math.Exp2(float64(t.r.IntN(12)))
		}
		for range dims {
			x[i] = append(x[i], scale*t.r.NormFloat64())
		}
		y := float64(2*t.r.IntN(2) - 1)
		if p.Kind == "one document of a class" {
			y = 1
		}
		switch {
		case i == 0:
			y = -1
		case i == 1:
			y = 1
		case p.Kind == "duplicates with opposite labels" && i%2 == 1:
			x[i], y = x[i-1], -p.Y[i-1]
		}
		if p.Kind == "all the same" {
			x[i] = x[0]
		}
		p.Y = append(p.Y, y)
	}
	linear, gamma := t.r.IntN(2) == 0, math.Exp2(float64(t.r.IntN(8)-6))
	for i := range x {
		row := make([]float64, n)
		for j := range x {
			var dot, distance float64
			for k := range x[i] {
				dot += x[i][k] * x[j][k]
				distance += (x[i][k] - x[j][k]) * (x[i][k] - x[j][k])
			}
			switch {
			case p.Kind == "sigmoid":
				p.Convex, dot = false, math.Tanh(gamma*dot-1)
			case p.Kind == "rank one":
				dot = x[i][0] * x[j][0]
			case !linear:
				dot = math.Exp(-gamma * distance)
			}
			row[j] = float64(float32(dot))
		}
		p.K = append(p.K, row)
	}
	return p
}

// solved holds the dual objective of gram's coefficients, the duality gap, and the trained
// classifier.
type solved struct {
	objective, gap float64
	machine        *solver.DecisionFunction
}

// solve trains a classifier, and computes its dual objective D and its primal objective P in
// float64. By weak duality the optimum D* satisfies -P <= D* <= D (D is minimised).
func (t *trial) solve(p *problem) (*solved, error) {
	n := len(p.Y)
	data := make([]float32, 0, n*n)
	b := solver.Training{Labels: make([]int, n), Classes: 2,
		Parameters: solver.Parameters{Regularization: solver.Regularization{C: p.C}}}
	for i, row := range p.K {
		for _, v := range row {
			data = append(data, float32(v))
		}
		if p.Y[i] <= 0 {
			b.Labels[i] = 1
		}
	}
	m := musttest.Get(solver.NewDense(n, data))(t)
	trained, err := solver.Train(t.Context(), m, b, solver.Options{Tolerance: tolerance, Workers: 1})
	if err != nil {
		return nil, err
	}
	machine := trained.Functions[0]
	values := make([]float64, n) // values of the decision function plus rho
	var quadratic, linear float64
	for s, i := range machine.Support {
		linear += math.Abs(machine.Coef[s])
		for j := range values {
			values[j] += machine.Coef[s] * p.K[i][j]
		}
	}
	for s, i := range machine.Support {
		quadratic += machine.Coef[s] * values[i]
	}
	loss := 0.0
	for j, v := range values {
		loss += max(0, 1-p.Y[j]*(v-machine.Rho))
	}
	d := quadratic/2 - linear
	return &solved{d, d + quadratic/2 + p.C*loss, machine}, nil
}

func prepareSolver(t *trial) func(number int64) bool {
	python := cmp.Or(os.Getenv("PYTHON"), "python3") // with scikit-learn, whose SVC is LIBSVM
	return func(int64) bool {
		var problems []*problem
		for range problemsAtOnce {
			problems = append(problems, t.draw())
		}
		theirs := t.askLIBSVM(python, problems)
		for i, p := range problems {
			ours, err := t.solve(p)
			if err != nil {
				t.find("%s, n = %d, C = %g: %v", p.Kind, len(p.Y), p.C, err)
				continue
			}
			t.judge(p, ours)
			t.judgeAgainst(p, ours, theirs[i])
		}
		return true
	}
}

// closeEnough is the maximum relative difference between an objective and the optimum.
const (
	closeEnough    = 1e-5
	tolerance      = 1e-7
	problemsAtOnce = 25 // problems per run of LIBSVM
)

// judge checks the objective that the solver reports, and the duality gap.
func (t *trial) judge(p *problem, s *solved) {
	t.count("problems", 1)
	rounding := 1e-6 * (1 + math.Abs(s.objective)) * max(1, p.C*1e-6)
	if math.IsNaN(s.machine.Gap) || !(math.Abs(s.machine.Objective-s.objective) <= rounding) {
		t.find("%s, n = %d, C = %g: objective %v, from coefficients %v, gap %v", p.Kind, len(p.Y), p.C,
			s.machine.Objective, s.objective, s.machine.Gap)
	}
	if p.Convex && s.machine.Converged {
		// Violations up to the tolerance change each slack variable by at most the tolerance.
		relative := (s.gap - float64(len(p.Y))*p.C*tolerance) / max(math.Abs(s.objective), 1e-300)
		t.raise("largest duality gap beyond n·C times the tolerance, divided by the objective", relative)
		if !(relative <= closeEnough) {
			t.find("%s, n = %d, C = %g: duality gap %v of %v", p.Kind, len(p.Y), p.C, s.gap, s.objective)
		}
	}
}

// answer contains the dual objective of LIBSVM's coefficients, and whether LIBSVM converged.
type answer struct {
	Objective float64
	Ended     bool
}

// judgeAgainst checks that gram's objective doesn't exceed LIBSVM's objective.
func (t *trial) judgeAgainst(p *problem, s *solved, of answer) {
	if !p.Convex || !of.Ended || !s.machine.Converged {
		return // several optima, or no convergence
	}
	above := (s.objective - of.Objective) / max(math.Abs(of.Objective), 1e-300)
	t.count("objectives compared with LIBSVM's", 1)
	t.raise("largest relative excess over LIBSVM's objective", above)
	if !(above <= closeEnough) {
		t.find("%s, n = %d, C = %g: objective %v, LIBSVM's %v", p.Kind, len(p.Y), p.C, s.objective, of.Objective)
	}
}

func (t *trial) askLIBSVM(python string, problems []*problem) (all []answer) {
	file := filepath.Join(t.scratch, "problems.json")
	musttest.NoError(t, os.WriteFile(file, musttest.Get(json.Marshal(problems))(t), 0o666))
	script := filepath.Join(root, "lab", "campaign", "solver.py")
	r := t.succeed(job{argv: []string{python, script, file}, within: 10 * time.Minute})
	musttest.NoError(t, json.Unmarshal([]byte(r.stdout), &all))
	if len(all) != len(problems) {
		t.Fatalf("%d answers to %d problems", len(all), len(problems))
	}
	return all
}
