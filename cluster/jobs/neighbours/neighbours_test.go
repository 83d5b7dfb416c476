package neighbours

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gramengine/gram/cluster/jobs/jobtest"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/musttest"
)

func TestMain(m *testing.M) { jobtest.RunTests(m) }

// Merged lists have the same lines as the output of `gram neighbours`: for vectors and a folder of
// files, with ties, -min, and kernels that don't decrease in c = 1 - cosine.
func TestLikeGrambench(t *testing.T) {
	folder := t.TempDir()
	for i := range 40 {
		class := filepath.Join(folder, fmt.Sprint("class", i%2))
		musttest.NoError(t, os.MkdirAll(class, 0o755))
		// The last word occurs in no other document, but must affect the kernel values.
		text := fmt.Sprintf("some words of text %d and word%c among them %[2]ca%[3]c", i/3, 'a'+rune(i%7), 'a'+rune(i/7))
		musttest.NoError(t, os.WriteFile(filepath.Join(class, fmt.Sprintf("%d.txt", i)), []byte(text), 0o644))
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
			musttest.NoError(t, err)
			if j.NumTasks != c.tasks {
				t.Errorf("%d tasks, expected %d", j.NumTasks, c.tasks)
			}
			args := append([]string{"neighbours", "-q", "-in", c.source}, c.flags...)
			if want := jobtest.RunGram(t, "near.tsv", args...); len(want) == 0 || !bytes.Equal(got, want) {
				t.Errorf("%d bytes differ from the %d of gram neighbours", len(got), len(want))
			}
		})
	}
}

func TestRefused(t *testing.T) {
	jobtest.CheckRejected(t, Kind, "synthetic:docs=60,terms=90,length=20,classes=3,seed=5", "near.tsv", map[string]string{
		"-k 0":      "-k must be positive, got 0",
		"-block 0":  "-block must be between 1 and 2147483647, got 0",
		"-block -5": "-block must be between 1 and 2147483647, got -5",
		"-min x":    `-min must be a number, got "x"`,
		"-min NaN":  `-min must be a number, got "NaN"`,
		"-min Inf":  `-min must be a number, got "Inf"`,
		"-kernel x": `found "x"`,
	})
}

func TestOther(t *testing.T) { jobtest.CheckBlocksRejected(t, Kind, "near.tsv") }

// Results with invalid lists are rejected.
func TestDecode(t *testing.T) {
	lists := [][]engine.Neighbour{{{Document: 7, Value: 0.5}, {Document: 3, Value: 0.25}}, {}}
	b := encodeLists(lists)
	musttest.WantError(decodeLists(b, 2, 0, 1, false))(t, "long lists", "has 2 neighbours; the maximum is 1")
	musttest.WantError(decodeLists(b, 3, 0, 2, false))(t, "few lists", "result ends in list 2")
	musttest.WantError(decodeLists(b[:13], 2, 0, 2, false))(t, "a short list", "only 9 bytes are left")
	musttest.WantError(decodeLists(b, 1, 0, 2, false))(t, "many lists", "4 extra bytes after the last list")
}

// Any bytes are either rejected or decoded to lists that encode to the same bytes.
func FuzzDecode(f *testing.F) {
	rows := [][]engine.Neighbour{{{Document: 7, Value: 0.5}, {Document: 3, Value: 0.25}}, {}, {{Document: 1, Value: -1}}}
	columns := [][]engine.Neighbour{{{Document: 9, Value: 1}}}
	f.Add(append(encodeLists(rows), encodeLists(columns)...), 3, 1, 2)
	f.Add(encodeLists(rows), 3, 0, 1)
	f.Add([]byte{255, 255, 255, 255}, 1, 0, 1<<30)
	f.Fuzz(func(t *testing.T, b []byte, rows, columns, k int) {
		if rows < 0 || rows > 1000 || columns < 0 || columns > 1000 || k < 0 {
			return
		}
		first, err := decodeLists(b, rows, columns, k, false)
		second, err2 := decodeLists(b, rows, columns, k, true)
		if (err == nil) != (err2 == nil) {
			t.Fatalf("rows: %v, columns: %v", err, err2)
		}
		if err != nil {
			return
		}
		if len(first) != rows || len(second) != columns {
			t.Fatalf("%d and %d lists, expected %d and %d", len(first), len(second), rows, columns)
		}
		if again := append(encodeLists(first), encodeLists(second)...); !bytes.Equal(again, b) {
			t.Fatalf("%x, expected %x", again, b)
		}
	})
}
