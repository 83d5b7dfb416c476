package instrument

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/musttest"
)

var updateDigests = flag.Bool("update-digests", false, "write digests.json")

// Every workload has the known digest with every instruction set, from one or three workers, and
// small errors. A change that affects results needs a new version of the workload.
func TestWorkloads(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector")
	}
	found := maps.Clone(KnownDigests)
	for _, isa := range asm.Available() {
		d := newDocumentCache(2)
		for _, w := range Workloads {
			name := DigestName(w, isa)
			t.Run(name, func(t *testing.T) {
				digest := musttest.Get(ComputeDigest(t.Context(), w, isa, 3))(t)
				if found[name] = digest; digest != KnownDigests[name] && runtime.GOARCH == "amd64" && !*updateDigests {
					t.Errorf("digest %s, known is %q", digest, KnownDigests[name])
				}
				j := musttest.Get(w.prepare(t.Context(), d, setting{isa, 1}))(t)
				if worst, err := j.maxError(t.Context()); err != nil || !(worst.ToleranceRatio <= 1) || worst.ValueCount < 2 {
					t.Errorf("%+v, %v", worst, err)
				}
			})
		}
	}
	if *updateDigests {
		text, err := json.MarshalIndent(found, "", " ")
		if err == nil {
			err = os.WriteFile("digests.json", append(text, '\n'), 0o644)
		}
		musttest.NoError(t, err)
	}
}

// An error is relative to its tolerance, and NaN exceeds every tolerance.
func TestError(t *testing.T) {
	var e SampleError
	e.add(0, 0)
	if e.add(1e-7, 1e-6); !(e.ToleranceRatio > 0.09 && e.ToleranceRatio < 0.11) || e.ValueCount != 2 {
		t.Errorf("%+v", e)
	}
	for _, off := range []float64{math.NaN(), 2e-6} {
		wrong := e
		wrong.add(off, 1e-6)
		if wrong.add(1e-8, 1e-6); wrong.ToleranceRatio <= 1 {
			t.Errorf("an error of %v is %+v", off, wrong)
		}
	}
	if e.add(1, 0); e.ToleranceRatio <= 1 {
		t.Errorf("an error where there may be none is %+v", e)
	}
}

// few returns the fastest workloads.
func few() (list []*Workload) {
	for _, w := range Workloads {
		if slices.Contains([]string{"tiles-dense", "train", "read"}, w.Name) {
			list = append(list, w)
		}
	}
	return list
}

// A run has a row per workload and number of workers. Its file has a line per row and round, as
// benchstat reads them.
func TestRun(t *testing.T) {
	r := musttest.Get(Run(t.Context(), Options{WorkerCounts: []int{1, 2}, TimeLimit: time.Millisecond,
		Workloads: few()}))(t)
	if len(r.Rows) != 6 || r.Rounds != 1 {
		t.Fatalf("%d rows and %d rounds, expected 6 and 1", len(r.Rows), r.Rounds)
	}
	for i, row := range r.Rows {
		if row.Workers != 1+i%2 || len(row.Seconds) != r.Rounds || !(row.Rate.Median > 0) ||
			row.Digest != r.Rows[i/2*2].Digest ||
			row.HasKnownDigest != (runtime.GOARCH == "amd64") || !(row.Error.ToleranceRatio <= 1) {
			t.Errorf("row %d is %+v", i, row)
		}
	}
	r.Rows[1].Seconds, r.Rows[1].UnitCount = []float64{0.5, 0.25}, 1e6
	var file bytes.Buffer
	musttest.NoError(t, r.Write(&file))
	for _, want := range []string{"\nisa: " + string(r.ISA) + "\n",
		"\nBenchmarkSuite/tiles-dense/version=1/workers=2 1 500000000 ns/op 2e+06 pairs/s\n",
		"\nBenchmarkSuite/tiles-dense/version=1/workers=2 1 250000000 ns/op 4e+06 pairs/s\n"} {
		if !strings.Contains(file.String(), want) {
			t.Errorf("%q isn't in\n%s", want, &file)
		}
	}
}

// A workload with a wrong or missing digest has no times.
func TestWrongResults(t *testing.T) {
	w := few()[0]
	name, own := DigestName(w, asm.BestKernels().ISA), KnownDigests[DigestName(w, asm.BestKernels().ISA)]
	t.Cleanup(func() { KnownDigests[name] = own })
	KnownDigests[name] = "0"
	_, err := Run(t.Context(), Options{WorkerCounts: []int{1}, Workloads: []*Workload{w}})
	if (err == nil || !strings.Contains(err.Error(), "as on other computers")) && runtime.GOARCH == "amd64" {
		t.Errorf("a wrong digest: %v", err)
	}
}
