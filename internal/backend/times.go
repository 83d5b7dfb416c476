package backend

import (
	"errors"

	"github.com/gramengine/gram/cuda"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
)

// PrintReport prints a command's report to [cli.Env.ReportWriter] as text or JSON. With
// GRAM_CUDA_TIMES=1 it includes the times of GPU kernels. It also writes the HTML page if -report
// is set.
func (c *ComputeFlags) PrintReport(e *cli.Env, f *cli.Flags, r report.Report) error {
	return errors.Join(f.WriteReportPage(r), report.Write(e.ReportWriter(), c.WithKernelTimes(r), f.JSON))
}

// WithKernelTimes adds the times of GPU kernels to a report if GRAM_CUDA_TIMES=1 is set.
func (c *ComputeFlags) WithKernelTimes(r report.Report) report.Report {
	if c.gpu.device != nil {
		if times := c.gpu.device.KernelTimes(); len(times) > 0 {
			return &timedReport{r, times}
		}
	}
	return r
}

type timedReport struct {
	report.Report
	Times []cuda.KernelTime `json:"gpu_kernels"`
}

func (r *timedReport) Describe(d *report.Document) {
	r.Report.Describe(d)
	t := report.NewTable("kernel", ">launches", ">seconds")
	for _, k := range r.Times {
		t.Add(k.Kernel, report.FormatCount(k.Launches), report.FormatSeconds(k.Seconds))
	}
	d.AddTable("GPU", "GPU, by its own clock", t)
}
