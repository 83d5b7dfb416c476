package backend

import (
	"errors"

	"github.com/gramengine/gram/cuda"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
)

// Report prints a command's report to [cli.Env.Reports] as text or JSON. With GRAM_CUDA_TIMES=1 it
// includes the times of GPU kernels. It also writes the page of -report.
func (c *Compute) Report(e *cli.Env, f *cli.Flags, r report.Report) error {
	return errors.Join(f.WritePage(r), report.Write(e.Reports(), c.Timed(r), f.JSON))
}

// Timed adds the times of GPU kernels to a report if GRAM_CUDA_TIMES=1 is set.
func (c *Compute) Timed(r report.Report) report.Report {
	if c.gpu.device != nil {
		if times := c.gpu.device.KernelTimes(); len(times) > 0 {
			return &timed{r, times}
		}
	}
	return r
}

type timed struct {
	report.Report
	Times []cuda.KernelTime `json:"gpu_kernels"`
}

func (r *timed) Describe(d *report.Document) {
	r.Report.Describe(d)
	t := report.NewTable("kernel", ">launches", ">seconds")
	for _, k := range r.Times {
		t.Add(k.Kernel, report.Count(k.Launches), report.Seconds(k.Seconds))
	}
	d.Table("GPU", "GPU, by its own clock", t)
}
