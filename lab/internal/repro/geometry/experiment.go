package geometry

import (
	"context"
	"errors"
	"fmt"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/lab/internal/repro"
)

// Experiment computes the metrics and curvatures in chapter 6 of Cho's thesis.
var Experiment = repro.Experiment{
	Name:    "cho-geometry",
	Paper:   "Cho, Kernel Methods for Deep Learning, PhD thesis, UC San Diego, 2012, Table 6.1",
	Corpora: "nothing",
	RunTime: "a second",
	Help: `
A kernel maps documents x of d values to a surface in its feature space. Table 6.1, and for kernels
and norms ‖x‖ the metric g across x and along x, ln √det g and the scalar curvature S, by
differences of the kernel: to 3·10⁻⁵ of the terms of S, 10⁻⁶ for norms from ½. With dρ the length
along x the surface is ds² = dρ² + w(ρ)² dΩ². If κ = (dw/dρ)² is the same at all norms it is a cone,
flat for κ = 1. A kernel that ignores norms maps to a sphere of d-1 dimensions. A kernel without a
derivative has no metric; the growth of its distances is noted.`,
	New: func() repro.Settings {
		return &settings{repro.Kernels{kernel.MustParse("arccos:n=2")}, repro.Floats{0.5, 1, 2}, 3}
	},
}

type settings struct {
	Kernels   repro.Kernels `param:"kernels" help:"kernels, separated by semicolons"`
	Norms     repro.Floats  `param:"norms" wants:"positive numbers" help:"norms of documents"`
	Dimension int           `param:"d" min:"1" help:"dimensions of documents"`
}

// formulas contains Table 6.1 and other results in chapter 6: kernel, metric and curvature. For
// arc-cosine kernels, the curvature is corrected, because the thesis has an error. The surface of
// these kernels is the cone ds² = dR² + κR² dΩ², κ = n²/(2n-1), R² = (2n-1)!! ‖x‖²ⁿ, whose
// curvature is (d-1)(d-2)(1-κ)/(κR²).
var formulas = [][]string{
	{"⟨x,y⟩", "δ", "0"},
	{"⟨x,y⟩^p", "p‖x‖^(2p-2) (δ + (p-1)xxᵀ/‖x‖²)", "(p-1)(2-d)(d-1) / (p‖x‖^2p)"},
	{"exp(-‖x-y‖²/σ²)", "(2/σ²) δ", "0"},
	{"arccos, n >= 1", "n²(2n-3)!!‖x‖^(2n-2) (δ + 2(n-1)xxᵀ/‖x‖²)", "(n-1)²(2-d)(d-1) / (n²(2n-1)!!‖x‖^2n)"},
	{"arccos, n = 1", "δ", "0"},
	{"arccos, n = 0", "none: ds² = 2‖dx⊥‖/(π‖x‖)", "none"},
	{"arccos, n = 0, σ", "(δ - 2xxᵀ/q) / (πσ√q), q = 2‖x‖² + σ²", "no short formula"},
}

// Run implements repro.Settings.
func (p *settings) Run(context.Context, *repro.Env) (*repro.Report, error) {
	if p.Kernels == nil {
		return nil, cli.Usagef("kernels is empty")
	}
	r := &repro.Report{}
	r.AddTable("6.1", "Table 6.1", "kernel", "metric g", "scalar curvature S").Rows = formulas
	t := r.AddTable("surfaces", fmt.Sprintf("d = %d", p.Dimension), "kernel", ">‖x‖", ">g across x", ">g along x",
		">ln √det g", ">S", ">κ")
	r.AddNote("For arccos with n >= 1, the thesis prints 3 S (6.16).")
	for _, k := range p.Kernels {
		k = kernel.Resolve(k, p.Dimension)
		for _, norm := range p.Norms {
			at, err := surfaceAt(k, norm, p.Dimension)
			if rough := (*roughError)(nil); errors.As(err, &rough) {
				r.AddNote("%s has no metric, because %v (thesis, 6.18)", k, rough)
				break
			} else if err != nil {
				return nil, err
			}
			cells := []string{k.String(), fmt.Sprint(norm)}
			for _, v := range []float64{at.orthogonal, at.parallel, at.logVolume, at.curvature, at.squaredSlope} {
				cells = append(cells, fmt.Sprintf("%.6g", v))
			}
			t.AddRow(cells...)
		}
	}
	return r, nil
}
