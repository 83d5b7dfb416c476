package geometry

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
)

// Command is gramlab geometry.
var Command = &cli.Command{
	Name:    "geometry",
	Summary: "metric, volume and curvature of the surfaces that kernels induce",
	Help: `
A kernel maps documents x of d values to a surface in its feature space. Prints Table 6.1 of Cho's
thesis and, for kernels and norms ‖x‖, the metric g across x and along x, ln √det g and the scalar
curvature S, by differences of the kernel: to 3·10⁻⁵ of the terms of S, 10⁻⁶ for norms from ½.
With dρ the length along x the surface is ds² = dρ² + w(ρ)² dΩ². If κ = (dw/dρ)² is the same at all
norms it is a cone, flat for κ = 1. A kernel that ignores norms maps to a sphere of d-1 dimensions.
A kernel without a derivative has no metric; the growth of its distances is printed instead.`,
	Examples: `
gramlab geometry
gramlab geometry -kernel arccos:n=2 -kernel arccos:n=0,sigma=0.5 -norms 0.1..10*10 -d 784`,
	Setup: func(f *cli.Flags) cli.Work {
		c := &command{f: f}
		f.Group("Kernels", "")
		c.Kernels.Declare(f, "arccos:n=2")
		f.Group("Documents", "")
		f.StringVar(&c.list, "norms", "0.5,1,2", "the norms of documents: `LIST`")
		f.IntVar(&c.d, "d", 3, "their dimensions, `D`")
		f.Check(c.check)
		return c.run
	},
}

type command struct {
	source.Kernels
	f     *cli.Flags
	list  string
	d     int
	asked []kernel.Kernel
	norms []float64
}

func (c *command) check() error {
	if c.d < 1 {
		return cli.Usagef("-d %d is below 1", c.d)
	}
	norms, err := source.ParseValues("norms=" + c.list)
	if err != nil {
		return cli.Usagef("-norms: %w", err)
	}
	c.norms = norms.Values
	for _, r := range c.norms {
		if !(r > 0) || math.IsInf(r, 1) {
			return cli.Usagef("-norms %v, expected numbers above 0", r)
		}
	}
	c.asked, err = c.Parse("arccos:n=2")
	return err
}

// table is Table 6.1 of Cho's thesis and what else ch. 6 finds: kernel, metric and curvature. The curvature
// of arc-cosine kernels is corrected: their surface is the cone ds² = dR² + n²/(2n-1) R² dΩ², R² = (2n-1)!!
// ‖x‖²ⁿ, and a cone of opening κ has the curvature (d-1)(d-2)(1-κ)/(κR²).
var table = [][]string{
	{"⟨x,y⟩", "δ", "0"},
	{"⟨x,y⟩^p", "p‖x‖^(2p-2) (δ + (p-1)xxᵀ/‖x‖²)", "(p-1)(2-d)(d-1) / (p‖x‖^2p)"},
	{"exp(-‖x-y‖²/σ²)", "(2/σ²) δ", "0"},
	{"arccos, n >= 1", "n²(2n-3)!!‖x‖^(2n-2) (δ + 2(n-1)xxᵀ/‖x‖²)", "(n-1)²(2-d)(d-1) / (n²(2n-1)!!‖x‖^2n)"},
	{"arccos, n = 1", "δ", "0"},
	{"arccos, n = 0", "none: ds² = 2‖dx⊥‖/(π‖x‖)", "none"},
	{"arccos, n = 0, σ", "(δ - 2xxᵀ/q) / (πσ√q), q = 2‖x‖² + σ²", "no short formula"},
}

// surface is a kernel's surface at one norm, or the growth of its distances.
type surface struct {
	Kernel string  `json:"kernel"`
	Norm   float64 `json:"norm"`
	*point
	Rough *roughError `json:"no_derivative,omitempty"`
}

// result is the report of the command.
type result struct {
	D    int       `json:"d"`
	Rows []surface `json:"rows"`
}

func (c *command) run(_ context.Context, e *cli.Env) error {
	r := &result{D: c.d}
	for _, k := range c.asked {
		k = kernel.Resolve(k, c.d)
		for _, norm := range c.norms {
			p, err := at(k, norm, c.d)
			row := surface{Kernel: k.String(), Norm: norm, point: p}
			if err != nil && !errors.As(err, &row.Rough) {
				return err
			}
			if r.Rows = append(r.Rows, row); err != nil {
				break // it has no metric at any norm
			}
		}
	}
	return report.Write(e.Stdout, r, c.f.JSON)
}

func (r *result) Describe(d *report.Document) {
	t := report.NewTable("kernel", "metric g", "scalar curvature S")
	for _, row := range table {
		t.Add(row...)
	}
	d.Table("Metrics", "", t)
	d.Linef("\nCho's thesis prints three times this S for arccos, n >= 1 (6.16).\n\nd = %d", r.D)
	values := report.NewTable("kernel", ">‖x‖", ">g across x", ">g along x", ">ln √det g", ">S", ">κ")
	var rough []string
	for _, row := range r.Rows {
		if row.Rough != nil {
			rough = append(rough, fmt.Sprintf("%s has no derivative, so no metric: %v (6.18)", row.Kernel, row.Rough))
			continue
		}
		cells := []string{row.Kernel, report.Float(row.Norm)}
		for _, v := range []float64{row.Across, row.Along, row.LogVolume, row.Curvature, row.Opening} {
			cells = append(cells, fmt.Sprintf("%.6g", float64(v)))
		}
		values.Add(cells...)
	}
	if len(rough) < len(r.Rows) {
		d.Table("Values", "", values)
	}
	for _, line := range rough {
		d.Line(line)
	}
}
