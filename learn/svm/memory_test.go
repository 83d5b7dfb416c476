package svm

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// What a process has beside the problem in these tests: the program, the runtime, and the
// collector's way of being late.
const (
	ownBytes  = 32 << 20
	codeBytes = 12 << 20 // pages of the program's own file, which the collector doesn't know of
)

// trainWithin is a child that trains with a corpus, settings and a bound that its argument names,
// and prints the most that it ever had in memory.
func trainWithin(argument string) error {
	var source, what string
	var limit int64
	if _, err := fmt.Sscan(argument, &source, &what, &limit); err != nil {
		return err
	}
	debug.SetMemoryLimit(limit - codeBytes)
	ctx := context.Background()
	c, err := corpus.Read(ctx, source, corpus.Options{MemoryBytes: (limit - ownBytes) / 2})
	if err != nil {
		return err
	}
	what = strings.ReplaceAll(what, "_", " ")
	s := tightCases[what].settings
	p, err := NewProblem(ctx, c, sparse.Sphere, Options{
		MemoryBytes: limit, HeldBytes: ownBytes, Once: what == "once", Workers: 2, Tasks: []Task{{Settings: s}},
	})
	if err != nil {
		return err
	}
	c = nil
	_, report, err := p.Train(ctx, s)
	if err != nil {
		return err
	}
	fmt.Println("support", report.Support, "gap", report.Gap, "whole", p.Cache().Whole)
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	peak := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(text)
	if peak == nil {
		return fmt.Errorf("no VmHWM in /proc/self/status")
	}
	fmt.Println("peak", string(peak[1]))
	return nil
}

// tightCases are trainings of 6,000 documents, whose matrix takes 137 MiB, within little more than
// the least that they say they need, and within that and the matrix.
var tightCases = map[string]struct {
	classes  int
	beyond   int64 // bytes beyond the least
	settings Settings
}{
	"two classes":      {2, 0, Settings{C: 10, KeepAll: true}},
	"twenty":           {20, 0, Settings{C: 10}},
	"four, rest":       {4, 0, Settings{C: 10, Scheme: solver.OneVsRest}},
	"calibrated":       {3, 0, Settings{C: 0.1, Scheme: solver.OneVsRest, Calibrated: true}},
	"one class":        {1, 0, Settings{Type: model.OneClass, Nu: 0.3}},
	"whole":            {2, 160 << 20, Settings{C: 10}},
	"once":             {20, 160 << 20, Settings{C: 10}},
	"nearly the whole": {2, 130 << 20, Settings{C: 10, KeepAll: true}},
}

// needs finds out from its error what a training says that it needs at least.
func needs(t *testing.T, source string, s Settings) int64 {
	t.Helper()
	c := read(t, source, corpus.Options{})
	s = musttest.Get(s.resolve())(t)
	limit := int64(ownBytes + 1<<20)
	for range 20 {
		p, err := NewProblem(t.Context(), c, sparse.Sphere, Options{
			MemoryBytes: limit, HeldBytes: ownBytes, Workers: 2, Tasks: []Task{{Settings: s}},
		})
		if err == nil {
			_, err = p.solverOptions(Task{Settings: s})
		}
		if err == nil {
			return limit
		}
		m := regexp.MustCompile(`needs ([0-9.]+) ([KMG])iB of memory, expected at most`).FindStringSubmatch(err.Error())
		if m == nil {
			t.Fatalf("error %v doesn't say what is needed", err)
		}
		v, _ := strconv.ParseFloat(m[1], 64)
		next := int64(v * 1.005 * float64(int64(1)<<(10*(1+strings.Index("KMG", m[2]))))) // three digits are printed
		if next <= limit {
			t.Fatalf("%v, which is no more than it has", err)
		}
		limit = next
	}
	t.Fatal("each answer asks for more")
	return 0
}

// A training stays within the memory that it was given, all of the process counted, down to the
// least that it asks for.
func TestTrainStaysWithinMemory(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("the peak of the resident memory isn't told here: ", err)
	}
	if testing.Short() {
		t.Skip("takes ten seconds")
	}
	for name, test := range tightCases {
		t.Run(name, func(t *testing.T) {
			source := fmt.Sprintf("synthetic:docs=6000,terms=8000,length=60,classes=%d,seed=9", test.classes)
			limit := needs(t, source, test.settings) + test.beyond
			word := strings.ReplaceAll(name, " ", "_")
			c := command(t, fmt.Sprintf("%s %s %d", source, word, limit))
			out, err := c.Output()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			_, last, ok := strings.Cut(string(out), "peak ")
			kb, bad := strconv.ParseInt(strings.TrimSpace(last), 10, 64)
			if !ok || bad != nil {
				t.Fatalf("the other process says %q", out)
			}
			t.Logf(
				"limit %s, peak %s, %s", run.FormatBytes(limit), run.FormatBytes(kb<<10),
				strings.TrimSpace(string(out)),
			)
			if kb<<10 > limit {
				t.Errorf("a peak of %s, expected at most %s", run.FormatBytes(kb<<10), run.FormatBytes(limit))
			}
		})
	}
}

// What doesn't fit is said before the work, with the number that would do.
func TestTrainSaysWhatItNeeds(t *testing.T) {
	c := read(t, "synthetic:docs=2000,terms=3000,length=40,classes=2,seed=10", corpus.Options{})
	least := needs(t, "synthetic:docs=2000,terms=3000,length=40,classes=2,seed=10", Settings{C: 1})
	if _, err := NewProblem(
		t.Context(), c, sparse.Sphere, Options{MemoryBytes: least * 9 / 10, HeldBytes: ownBytes, Workers: 2},
	); err == nil {
		t.Errorf("no error with nine tenths of %d bytes", least)
	}
	if _, err := NewProblem(
		t.Context(), c, sparse.Sphere, Options{CacheBytes: 1000},
	); err == nil || !strings.Contains(err.Error(), "for tiles and rows, expected at most 1000 B") {
		t.Errorf("error %v, expected what tiles and rows need", err)
	}
}
