package gram

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/cluster/store/storetest"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/musttest"
)

// Tiles cover each pair of the lower triangle once, in consecutive memory. No tile exceeds the size
// that workers expect.
func TestTilesCover(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 25 {
		h := device.ColumnAlignment * (1 + r.IntN(4))
		s := spec{NumDocuments: 1 + r.IntN(1500), StripHeight: h, MaxBlockWidth: 2*h + device.ColumnAlignment*r.IntN(3)}
		seen := make([]int, s.NumDocuments*s.NumDocuments)
		for task := range s.numTasks() {
			b := s.block(task)
			if b.numValues() <= 0 || b.numValues() > s.maxBlockValues() {
				t.Fatalf("%+v, task %d: %+v has %d values of at most %d", s, task, b, b.numValues(), s.maxBlockValues())
			}
			if b.columns[0]%device.ColumnAlignment != 0 || b.columns[1]%device.ColumnAlignment != 0 &&
				b.columns[1] != s.NumDocuments ||
				b.columns[1] > b.rows[0] && (b.columns[1] != b.rows[1] || b.columns[0] > b.rows[0]) {
				t.Fatalf("%+v, task %d: %+v", s, task, b)
			}
			next := 0
			for row := b.rows[0]; row < b.rows[1]; row += s.tileSize() {
				b.eachTile(row, min(s.tileSize(), b.rows[1]-row), b.columns[0], b.columns[1]-b.columns[0],
					func(row, rows, column, columns int) {
						at, width := b.locate(row, column)
						if at != next || width != columns || rows > s.tileSize() || columns > s.tileSize() ||
							s.taskOf(row, column) != task {
							t.Fatalf("%+v, task %d: tile of %d x %d values from %d, %d is at %d of task %d, expected %d", s, task,
								rows, columns, row, column, at, s.taskOf(row, column), next)
						}
						next += rows * columns
						for i := range rows * columns {
							i, j := row+i/columns, column+i%columns
							seen[i*s.NumDocuments+j]++
							if column < row {
								seen[j*s.NumDocuments+i]++
							}
						}
					})
			}
			if next != b.numValues() {
				t.Fatalf("%+v, task %d: tiles of %d values, expected %d", s, task, next, b.numValues())
			}
		}
		for at, n := range seen {
			if n != 1 {
				t.Fatalf("%+v: row %d, column %d is in %d tiles", s, at/s.NumDocuments, at%s.NumDocuments, n)
			}
		}
	}
}

// gather puts tiles in the right places, for strips of whole rows and for strips with the width of
// a tile.
func TestGather(t *testing.T) {
	for _, s := range []spec{
		{"linear", 1, 128, 256}, {"linear", 640, 128, 256}, {"linear", 1500, 256, 512}, {"linear", 1300, 512, 1024},
	} {
		value := func(i, j int) float32 { return float32(min(i, j)*s.NumDocuments + max(i, j)) }
		bucket := store.New(&storetest.MemoryBucket{})
		j := &job.Job{Digest: job.Digest(nil), Host: &job.Host{Store: bucket}}
		j.Kind, j.NumTasks = "gram", s.numTasks()
		musttest.NoError(t, j.SetSpec(s))
		for task := range j.NumTasks {
			b := s.block(task)
			values := make([]float32, b.numValues())
			for i := b.rows[0]; i < b.rows[1]; i++ {
				for j := b.columns[0]; j < min(b.columns[1], b.tileEnd(i, s.NumDocuments)); j++ {
					at, _ := b.locate(i, j)
					values[at] = value(i, j)
				}
			}
			musttest.Get(bucket.Put(t.Context(), j.ResultName(task), job.FloatBytes(values)))(t)
		}
		want := matrixio.NPYHeader("<f4", fmt.Sprintf("(%d, %d)", s.NumDocuments, s.NumDocuments))
		for at := range s.NumDocuments * s.NumDocuments {
			want = append(want, job.FloatBytes([]float32{value(at/s.NumDocuments, at%s.NumDocuments)})...)
		}
		for _, m := range []int64{0, 2<<20 + 1, 12 << 20} { // in addition to the program's memory
			memory := m + min(m, 1)*job.ProgramBytes
			j.Host.MemoryLimit, j.Host.Workers = memory, 1+int(memory%2)
			folder := t.TempDir()
			out := &job.Output{Path: filepath.Join(folder, "K.npy"), Progress: func(int64, int64) {}}
			if err := Kind.Gather(t.Context(), j, out); err != nil {
				t.Fatalf("%+v: %v", s, err)
			}
			if got, err := os.ReadFile(out.Path); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%+v, memory %d: other bytes, error %v", s, memory, err)
			}
			if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
				t.Errorf("%+v: %v is left, error %v", s, left, err)
			}
		}
		j.Host.MemoryLimit = job.ProgramBytes + 2*s.tileBytes() - 1
		out := &job.Output{Path: filepath.Join(t.TempDir(), "K.npy")}
		musttest.WantError(Kind.Gather(t.Context(), j, out))(t,
			fmt.Sprintf("%+v in a byte less than a tile and a part", s), "-m allows")
	}
}

// Any description is either rejected or has valid blocks.
func FuzzSpec(f *testing.F) {
	f.Add([]byte(`{"kernel":"linear","documents":700,"rows":128,"columns":256}`), 13)
	f.Fuzz(func(t *testing.T, text []byte, tasks int) {
		d := &job.Description{Kind: "gram", NumTasks: tasks, Spec: json.RawMessage(text)}
		s, _, err := decodeSpec(d)
		if err != nil || tasks > 1000 {
			return
		}
		for task := range tasks {
			if b := s.block(task); b.rows[1] > s.NumDocuments || b.columns[1] > s.NumDocuments || b.rows[0] >= b.rows[1] ||
				b.columns[0] >= b.columns[1] {
				t.Errorf("%s, task %d: %+v", text, task, b)
			}
		}
	})
}
