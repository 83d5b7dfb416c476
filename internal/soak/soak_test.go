package soak

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/synthetic"
	"github.com/gramengine/gram/sparse"
)

// here returns the logical CPUs that the test may use.
func here() []int {
	ids, err := allowedCPUs()
	if err != nil {
		panic(err)
	}
	return ids
}

// Every flipped bit in tiles, maps and panels of each instruction set is found, and only on its
// core. Repetitions without flips have no differences.
func TestEveryFlipIsFound(t *testing.T) {
	bad, flips := here()[len(here())-1], 0
	r := musttest.Get(Run(t.Context(), Options{MaxRounds: 3, SingleCoreFraction: 0.3, CorpusBytes: 1 << 20, Seed: 5,
		corrupt: func(core int, values []float32) {
			if core == bad {
				at := flips % len(values)
				values[at] = math.Float32frombits(bitsOf(values[at]) ^ 1<<(flips%32))
				flips++
			}
		}}))(t)
	if r.DifferenceCount != flips || flips == 0 || len(r.Differences) != min(flips, maxListedDifferences) {
		t.Errorf("%d differences of %d flips, %d listed", r.DifferenceCount, flips, len(r.Differences))
	}
	kinds := map[string]bool{}
	for i, d := range r.Differences {
		kinds[d.Kind] = true
		flip := d.WantBits ^ d.GotBits
		if d.CoreID != bad || flip == 0 || flip&(flip-1) != 0 || d.SameCoreRepeats+d.OtherCoreRepeats > 0 ||
			d.Position == "" || d.Error != "" {
			t.Errorf("difference %d is %+v", i, d)
		}
	}
	if len(kinds) != 3 {
		t.Errorf("differences of %v, expected tiles, maps and panels", kinds)
	}
	for _, c := range r.Cores {
		if (c.DifferenceCount > 0) != (c.ID == bad) || c.TaskCount == 0 || c.ValueCount == 0 {
			t.Errorf("processor %d: %+v", c.ID, c)
		}
	}
}

// Correct cores have no differences.
func TestNoFalseDifference(t *testing.T) {
	musttest.SkipRace(t)
	r, err := Run(t.Context(), Options{MaxRounds: 2, CorpusBytes: 1 << 20, Seed: 6})
	if err != nil || r.DifferenceCount != 0 || r.CheckCoverage() != nil || len(r.Cores) != len(here()) || r.Rounds != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}

// Tasks of a core with a stuck bit differ when repeated on this core, but not on another core.
func TestStuckBit(t *testing.T) {
	s := &state{report: &Report{}, o: Options{OnStage: func(string) {}}}
	for id := range 2 {
		s.cores = append(s.cores, newCore(id))
	}
	at := 0
	wrong := &task{kind: kindMap, isa: asm.Generic, size: "of 4 values", values: 4, compute: func(out []float32) {
		out[2] = math.Float32frombits(uint32(at))
	}}
	wrong.want = make([]float32, 4)
	// The core that computes while at is 1 is stuck: the first core, whose repetitions come first.
	at = 1
	calls := 0
	inner := wrong.compute
	wrong.compute = func(out []float32) {
		if calls++; calls > 1+repeatCount {
			at = 0
		}
		inner(out)
	}
	s.runTask(t.Context(), s.cores[0], wrong)
	if len(s.report.Differences) != 1 {
		t.Fatalf("%+v", s.report)
	}
	d := s.report.Differences[0]
	if d.CoreID != 0 || d.OtherCoreID != 1 || d.SameCoreRepeats != repeatCount || d.OtherCoreRepeats != 0 ||
		d.GotBits != 1 || d.Position != "value 2" {
		t.Errorf("%+v", d)
	}
	// An error is also a difference.
	s.runTask(t.Context(), s.cores[1], &task{kind: kindTile, isa: asm.Generic, values: 1, want: []float32{0},
		computeTiles: func(context.Context, []float32) error { return fmt.Errorf("an index out of range") }})
	if s.report.DifferenceCount != 2 || !strings.Contains(s.report.Differences[1].Error, "out of range") {
		t.Errorf("%+v", s.report)
	}
}

// A run ends when its context is done, and reports its work. Invalid CPUs are rejected.
func TestEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	turns := 0
	r, err := Run(ctx, Options{ISAs: []asm.ISA{asm.Generic}, CorpusBytes: 1, OnStage: func(stage string) {
		if strings.HasPrefix(stage, "turn") {
			if turns++; turns == 2 {
				cancel()
			}
		}
	}})
	if err != nil || !r.Interrupted || r.DifferenceCount != 0 || r.Cores[0].TaskCount == 0 {
		t.Errorf("%+v, %v", r, err)
	}
	musttest.WantError(Run(t.Context(), Options{Cores: []int{1 << 13}}))(t, "processor 8192", "8192")
}

