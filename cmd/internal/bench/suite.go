package bench

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/docs/machines"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/instrument"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/report"
)

const suiteTopic = "suite"

// SuiteTopic is the help topic of the suite.
var SuiteTopic = cli.Topic{Name: suiteTopic, Text: `
bench -suite measures workloads that are the same on every machine and in every year, by name and
version: ` + suiteNames() + `.
Each is checked first: its digest is that of other machines with the instruction set, and a sample
of its values is within tolerance of the reference. A wrong result is an error. Rounds measure all
in turn until each median's 95 % interval is within 2 %, or the time is over. The index is the
geometric mean of the rates in percent of the reference machine's, in docs/machines.

  grambench bench -suite quick -o a.json              one worker
  grambench bench -suite normal -o a.json             one worker, and all
  grambench bench -suite full -report a.html          1, 2, 4, ... workers, pinned to processors
  grambench bench -suite quick -workers 1,2,...,all   the same in less time
  grambench bench -compare a.json b.json -fail-below 0.95  status 1 where b is slower

-compare gives the ratio of each workload's rates, in intervals that hold together with a
probability of 95 %. "differs" says that an interval excludes 1. Runs of one program differ by
0.2 to 2.8 %, depending on the workload ("varies" in the table); that is allowed for. Where other
programs were busy, the process's own processor time is compared, and the table says so.
docs/bench.md describes file and method.`,
	Declare: func(f *cli.Flags) { (&suite{}).declare(f) }}

func suiteNames() string {
	var names []string
	for _, w := range instrument.Workloads {
		names = append(names, w.Name)
	}
	return report.Join(names)
}

// suite holds the flags for the suite.
type suite struct {
	size, out, compare string
	below              float64
}

// sizes holds the time limit and the numbers of workers for each value of -suite.
var sizes = map[string]struct {
	bound   time.Duration
	workers string
}{"quick": {20 * time.Second, "1"}, "normal": {5 * time.Minute, "1,all"}, "full": {20 * time.Minute, "1,2,...,all"}}

func (s *suite) declare(f *cli.Flags) {
	f.Group("Suite", suiteTopic)
	f.Choose(&s.size, "suite", "", "measure named workloads, in `SIZE`: quick (half a minute), normal (5 minutes "+
		"on one worker and on all) or full (20 minutes on 1, 2, 4, ... workers)", []string{"quick", "normal", "full"})
	f.Writes(&s.out, "o", "write the result of -suite to `FILE`, JSON")
	f.Reads(&s.compare, "compare", "compare the result in `FILE` with that in the file that follows")
	f.Float64Var(&s.below, "fail-below", 0, "fail if a rate differs and is below `PART` of the first file's rate")
}

// checkSuite checks the combination of the suite's flags with other flags.
func (b *bench) checkSuite() error {
	s, may := &b.suite, "suite o workers isa json q report backend"
	switch {
	case s.compare != "":
		may = "compare fail-below in json q report"
		if !b.f.Given("in") || b.f.Given("fail-below") && !(s.below > 0 && s.below <= 1) {
			return cli.Usagef("-compare %s, expected a second file after it, and a part such as 0.95 for -fail-below", s.compare)
		}
	case s.size == "" && b.f.Given("o", "fail-below"):
		return cli.Usagef("-o is for -suite, -fail-below for -compare")
	case s.size == "":
		return nil
	case b.OnGPU():
		return cli.Usagef("-suite measures the CPU: use -backend cpu")
	}
	wrong := ""
	b.f.Visit(func(fl *flag.Flag) {
		if !slices.Contains(strings.Fields(may), fl.Name) {
			wrong = fl.Name
		}
	})
	if wrong != "" {
		return cli.Usagef("-%s does not apply to -suite or -compare as given", wrong)
	}
	return nil
}

// suiteReport is the report of bench -suite: the result file and derived figures.
type suiteReport struct {
	*instrument.Result
	Reference string              `json:"reference"`
	Index     []indexRow          `json:"index"`
	Scaling   []instrument.Scaled `json:"scaling,omitempty"`

	reference *instrument.Result
}

// indexRow is the index for a number of workers.
type indexRow struct {
	Workers   int     `json:"workers"`
	Index     float64 `json:"index"`
	Workloads int     `json:"workloads"`
}

