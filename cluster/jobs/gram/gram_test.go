package gram

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/engine/device"
)

// Blocks cover every pair of the half, and what lies above the diagonal by their transposes, once;
// none is larger than what workers make room for.
func TestBlocksCover(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 25 {
		h := device.Columns * (1 + r.IntN(3))
		s := spec{Documents: 1 + r.IntN(1500), Rows: h, Columns: 2*h + device.Columns*r.IntN(3)}
		seen := make([]int, s.Documents*s.Documents)
		for task := range s.tasks() {
			rows, columns := s.ranges(task)
			if n := (rows[1] - rows[0]) * (columns[1] - columns[0]); n <= 0 || n > s.most() {
				t.Fatalf("%+v, task %d: rows %v and columns %v are %d values of at most %d", s, task, rows, columns, n, s.most())
			}
			if columns[0]%device.Columns != 0 || columns[1]%device.Columns != 0 && columns[1] != s.Documents ||
				columns[1] > rows[0] && (columns[1] != rows[1] || columns[0] > rows[0]) {
				t.Fatalf("%+v, task %d: rows %v and columns %v", s, task, rows, columns)
			}
			for i := rows[0]; i < rows[1]; i++ {
				for j := columns[0]; j < columns[1]; j++ {
					seen[i*s.Documents+j]++
					if j < rows[0] {
						seen[j*s.Documents+i]++
					}
				}
			}
		}
		for at, n := range seen {
			if n != 1 {
				t.Fatalf("%+v: row %d, column %d is written %d times", s, at/s.Documents, at%s.Documents, n)
			}
		}
	}
}

// Whatever a description says, it is refused or stands for blocks that are there.
func FuzzSpec(f *testing.F) {
	f.Add([]byte(`{"kernel":"linear","documents":700,"rows":128,"columns":256}`), 13)
	f.Fuzz(func(t *testing.T, text []byte, tasks int) {
		d := &job.Description{Kind: "gram", Tasks: tasks, Spec: json.RawMessage(text)}
		s, _, err := specOf(d)
		if err != nil || tasks > 1000 {
			return
		}
		for task := range tasks {
			if rows, columns := s.ranges(task); rows[1] > s.Documents || columns[1] > s.Documents || rows[0] >= rows[1] ||
				columns[0] >= columns[1] {
				t.Errorf("%s, task %d: rows %v and columns %v", text, task, rows, columns)
			}
		}
	})
}
