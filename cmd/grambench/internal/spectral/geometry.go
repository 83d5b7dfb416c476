package spectral

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/gramengine/gram/engine/geometry"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
)

// Geometry is the command that prints the geometry of kernels' surfaces.
var Geometry = &cli.Command{
	Name:    "geometry",
	Summary: "metric, volume and curvature of the surfaces that kernels induce",
	Help: `
A kernel maps documents x of d dimensions to a surface in its feature space. Prints the surface's
metric g, in the directions across x and along x, ln √det g and the scalar curvature S for documents
of given norms ‖x‖, after the formulas of Table 6.1 of Cho's thesis. With dρ the length along x the
surface is ds² = dρ² + w(ρ)² dΩ², and where κ = (dw/dρ)² is the same everywhere it is a cone,
S = (d-1)(d-2)(1-κ)/w², flat for κ = 1. A kernel that ignores norms maps to a sphere of d-1
dimensions; that of diffusion is the multinomial family, under 1/(2t) of Fisher's metric. A kernel
without a derivative has no metric: for it the growth of its distances is printed.`,
	Examples: `
grambench geometry
grambench geometry -kernel arccos:n=2 -kernel arccos:n=0,sigma=0.5 -norms 0.1..10*10 -d 784
grambench geometry -kernel 'compose(arccos:n=1,rbf:gamma=0.5)' -plot surface.svg`,
	Setup: func(f *cli.Flags) cli.Work {
		c := &surfaces{f: f}
		f.Group("Kernels", "")
		c.Kernels.Declare(f, "arccos:n=2")
		f.Group("Documents", "")
		f.StringVar(&c.list, "norms", "0.5,1,2", "the norms of documents: `LIST`")
		f.IntVar(&c.d, "d", 3, "their dimensions, `D`")
		f.Group("Output", "")
		f.Draws(&c.plot, "plot", "plot the metric along x and S by the norm to `FILE`, a .png or .svg")
		f.Check(c.check)
		return c.run
	},
}

// surfaces is a call of the command.
type surfaces struct {
	source.Kernels
	f     *cli.Flags
	list  string
	plot  string
	d     int
	asked []kernel.Kernel
	norms []float64
}

func (c *surfaces) check() (err error) {
	if c.d < 1 {
		return cli.Usagef("-d %d is below 1", c.d)
	}
	if c.norms, err = list("norms", c.list); err != nil {
		return err
	}
	for _, r := range c.norms {
		if !(r > 0) || math.IsInf(r, 1) {
			return cli.Usagef("-norms %v, expected numbers above 0", r)
		}
	}
	c.asked, err = c.Parse("arccos:n=2")
	return err
}

func (c *surfaces) run(_ context.Context, e *cli.Env) error {
	r := &geometries{D: c.d, Table: geometry.Table()}
	if c.plot != "" {
		if err := c.draw(); err != nil {
			return err
		}
	}
	for _, k := range c.asked {
		k = kernel.Resolve(k, c.d)
		for _, norm := range c.norms {
			row := surfaceRow{Kernel: k.String(), Norm: norm}
			p, err := geometry.At(k, norm, c.d)
			var rough *kernel.RoughError
			switch {
			case errors.As(err, &rough):
				row.Rough = &growth{rough.Power, rough.Factor}
			case err != nil:
				return err
			default:
				row.Across, row.Along = number(p.Tangential), number(p.Radial)
				row.LogVolume, row.Curvature, row.Opening = number(p.LogVolume), number(p.Curvature), number(p.Opening)
			}
			r.Rows = append(r.Rows, row)
			if err != nil {
				break // it is rough at every norm
			}
		}
	}
	return report.Write(e.Stdout, r, c.f.JSON)
}

func number(v float64) *report.Number { n := report.Number(v); return &n }

// geometries is the report of the command.
type geometries struct {
	D     int                 `json:"d"`
	Table []geometry.Formulas `json:"table"`
	Rows  []surfaceRow        `json:"rows"`
}

// surfaceRow is a kernel's surface at one norm, or how rough the kernel is.
type surfaceRow struct {
	Kernel    string         `json:"kernel"`
	Norm      float64        `json:"norm"`
	Across    *report.Number `json:"metric_across,omitempty"`
	Along     *report.Number `json:"metric_along,omitempty"`
	LogVolume *report.Number `json:"log_volume,omitempty"` // null: 0 volume in d dimensions
	Curvature *report.Number `json:"curvature,omitempty"`
	Opening   *report.Number `json:"opening,omitempty"`
	Rough     *growth        `json:"no_derivative,omitempty"`
}

// growth of squared distances with an angle Δ: Factor Δ^Power.
type growth struct {
	Power  float64 `json:"power"`
	Factor float64 `json:"factor"`
}

func (r *geometries) WriteText(w io.Writer) {
	t := report.NewTable("kernel", "metric g", "scalar curvature S")
	for _, row := range r.Table {
		t.Add(row.Kernel, row.Metric, row.Curvature)
	}
	t.Write(w)
	for _, row := range r.Table {
		if row.Printed != "" {
			fmt.Fprintf(w, "\nCho's thesis prints %s for %s, three times what it is (6.16).\n", row.Printed, row.Kernel)
		}
	}
	fmt.Fprintf(w, "\nd = %d\n", r.D)
	values := report.NewTable("kernel", ">‖x‖", ">g across x", ">g along x", ">ln √det g", ">S", ">κ")
	var rough []string
	for _, row := range r.Rows {
		if row.Rough != nil {
			rough = append(rough, fmt.Sprintf("%s has no derivative, so no metric: its squared distances grow as %.4g Δ^%.4g "+
				"with the angle Δ between documents of norm 1, not as Δ² (6.18)", row.Kernel, row.Rough.Factor, row.Rough.Power))
			continue
		}
		values.Add(row.Kernel, report.Float(row.Norm), digits(*row.Across, 7), digits(*row.Along, 7),
			digits(*row.LogVolume, 7), digits(*row.Curvature, 7), digits(*row.Opening, 7))
	}
	if len(rough) < len(r.Rows) {
		values.Write(w)
	}
	if len(rough) > 0 {
		fmt.Fprintln(w, strings.Join(rough, "\n"))
	}
}
