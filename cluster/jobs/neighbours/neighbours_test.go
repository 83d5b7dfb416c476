package neighbours

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gramengine/gram/cluster/jobs/jobtest"
	"github.com/gramengine/gram/engine"
)

func TestMain(m *testing.M) { jobtest.Main(m) }

// Blocks, merged, are the lines that grambench neighbours writes: of documents of numbers and of a
// folder of files, with equal values, least ones, and kernels that don't fall with c.
func TestLikeGrambench(t *testing.T) {
	folder := t.TempDir()
	for i := range 40 {
		class := filepath.Join(folder, fmt.Sprint("class", i%2))
		if err := os.MkdirAll(class, 0o755); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("some words of text %d and word%c among them", i/3, 'a'+rune(i%7))
		if err := os.WriteFile(filepath.Join(class, fmt.Sprintf("%d.txt", i)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const synthetic = "synthetic:docs=700,terms=900,length=12,classes=3,seed=5"
	for _, c := range []struct {
		source string
		tasks  int
		block  string
		flags  []string
	}{
		{synthetic, 6, "300", []string{"-k", "10"}},
		{synthetic, 1, "16384", []string{"-kernel", "linear", "-k", "3"}},
		{synthetic, 36, "99", []string{"-kernel", "rbf:gamma=0.1", "-k", "70", "-min", "0.2"}},
		{folder, 10, "10", []string{"-kernel", "diffusion:t=0.5", "-k", "5"}},
	} {
		t.Run(fmt.Sprint(filepath.Base(c.source), c.flags), func(t *testing.T) {
			t.Parallel()
			j, got, err := jobtest.Run(t, Kind, c.source, "near.tsv", append(c.flags, "-block", c.block)...)
			if err != nil {
				t.Fatal(err)
			}
			if j.Tasks != c.tasks {
				t.Errorf("%d tasks, expected %d", j.Tasks, c.tasks)
			}
			args := append([]string{"neighbours", "-q", "-in", c.source}, c.flags...)
			if want := jobtest.Grambench(t, "near.tsv", args...); len(want) == 0 || !bytes.Equal(got, want) {
				t.Errorf("%d bytes differ from the %d of grambench neighbours", len(got), len(want))
			}
		})
	}
}

// Each block has one number, and each number one block.
func TestPlace(t *testing.T) {
	next := 0
	for i := range 300 {
		for j := range i + 1 {
			if task(i, j) != next {
				t.Fatalf("block %d, %d is task %d, expected %d", i, j, task(i, j), next)
			}
			if a, b := place(next); a != i || b != j {
				t.Fatalf("task %d is block %d, %d, expected %d, %d", next, a, b, i, j)
			}
			next++
		}
	}
	if i, j := place(task(1<<15, 77)); i != 1<<15 || j != 77 {
		t.Errorf("block %d, %d, expected %d, 77", i, j, 1<<15)
	}
}

func TestRefused(t *testing.T) {
	const source = "synthetic:docs=60,terms=90,length=20,classes=3,seed=5"
	for _, flags := range [][]string{{"-k", "0"}, {"-block", "0"}, {"-block", "-5"}, {"-min", "x"}, {"-min", "NaN"},
		{"-kernel", "x"}} {
		if _, _, err := jobtest.Run(t, Kind, source, "near.tsv", flags...); err == nil {
			t.Errorf("%v: no error", flags)
		} else {
			t.Log(flags, err)
		}
	}
}

// Any bytes are lists that are written as the same bytes again, or an error.
func FuzzDecode(f *testing.F) {
	rows := [][]engine.Neighbour{{{Document: 7, Value: 0.5}, {Document: 3, Value: 0.25}}, {}, {{Document: 1, Value: -1}}}
	columns := [][]engine.Neighbour{{{Document: 9, Value: 1}}}
	f.Add(append(encode(rows), encode(columns)...), 3, 1, 2)
	f.Add(encode(rows), 3, 0, 1)
	f.Add([]byte{255, 255, 255, 255}, 1, 0, 1<<30)
	f.Fuzz(func(t *testing.T, b []byte, rows, columns, k int) {
		if rows < 0 || rows > 1000 || columns < 0 || columns > 1000 || k < 0 {
			return
		}
		first, err := decode(b, rows, columns, k, false)
		second, err2 := decode(b, rows, columns, k, true)
		if (err == nil) != (err2 == nil) {
			t.Fatalf("rows: %v, columns: %v", err, err2)
		}
		if err != nil {
			return
		}
		if len(first) != rows || len(second) != columns {
			t.Fatalf("%d and %d lists, expected %d and %d", len(first), len(second), rows, columns)
		}
		if again := append(encode(first), encode(second)...); !bytes.Equal(again, b) {
			t.Fatalf("%x, expected %x", again, b)
		}
	})
}
