package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/gramengine/gram/cuda"
)

// timedReport is a report with what the GPU's kernels took.
type timedReport struct {
	report
	times []cuda.KernelTime
}

// timed adds the times of the GPU's kernels to a report, where the environment asks for them with
// GRAM_CUDA_TIMES=1.
func (f *flags) timed(r report) report {
	if f.gpu.device != nil {
		if times := f.gpu.device.KernelTimes(); len(times) > 0 {
			return &timedReport{r, times}
		}
	}
	return r
}

func (r *timedReport) writeText(w io.Writer) {
	r.report.writeText(w)
	fmt.Fprintln(w, "\nGPU, by its own clock")
	t := newTable("kernel", ">launches", ">seconds")
	for _, k := range r.times {
		t.add(k.Kernel, formatCount(k.Launches), formatSeconds(k.Seconds))
	}
	t.write(w)
}

// MarshalJSON adds gpu_kernels to the report's object.
func (r *timedReport) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r.report); err != nil {
		return nil, err
	}
	times, err := json.Marshal(r.times)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(bytes.TrimSuffix(b.Bytes(), []byte("}\n")), `,"gpu_kernels":%s}`, times), nil
}
