package instrument

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
)

var updateDigests = flag.Bool("update-digests", false, "write digests.json anew")

// Every workload has the known digest with every instruction set, from one or three workers, and
// small errors. A change that affects results needs a new version of the workload.
func TestWorkloads(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector")
	}
	found := maps.Clone(KnownDigests)
	for _, isa := range asm.Available() {
		d := newDocuments(2)
		for _, w := range Workloads {
			name := DigestName(w, isa)
			t.Run(name, func(t *testing.T) {
				digest := musttest.Get(KnownDigest(t.Context(), w, isa, 3))(t)
				if found[name] = digest; digest != KnownDigests[name] && runtime.GOARCH == "amd64" && !*updateDigests {
					t.Errorf("digest %s, known is %q", digest, KnownDigests[name])
				}
				j := musttest.Get(w.prepare(t.Context(), d, setting{isa, 1}))(t)
				if worst, err := j.worst(t.Context()); err != nil || !(worst.Part <= 1) || worst.Values < 2 {
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
		if err != nil {
			t.Fatal(err)
		}
	}
}

// An error is relative to its tolerance, and NaN is wrong.
func TestError(t *testing.T) {
	var e Error
	e.add(0, 0)
	if e.add(1e-7, 1e-6); !(e.Part > 0.09 && e.Part < 0.11) || e.Values != 2 {
		t.Errorf("%+v", e)
	}
	for _, off := range []float64{math.NaN(), 2e-6} {
		wrong := e
		if wrong.add(off, 1e-6); wrong.Part <= 1 {
			t.Errorf("an error of %v is %+v", off, wrong)
		}
	}
	if e.add(1, 0); e.Part <= 1 {
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

// A run has a row per workload and number of workers, and its file is read unchanged.
func TestRun(t *testing.T) {
	r := musttest.Get(Run(t.Context(), Options{Workers: []int{1, 2}, Pin: true, Bound: time.Millisecond, Workloads: few(),
		Program: "x"}))(t)
	if len(r.Rows) != 6 || r.Rounds != 1 || len(r.Roofs) != 2 {
		t.Fatalf("%d rows, %d rounds, %d roofs, expected 6, 1 and 2", len(r.Rows), r.Rounds, len(r.Roofs))
	}
	for i, row := range r.Rows {
		if row.Workers != 1+i%2 || len(row.Seconds) != r.Rounds || !(row.Rate.Median > 0) ||
			row.Digest != r.Rows[i/2*2].Digest ||
			row.Known != (runtime.GOARCH == "amd64") || !(row.Error.Part <= 1) {
			t.Errorf("row %d is %+v", i, row)
		}
	}
	if tiles := r.Rows[0]; tiles.Work == nil || tiles.Work.HeadMadds == 0 {
		t.Errorf("tiles have work %+v", tiles.Work)
	}
	var file bytes.Buffer
	musttest.Do(t, r.Write(&file))
	again := musttest.Get(Parse("r.json", file.Bytes()))(t)
	var second bytes.Buffer
	if err := again.Write(&second); err != nil || second.String() != file.String() {
		t.Errorf("%v, the file that was read is written otherwise", err)
	}
}

// A workload with a wrong digest, or none, has no times.
func TestWrongResults(t *testing.T) {
	w := few()[0]
	name, own := DigestName(w, asm.Best().ISA), KnownDigests[DigestName(w, asm.Best().ISA)]
	t.Cleanup(func() { KnownDigests[name] = own })
	KnownDigests[name] = "0"
	_, err := Run(t.Context(), Options{Workers: []int{1}, Workloads: []*Workload{w}})
	if (err == nil || !strings.Contains(err.Error(), "as on other machines")) && runtime.GOARCH == "amd64" {
		t.Errorf("a wrong digest: %v", err)
	}
}

// sample returns a result whose rows take the given time, multiplied by off in each round.
func sample(seconds float64, off ...float64) *Result {
	r, err := Load(filepath.Join("testdata", "suite-1.json"))
	if err != nil {
		panic(err)
	}
	for _, row := range r.Rows {
		row.Seconds, row.Processor, row.Others = nil, nil, 0
		for _, f := range off {
			row.Seconds = append(row.Seconds, seconds*f)
		}
		row.Rate.Median = row.Units / seconds
	}
	return r
}

// Files of earlier versions are read, one per schema. Fields that were added later are zero.
func TestOldFiles(t *testing.T) {
	for schema := 1; schema <= Schema; schema++ {
		r := musttest.Get(Load(fmt.Sprintf("testdata/suite-%d.json", schema)))(t)
		if r.Schema != schema || r.Machine.Model == "" || len(r.Rows) == 0 {
			t.Errorf("schema %d: %+v", schema, r)
		}
		if c, err := Compare(r, r); err != nil || c.Differs || len(c.Machine) > 0 || len(c.LeftOut) > 0 || c.Mean.Ratio != 1 {
			t.Errorf("schema %d beside itself: %+v, %v", schema, c, err)
		}
	}
}

func TestCompare(t *testing.T) {
	off := []float64{1, 1.01, 0.99, 1, 1.02, 0.98, 1, 1, 1.3, 1, 0.99, 1.01}
	a, b := sample(0.1, off...), sample(0.12, off...)
	b.Machine.Microcode = "0x2"
	b.Rows[1].Version = 9
	c := musttest.Get(Compare(a, b))(t)
	if !c.Differs || len(c.Rows) != len(a.Rows)-1 || len(c.LeftOut) != 2 || len(c.Machine) != 1 ||
		!strings.HasPrefix(c.Machine[0], "microcode: ") {
		t.Errorf("%+v", c)
	}
	for _, row := range c.Rows {
		if want := 0.1 / 0.12; !(math.Abs(row.Ratio.Ratio-want) < 1e-12) || !row.Different {
			t.Errorf("%+v, expected a ratio of %v", row, want)
		}
	}
	if c.Fails(0.8) || !c.Fails(0.9) || len(c.Below) != len(c.Rows)+1 {
		t.Errorf("below: %q", c.Below)
	}
	if _, err := Compare(a, sample(0.1, 1, 1)); err == nil || !strings.Contains(err.Error(), "2 rounds in the second") {
		t.Errorf("of few rounds: %v", err)
	}
	bits, work := sample(0.1, off...), sample(0.1, off...)
	bits.Rows[0].Digest = "0"
	if c, err := Compare(a, bits); err != nil || len(c.Hints) != 1 ||
		!strings.Contains(c.Hints[0], "other bits on one machine") {
		t.Errorf("other bits: %+v, %v", c, err)
	}
	work.Rows[0].Units *= 2
	if _, err := Compare(a, work); err == nil || !strings.Contains(err.Error(), "expected the same work") {
		t.Errorf("other work: %v", err)
	}
	// If other programs were busy, CPU time is compared, which has no planted difference.
	for _, r := range []*Result{a, b} {
		for _, row := range r.Rows {
			row.Others, row.Processor = 1, slices.Repeat([]float64{0.07}, len(row.Seconds))
		}
	}
	if c, err := Compare(a, b); err != nil || c.Differs || !c.Rows[0].Processor || len(c.Hints) != 2*len(c.Rows) {
		t.Errorf("beside other programs: %+v, %v", c, err)
	}
	for _, row := range append(a.Rows, b.Rows...) {
		row.Others = 0
	}
	// On one machine, the frequency explains different times.
	for r, mhz := range map[*Result]float64{a: 4200, b: 3500} { // 0.12/0.1
		for _, row := range r.Rows {
			row.Processor, row.MHz = nil, slices.Repeat([]float64{mhz}, len(row.Seconds))
		}
	}
	for _, microcode := range []string{a.Machine.Microcode, "0x2"} {
		b.Machine.Microcode = microcode
		other := microcode == "0x2"
		if c, err := Compare(a, b); err != nil || c.Differs != other || c.Rows[0].Cycles == other ||
			len(c.Hints) != len(c.Rows) {
			t.Errorf("microcode %s: %+v, %v", microcode, c, err)
		}
	}
	if percent, n := Index(b, a, 1); n != len(c.Rows) || !(math.Abs(percent-100*0.1/0.12) < 1e-9) {
		t.Errorf("index %v of %d workloads", percent, n)
	}
}

var recorded = flag.String("runs", "", "compare the runs in `FILES`, a pattern (TestRecordedRuns)")

// At most 1 of 15 pairs of recorded runs of one program on an idle machine differs. If all times of
// a run are 5% longer, 9 of 10 do. The log contains the variation of each workload, which is
// Workload.RunToRun.
func TestRecordedRuns(t *testing.T) {
	if *recorded == "" {
		t.Skip("needs -runs 'FILES', absolute: make bench-runs")
	}
	files := musttest.Get(filepath.Glob(*recorded))(t)
	runs := make([]*Result, len(files))
	for i, file := range files {
		runs[i] = musttest.Get(Load(file))(t)
	}
	if len(runs) < 2 {
		t.Fatalf("%d files match %s, expected two or more", len(runs), *recorded)
	}
	for i, row := range runs[0].Rows {
		var means []float64
		for _, r := range runs {
			means = append(means, stat.Mean(logBatches(r.Rows[i].times(false, len(r.Rows[i].MHz) > 0)), nil))
		}
		t.Logf("%-25s varies by %.4f from run to run, allowed for %.4f", row, stat.StdDev(means, nil), row.runToRun())
	}
	pairs, differ, slowed, found := 0, 0, 0, 0
	for i, a := range runs {
		for k := range runs {
			if k == i {
				continue
			}
			if k > i {
				pairs++
				if c := musttest.Get(Compare(a, runs[k]))(t); c.Differs {
					differ++
					t.Logf("%s and %s differ: %+v", files[i], files[k], c.Rows)
				}
			}
			slow := musttest.Get(Load(files[k]))(t)
			for _, row := range slow.Rows {
				for n := range row.Seconds {
					row.Seconds[n] *= 1.05
				}
				for n := range row.Processor {
					row.Processor[n] *= 1.05
				}
			}
			if slowed++; musttest.Get(Compare(a, slow))(t).Differs {
				found++
			}
		}
	}
	t.Logf("%d of %d pairs differ; %d of %d are found if one is 5 %% slower", differ, pairs, found, slowed)
	if differ > pairs/15 || found < slowed*9/10 {
		t.Errorf("expected at most %d of %d, and at least %d of %d", pairs/15, pairs, slowed*9/10, slowed)
	}
}

// A pass whose workers wait for CPUs is repeated once and then counted. The index uses the rates in
// the table, even if rows have CPU times.
func TestShortOfProcessors(t *testing.T) {
	row, passes := &Row{Workload: "w", Version: 1, Workers: 2, Units: 1}, atomic.Int64{}
	m := &measuring{result: &Result{Rows: []*Row{row}}, others: []float64{0}, took: []float64{0}, jobs: []*job{{
		units: 1, pass: func(ctx context.Context) error {
			return run.Tasks(ctx, 2, 2, func(context.Context, int, int) error {
				passes.Add(1)
				time.Sleep(50 * time.Millisecond) // as if other programs used the CPUs
				return nil
			})
		}}}}
	musttest.Do(t, m.pass(t.Context(), 0))
	if known := len(row.Processor) > 0; known && (passes.Load() != 4 || row.Short != 1 || len(row.Seconds) != 1) {
		t.Errorf("%d tasks, row %+v, expected two passes of two tasks and one time", passes.Load(), row)
	}
	r, reference := sample(0.1, 1), sample(0.1, 1)
	for _, row := range r.Rows {
		row.Others, row.Processor = 1, []float64{0.01}
	}
	if percent, _ := Index(r, reference, 1); !(math.Abs(percent-100) < 1e-9) {
		t.Errorf("index %v of a run with the reference's rates", percent)
	}
}

// FuzzParse checks that Parse returns an error, or a result that can be compared and written.
func FuzzParse(f *testing.F) {
	text := musttest.Get(os.ReadFile("testdata/suite-1.json"))(f)
	f.Add(text)
	for _, s := range []string{"", "{}", `{"schema":2}`, `{"schema":1,"machine":{},"rows":[null]}`,
		`{"schema":1,"machine":{},"rows":[{"workload":"a","workers":1,"units":1,"rate":{"median":1},"seconds":[1,-1]}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Parse("x.json", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "x.json") {
				t.Errorf("%v doesn't name the file", err)
			}
			return
		}
		if c, err := Compare(r, r); err == nil && c.Differs {
			t.Errorf("a result differs from itself: %+v", c)
		}
		if err := r.Write(&bytes.Buffer{}); err != nil {
			t.Error(err)
		}
	})
}
