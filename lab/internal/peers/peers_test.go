package peers

import (
	"compress/gzip"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gramengine/gram/internal/musttest"
)

func TestMedian(t *testing.T) {
	of := func(values ...float64) Runs {
		var s Runs
		for _, v := range values {
			s = append(s, Ran{Seconds: v, Cores: 10 * v})
		}
		return s
	}
	for _, test := range []struct {
		runs                [4]float64
		n                   int
		median, least, most float64
	}{{[4]float64{5}, 1, 5, 5, 5}, {[4]float64{9, 1, 2}, 3, 2, 1, 9}, {[4]float64{9, 1, 2, 4}, 4, 3, 1, 9}} {
		median, least, most, cores := of(test.runs[:test.n]...).Median()
		if median != test.median || least != test.least || most != test.most || cores != 10*test.median {
			t.Errorf("%v: median %v, least %v, most %v, cores %v", test.runs[:test.n], median, least, most, cores)
		}
	}
}

// A script's own seconds, cores and version count, where it prints them.
func TestScript(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	b := &Bench{Python: "sh", Threads: 3} // which takes a script by -c, too
	var into struct{ X int }
	r, err := b.Script(t.Context(), &into,
		`echo "{\"seconds\": 5000, \"cores\": 2, \"version\": \"1.2\", \"x\": $OMP_NUM_THREADS}"`)
	if err != nil || r.Seconds != 5000 || r.Cores != 2 || r.Version != "1.2" || into.X != 3 {
		t.Errorf("%+v, %+v, %v", r, into, err)
	}
	r, err = b.Script(t.Context(), &into, `echo "{\"x\": $0}"`, "7")
	if err != nil || !(r.Seconds > 0 && r.Seconds < 5000) || into.X != 7 {
		t.Errorf("%+v, %+v, %v", r, into, err)
	}
	for script, want := range map[string]string{"echo nonsense": "nonsense", "echo why >&2; exit 1": "why"} {
		if _, err := b.Script(t.Context(), nil, script); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected an error with %q", script, err, want)
		}
	}
}

// A program ends with its context, whatever it has started itself.
func TestExecuteEnds(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	begin := time.Now()
	_, err := (&Bench{}).Execute(ctx, "sh", "-c", "sleep 30 & wait")
	if took := time.Since(begin); !errors.Is(err, context.Canceled) || took > 20*time.Second {
		t.Errorf("%v after %v, expected it to be canceled at once", err, took)
	}
}

// Lines are those of a file, compressed or not; labels lose what follows a bar, texts don't.
func TestLines(t *testing.T) {
	lines := []string{"student|cornell\ta | b", "faculty\tc"}
	plain, packed := filepath.Join(t.TempDir(), "a.tsv"), filepath.Join(t.TempDir(), "a.tsv.gz")
	musttest.Do(t, WriteLines(plain, lines))
	f := musttest.Get(os.Create(packed))(t)
	w := gzip.NewWriter(f)
	w.Write([]byte(lines[0] + "\n" + lines[1] + "\n"))
	w.Close()
	f.Close()
	for _, path := range []string{plain, packed} {
		if got, err := ReadLines(path); err != nil || !slices.Equal(got, lines) {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	if ShortLabels(lines); !slices.Equal(lines, []string{"student\ta | b", "faculty\tc"}) {
		t.Errorf("%q", lines)
	}
	if _, err := ReadLines(plain + "x"); err == nil {
		t.Error("no file: no error")
	}
}
