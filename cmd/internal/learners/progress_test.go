package learners

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/solver"
)

// underWay is a progress report with all fields set.
var underWay = svm.Progress{Stage: "training", Done: 12, Total: 190, HitRate: 0.875, Solver: solver.Progress{
	Problems: 190, Solved: 12, Iterations: 123456, Gap: 0.0123, Objective: -4567.25, ActiveDocuments: 1000,
	Documents: 1131,
}}

// If standard error isn't a terminal, long training runs log lines at intervals, short ones none.
func TestTrainingWritesLog(t *testing.T) {
	defer func(d time.Duration) { cli.LogInterval = d }(cli.LogInterval)
	var b strings.Builder
	cli.LogInterval = time.Hour
	p := (&cli.Env{ProgramName: "gram", Stderr: &b}).NewProgress(true)
	trainingProgress(p, progressDetails)(underWay)
	if b.Len() > 0 {
		t.Errorf("within the interval it writes %q", b.String())
	}
	cli.LogInterval = 0
	trainingProgress(p, progressDetails)(underWay)
	const want = "gram: training 6% (12 of 190), gap 0.012, 123 k steps, 1,000 of 1,131 active, " +
		"objective -4567.25, 88% of rows at hand\n"
	if b.String() != want {
		t.Errorf("it writes  %q\nexpected   %q", b.String(), want)
	}
	b.Reset()
	trainingProgress(p, progressDetails)(svm.Progress{Stage: "computing tiles", Done: 1, Total: 4, HitRate: math.NaN()})
	if want := "gram: computing tiles 25% (1 of 4)\n"; b.String() != want {
		t.Errorf("it writes %q, expected %q", b.String(), want)
	}
	b.Reset()
	trainingProgress((&cli.Env{ProgramName: "gram", Stderr: &b, Quiet: true}).NewProgress(true), progressDetails)(underWay)
	if b.Len() > 0 {
		t.Errorf("with -q it writes %q", b.String())
	}
}

// The time left is shown from 3% of a stage on, and not at its end.
func TestWait(t *testing.T) {
	for done, want := range map[int64]bool{0: false, 2: false, 3: true, 50: true, 99: true, 100: false} {
		got := remainingTime(time.Now().Add(-time.Minute), svm.Progress{Done: done, Total: 100})
		if told := len(got) == 1 && strings.HasSuffix(got[0], " left"); told != want || !want && got != nil {
			t.Errorf("at %d %%: %q", done, got)
		}
	}
}

// The progress bar moves during the training of a single classifier.
func TestPartShows(t *testing.T) {
	var lines []string
	cli.OnProgress = func(what string) { lines = append(lines, what) }
	defer func() { cli.OnProgress = nil }()
	tell := trainingProgress(&cli.Progress{}, func(svm.Progress) []string { return nil })
	for _, part := range []float64{0.25, 0.5} {
		tell(svm.Progress{Stage: "training", Total: 1, PartialWork: part, HitRate: math.NaN()})
	}
	if want := []string{"training 25% (0 of 1)", "training 50% (0 of 1)"}; !slices.Equal(lines, want) {
		t.Errorf("progress %q, expected %q", lines, want)
	}
}