// Single cores compute for the requested share of the time: none, or about a tenth.
func TestAlone(t *testing.T) {
	for _, part := range []float64{0, 0.1} {
		together, alone := 0, 0
		r := musttest.Get(Run(t.Context(), Options{MaxRounds: 10, SingleCoreFraction: part, CorpusBytes: 1,
			ISAs: []asm.ISA{asm.Generic},
			OnStage: func(stage string) {
				if strings.Contains(stage, "all cores") {
					together++
				} else if strings.HasPrefix(stage, "turn") {
					alone++
				}
			}}))(t)
		if most := int(part * 100); together != 10 || alone > most || (part > 0 && len(here()) > 1) != (alone > 0) {
			t.Errorf("a part of %g: %d times all cores and %d times one, expected 10 and up to %d", part, together, alone, most)
		}
		if part == 0 && r.SingleCoreFraction != 0 {
			t.Errorf("%+v", r)
		}
	}
}

// One corpus is larger than the last-level cache. A wrong value in any block is found.
func TestCorpus(t *testing.T) {
	if got := corpusBytes(480<<20, 64<<30); got != 720<<20 {
		t.Errorf("a corpus of %d bytes for a cache of 480 MiB", got)
	}
	if got := corpusBytes(480<<20, 1<<30); got != 128<<20 {
		t.Errorf("a corpus of %d bytes in 1 GiB of memory", got)
	}
	table := musttest.Get(asm.KernelsFor(asm.Generic))(t)
	const bytes = 2 << 20
	list := newCorpusTasks(table, bytes, 1)
	again := newCorpusTasks(table, bytes-1<<20, 1)
	want, got, less := make([]float32, list[0].values), make([]float32, list[0].values), make([]float32, list[0].values)
	list[0].compute(want)
	list[0].compute(got)
	again[0].compute(less)
	if len(list) != 1 || len(differingIndices(want, got)) != 0 || len(differingIndices(want, less)) == 0 {
		t.Errorf("%d tasks; %d differences from itself, %d from that of fewer blocks", len(list),
			len(differingIndices(want, got)), len(differingIndices(want, less)))
	}
}

// Values differ if their bits differ: -0 differs from 0, and NaN only from other NaNs.
func TestDifferences(t *testing.T) {
	nan, minusZero := float32(math.NaN()), float32(math.Copysign(0, -1))
	if got := differingIndices([]float32{0, nan, 1}, []float32{minusZero, nan, 1}); !slices.Equal(got, []int{0}) {
		t.Errorf("differences at %v, expected at 0", got)
	}
}

// Every value of a lower triangle has the correct position.
func TestPlaces(t *testing.T) {
	half := &task{values: rowStart(40), lowerTriangle: true}
	at := 0
	for row := range 40 {
		for column := range row + 1 {
			if got, want := half.position(at), fmt.Sprintf("row %d, column %d", row, column); got != want {
				t.Fatalf("value %d is at %s, expected %s", at, got, want)
			}
			at++
		}
	}
	if got := (&task{columns: 7}).position(15); got != "row 2, column 1" {
		t.Errorf("value 15 of rows of 7 is at %s", got)
	}
}

// Tiles give the lower triangle of the whole matrix, for dense rows and dense columns.
func TestTileTask(t *testing.T) {
	k := kernel.MustParse("c")
	for _, length := range []int{12, 150} {
		s := synthetic.Spec{DocumentCount: 300, TermCount: 3000, MeanLength: length, ClassCount: 3, Seed: 1}
		m := musttest.Get(corpus.Read(t.Context(), s.String(), corpus.Options{}))(t).Documents
		x := musttest.Get(sparse.SphereEmbedding.Fit(m).Transform(m))(t)
		for _, isa := range asm.Available() {
			e := musttest.Get(engine.New(x, engine.Options{ISA: string(isa)}))(t)
			want := musttest.Get(e.Gram(t.Context(), k, nil))(t)
			work := newTileTask(e, isa, x.Rows())
			out := make([]float32, work.values)
			musttest.NoError(t, work.computeTiles(t.Context(), out))
			for i := range x.Rows() {
				if !slices.Equal(out[rowStart(i):rowStart(i+1)], want.Row(i)[:i+1]) {
					t.Fatalf("%s, documents of %d words: other values in row %d", isa, length, i)
				}
			}
		}
	}
}

// If a run is too short for a CPU, the error names the CPU.
func TestIdle(t *testing.T) {
	r := &Report{Cores: []Core{{ID: 0, ValueCount: 5}, {ID: 3}}}
	if err := r.CheckCoverage(); err == nil || err.Error() != "processor 3 compared no value" {
		t.Error(err)
	}
}
