package instrument

import (
	"math"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/host"
)

// Workers run on processors that the process may use; on how many cores isn't guessed.
func TestCoresOf(t *testing.T) {
	for _, c := range []struct {
		of      host.Machine
		workers int
		want    int
	}{
		{host.Machine{Threads: 2, Cores: 2, Allowed: "0-1"}, 2, 2},
		{host.Machine{Threads: 2, Cores: 2, Allowed: "1"}, 2, 1},
		{host.Machine{Threads: 16, Cores: 8, Allowed: "0-3"}, 16, 4},
		{host.Machine{Threads: 16, Cores: 8}, 16, 8},
		{host.Machine{}, 3, 3},
	} {
		if got := (&Result{Machine: &c.of}).coresOf(c.workers); got != c.want {
			t.Errorf("%+v: %d workers on %d cores, expected %d", c.of, c.workers, got, c.want)
		}
	}
}

// Where no processor is known, none is pinned.
func TestConfineNowhere(t *testing.T) {
	m := &measuring{result: &Result{Pinned: true}, pin: true}
	if m.confine(1); m.pin || m.result.Pinned {
		t.Error("workers are pinned, though the system doesn't say where to")
	}
}

// What bounds more workers is named where something measured says so.
func TestScaling(t *testing.T) {
	row := func(workers int, rate, mhz, others, idle float64) *Row {
		return &Row{Workload: "w", Version: 1, Workers: workers, Units: 1, Rate: Median{Median: rate}, MHz: []float64{mhz},
			Others: others, Work: &Work{Bytes: 10}, Seconds: []float64{2},
			Processor: []float64{2 * float64(workers) * (1 - idle)}}
	}
	waited := row(2, 1, 3000, 0, 0.5)
	waited.Short = 1
	for name, c := range map[string]struct {
		row     *Row
		quota   float64
		threads int
		bounds  string
	}{
		"all":         {row(8, 8, 3000, 0, 0), 0, 16, ""},
		"frequency":   {row(8, 7, 2600, 0, 0), 0, 16, "frequency 2600 instead of 3000 MHz"},
		"threads":     {row(16, 9, 3000, 0, 0), 0, 16, "16 workers on 8 cores"},
		"others":      {row(8, 6, 3000, 10, 0), 0, 16, "other processes took 10.0 cores"},
		"balance":     {row(8, 6, 3000, 0, 0.25), 0, 16, "6.00 of 8 processors busy"},
		"waiting":     {waited, 0, 16, "workers waited for processors in 1 of 1 pass; 1.00 of 2 processors busy"},
		"container":   {row(8, 4, 3000, 0, 0), 4, 16, "the container's limit of 4 processors"},
		"bandwidth":   {row(8, 6, 3000, 0, 0), 0, 16, "bandwidth, 60.0% of what can be read"},
		"unexplained": {row(8, 3, 3000, 0, 0), 0, 16, "shared caches or latency (30.0% of the bandwidth)"},
	} {
		m := &host.Machine{Cores: 8, Threads: c.threads, QuotaCPUs: c.quota}
		for id := range c.threads {
			m.CPUs = append(m.CPUs, host.CPU{ID: id, Core: id % 8, Thread: id / 8})
		}
		r := &Result{Machine: m, Rows: []*Row{row(1, 1, 3000, 0, 0), c.row}, Roofs: []*Roof{
			{Workers: c.row.Workers, Bandwidth: Bandwidth{Read: 100}}}}
		got := r.Scaling()
		if len(got) != 1 || !(math.Abs(got[0].Efficiency-c.row.Rate.Median/float64(c.row.Workers)) < 1e-12) {
			t.Fatalf("%s: %+v", name, got)
		}
		if got[0].Bounds != c.bounds && !strings.HasPrefix(got[0].Bounds, c.bounds+"; ") ||
			(c.bounds == "") != (got[0].Bounds == "") {
			t.Errorf("%s: bounded by %q, expected %q", name, got[0].Bounds, c.bounds)
		}
	}
}
