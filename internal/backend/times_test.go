package backend

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/gramengine/gram/cuda"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/report"
)

type some struct {
	Rows int `json:"rows"`
}

func (s *some) Describe(d *report.Document) { d.AddLinef("rows %d", s.Rows) }

// The kernel times follow the text of a report, and are included in its JSON object.
func TestTimes(t *testing.T) {
	r := &timedReport{&some{3}, []cuda.KernelTime{{Kernel: "panels", Launches: 1200, Seconds: 0.5}}}
	text := report.Text(r)
	want := "rows 3\n\nGPU, by its own clock\nkernel  launches  seconds\npanels     1,200   500 ms\n"
	if text != want {
		t.Errorf("%q, expected %q", text, want)
	}
	var object bytes.Buffer
	musttest.NoError(t, report.Write(&object, r, true))
	var read struct {
		Rows int
		GPU  []cuda.KernelTime `json:"gpu_kernels"`
	}
	err := json.Unmarshal(object.Bytes(), &read)
	if err != nil || read.Rows != 3 || len(read.GPU) != 1 || read.GPU[0] != r.Times[0] {
		t.Errorf("%s: %+v, %v", object.String(), read, err)
	}
}