func (b *bench) runSuite(ctx context.Context, e *cli.Env) error {
	size := sizes[b.suite.size]
	b.progress = e.Progress(false)
	defer b.progress.Clear()
	workers := b.workers
	if !b.f.Given("workers") {
		_ = workers.Set(size.workers) // sizes has only valid lists
	}
	slices.Sort(workers)
	r, err := instrument.Run(ctx, instrument.Options{ISA: asm.ISA(b.ISA), Workers: workers, Pin: len(workers) > 1,
		Bound: size.bound, Program: cli.Version, Stage: func(stage string) { b.progress.Tell(stage, 0, 0, nil) }})
	if r == nil {
		return err
	}
	interrupted := err // nil if the run is complete
	b.progress.Clear()
	if b.suite.out != "" {
		if _, err := matrixio.Make(b.suite.out, r.Write); err != nil {
			return err
		}
	}
	s, err := newSuiteReport(r)
	if err != nil {
		return err
	}
	return cmp.Or(b.Report(e, b.f, s), interrupted)
}

func newSuiteReport(r *instrument.Result) (*suiteReport, error) {
	s := &suiteReport{Result: r, Reference: machines.Reference, Index: []indexRow{}, Scaling: r.Scaling()}
	reference, err := machines.Load(machines.Reference)
	if err != nil {
		return nil, err
	}
	s.reference = reference
	for _, roof := range r.Roofs {
		if index, n := instrument.Index(r, reference, roof.Workers); n > 0 {
			s.Index = append(s.Index, indexRow{roof.Workers, index, n})
		}
	}
	return s, nil
}

func (s *suiteReport) Describe(d *report.Document) {
	m := s.Machine
	d.Title = "Suite on " + report.Known(m.Model)
	d.Linef("%s, %s, %d threads of %d cores, sockets: %d; %s, grambench %s, %s", report.Known(m.Model), s.ISA,
		m.Threads, m.Cores, m.Sockets, s.Go, s.Program, s.Date)
	var caches []string
	for _, c := range m.Caches {
		kind := strings.ToLower(c.Kind)
		caches = append(caches, fmt.Sprintf("L%d %s %s x %d", c.Level, kind, report.Bytes(c.Bytes), c.Count))
	}
	number := "family, model and stepping unknown"
	if !slices.Contains(m.Unknown, "stepping") {
		number = fmt.Sprintf("family %d, model %d, stepping %d", m.Family, m.Number, m.Stepping)
	}
	d.Fact("processor", "%s, microcode %s, hypervisor %s", number, report.Known(m.Microcode), m.Hypervisor)
	d.Fact("caches", "%s", report.Known(report.Join(caches)))
	memory := "unknown"
	if m.MemoryBytes > 0 {
		memory = report.Bytes(m.MemoryBytes) + ", " + report.Bytes(m.UsedBytes) + " in use"
	}
	d.Fact("memory", "%s", memory)
	d.Fact("GPU", "%s", s.GPU)
	d.Fact("unknown on this system", "%s", report.Join(m.Unknown))
	if s.Partial {
		d.Fact("incomplete", "the run was interrupted; its results were not checked after the rounds")
	}
	d.Fact("rounds", "%s, medians with 95%% intervals; workers pinned: %t", report.Count(s.Rounds), s.Pinned)
	d.Line("")
	t := report.NewTable("workload", ">workers", "unit", ">per second", ">min", ">max", ">±", ">MHz", ">own cores",
		">other cores", ">error", "digest")
	known := func(format string, v float64, known bool) string {
		if !known {
			return "unknown"
		}
		return fmt.Sprintf(format, v)
	}
	wide, busy := 0, 0.0
	var short []string
	for _, row := range s.Rows {
		if row.Short > 0 {
			short = append(short, fmt.Sprintf("%s, in %d of %s", row, row.Short, report.Counted(len(row.Seconds), "pass",
				"passes")))
		}
		if busy = max(busy, row.Others); !row.Precise {
			wide++
		}
		t.Add(fmt.Sprintf("%s/%d", row.Workload, row.Version), report.Count(row.Workers), row.Unit,
			report.Rate(row.Rate.Median), report.Rate(row.Rate.Low), report.Rate(row.Rate.High),
			report.Percent((row.Rate.High-row.Rate.Low)/2/row.Rate.Median), known("%.0f", row.Frequency(), len(row.MHz) > 0),
			known("%.2f", row.Cores(), row.Cores() > 0), known("%.2f", row.Others, row.Others >= 0),
			fmt.Sprintf("%.2f", row.Error.Part), map[bool]string{true: "as known", false: "new"}[row.Known])
	}
	d.Table("Workloads", "", t)
	for _, row := range s.Index {
		workers := report.Counted(row.Workers, "worker", "workers")
		d.Line("")
		d.Fact("index", "%.1f with %s, of %s; %s has 100 with one", row.Index, workers,
			report.Counted(row.Workloads, "workload", "workloads"), s.Reference)
		d.Figure("index, "+workers, fmt.Sprintf("%.1f", row.Index), s.Reference+" = 100")
	}
	d.Fact("wide", "%d of %s above 2%% at the time limit", wide,
		report.Counted(len(s.Rows), "interval", "intervals"))
	others := known("%.1f", busy, s.Rows[0].Others >= 0)
	if len(short) > 0 {
		d.Fact("too slow because workers waited for CPUs", "%s", strings.Join(short, "; "))
	}
	d.Fact("noise", "other processes took up to %s cores of %d", others, m.Threads)
	t = report.NewTable("workload", ">workers", ">speed-up", ">efficiency")
	for _, row := range s.Scaling {
		t.Add(row.Workload, report.Count(row.Workers), fmt.Sprintf("%.2f", row.SpeedUp), report.Percent(row.Efficiency))
	}
	if len(s.Scaling) > 0 {
		d.Table("Scaling", "More workers against one", t)
	}
	s.against(d)
	s.scaling(d)
}

