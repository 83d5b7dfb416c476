package tiles

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles"
)

// Results that don't fit together are refused, and no file of them is half written.
func TestGatherRefuses(t *testing.T) {
	file := func(matrix byte, row, rows int) string {
		var b bytes.Buffer
		p := tiles.Piece{Matrix: [32]byte{matrix}, Row: row, Rows: rows, Column: row, Cols: 3 - row}
		musttest.Do(t, p.Write(&b, func(int) []float32 { return make([]float32, p.Cols) }))
		return b.String()
	}
	good := file(1, 0, 2)
	for _, c := range []struct {
		results  []string
		to       string
		memory   int64
		kept     int
		expected string
	}{
		{[]string{good, file(1, 2, 1)}, "", 0, 2, ""},
		{[]string{good + file(1, 2, 1), ""}, "tiles", 65 << 20, 2, ""},
		{[]string{good, file(2, 2, 1)}, "", 0, 2, "machines or programs differ"},
		{[]string{good, ""}, "", 0, 1, "results of 2 rows, expected 3"},
		{[]string{good, file(1, 2, 1)[:80]}, "", 0, 1, "result of task 1: tiles: Add: damaged"},
		{[]string{good, "what is no file" + good}, "", 0, 1, "result of task 1: tiles: Add: damaged"},
		{[]string{good, file(1, 2, 1)}, "npy", 0, 0, "expected -o DIR"},
		{[]string{good, file(1, 2, 1)}, "", 100, 0, "-m allows 100 B"},
	} {
		s, err := store.Create(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		text := musttest.Get(json.Marshal(spec{"tf-l2", 3, 2}))(t)
		h := &job.Host{Store: s, Workers: 1, Memory: c.memory}
		d := job.Description{Version: job.Version, Kind: "tiles", ISA: "generic", Tasks: 2, Spec: text}
		j := musttest.Get(h.Save(t.Context(), d))(t)
		for task, r := range c.results {
			if _, err := s.Put(t.Context(), j.ResultName(task), []byte(r)); err != nil {
				t.Fatal(err)
			}
		}
		dir := filepath.Join(t.TempDir(), "kept")
		err = Kind.Gather(t.Context(), j, &job.Output{Path: dir, To: c.to, Progress: func(int64, int64) {}})
		if (err == nil) != (c.expected == "") || err != nil && !strings.Contains(err.Error(), c.expected) {
			t.Errorf("%.30q: error %v, expected %q", c.results, err, c.expected)
		}
		if kept, _ := os.ReadDir(dir); len(kept) != c.kept {
			t.Errorf("%.30q: %d files, expected %d", c.results, len(kept), c.kept)
		}
	}
}

// Flags that make no sense are refused when the job is planned.
func TestRefused(t *testing.T) {
	c := &corpus.Corpus{Documents: &sparse.CSR{Offsets: []int64{0, 0}}}
	for flags, from := range map[string]*corpus.Corpus{
		"-rows 0": c, "-rows 100000": c, "-kernel x": c, "-embed x": c, "-rows 1": nil,
		"-rows 2": {Documents: &sparse.CSR{}},
	} {
		f := flag.NewFlagSet("tiles", flag.ContinueOnError)
		planner := Kind.Declare(f)
		musttest.Do(t, f.Parse(strings.Fields(flags)))
		if _, _, err := planner.Plan(t.Context(), &job.Planning{Corpus: from}); err == nil {
			t.Errorf("%s: no error", flags)
		} else {
			t.Log(flags, err)
		}
	}
}

// Whatever a description says, it is refused or stands for strips that are there, one after the other.
func FuzzSpec(f *testing.F) {
	f.Add([]byte(`{"embedding":"sqrt-l2","documents":700,"rows":128}`), 6)
	f.Fuzz(func(t *testing.T, text []byte, tasks int) {
		s, _, err := specOf(&job.Description{Kind: "tiles", Tasks: tasks, Spec: json.RawMessage(text)})
		if err != nil || tasks > 1000 {
			return
		}
		next := 0
		for task := range tasks {
			first, end := s.rows(task)
			if first != next || end <= first || int64(end-first)*4*int64(s.Documents) > s.most() {
				t.Fatalf("%s: task %d has the documents %d to before %d", text, task, first, end)
			}
			next = end
		}
		if next != s.Documents {
			t.Errorf("%s: %d documents", text, next)
		}
	})
}