// compareReport is the report of bench -compare.
type compareReport struct{ *instrument.Comparison }

func (b *bench) runCompare(e *cli.Env) error {
	var results [2]*instrument.Result
	for i, path := range []string{b.suite.compare, b.In} {
		var err error
		if results[i], err = instrument.Load(path); err != nil {
			return err
		}
	}
	c, err := instrument.Compare(results[0], results[1])
	if err != nil {
		return fmt.Errorf("%s and %s: %w", b.suite.compare, b.In, err)
	}
	c.Names = [2]string{b.suite.compare, b.In}
	fails := c.Fails(b.suite.below)
	if err := b.Report(e, b.f, &compareReport{c}); err != nil || !fails {
		return err
	}
	return cli.ErrReported
}

func (c *compareReport) Describe(d *report.Document) {
	d.Linef("%s against %s: rates, and ratios with simultaneous 95%% intervals\n", c.Names[1], c.Names[0])
	t := report.NewTable("workload", ">workers", "unit", ">first", ">second", ">ratio", ">min", ">max", ">varies", "by",
		"")
	ratio := func(r instrument.Ratio, varies, by string) []string {
		return []string{fmt.Sprintf("%.3f", r.Ratio), fmt.Sprintf("%.3f", r.Low), fmt.Sprintf("%.3f", r.High), varies, by,
			map[bool]string{true: "differs"}[r.Differs()]}
	}
	for _, row := range c.Rows {
		by := map[bool]string{true: "processor time", false: "clock"}[row.Processor]
		if row.Cycles {
			by = map[bool]string{true: "processor cycles", false: "cycles"}[row.Processor]
		}
		t.Add(append([]string{fmt.Sprintf("%s/%d", row.Workload, row.Version), report.Count(row.Workers), row.Unit,
			report.Rate(row.Rates[0]), report.Rate(row.Rates[1])},
			ratio(row.Ratio, report.Percent(row.RunToRun), by)...)...)
	}
	t.Add(append([]string{"geometric mean", "", "", "", ""}, ratio(c.Mean, "", "")...)...)
	d.Table("Ratios", "", t)
	d.Line("")
	lines := func(name string, list []string) {
		for _, line := range list {
			d.Fact(name, "%s", line)
		}
	}
	lines("the machines differ", c.Machine)
	lines("perhaps why", c.Hints)
	lines("in one file alone", c.LeftOut)
	lines("too slow", c.Below)
	d.Fact("differs", "%s", map[bool]string{true: "yes", false: "not more than repeated runs on one machine"}[c.Differs])
}

// expand replaces "..." between two numbers by the numbers that double from the first, below the
// second.
func expand(s string) (parts []string) {
	list := strings.Split(strings.ReplaceAll(s, "…", "..."), ",")
	for i, part := range list {
		if part != "..." || i == 0 || i == len(list)-1 {
			parts = append(parts, part)
			continue
		}
		var from, to int
		fmt.Sscan(parts[len(parts)-1], &from)
		if fmt.Sscan(list[i+1], &to); list[i+1] == "all" || list[i+1] == "0" {
			to = runtime.GOMAXPROCS(0)
		}
		for n := 2 * from; from > 0 && n < to; n *= 2 {
			parts = append(parts, fmt.Sprint(n))
		}
	}
	return parts
}
