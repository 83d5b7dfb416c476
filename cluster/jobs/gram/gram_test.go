package gram

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/engine/device"
)

// Tiles cover every pair of the half once, and lie in their blocks one after the other; none is larger
// than what workers make room for.
func TestTilesCover(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 25 {
		h := device.Columns * (1 + r.IntN(4))
		s := spec{Documents: 1 + r.IntN(1500), Rows: h, Columns: 2*h + device.Columns*r.IntN(3)}
		seen := make([]int, s.Documents*s.Documents)
		for task := range s.tasks() {
			b := s.block(task)
			if b.values() <= 0 || b.values() > s.most() {
				t.Fatalf("%+v, task %d: %+v has %d values of at most %d", s, task, b, b.values(), s.most())
			}
			if b.columns[0]%device.Columns != 0 || b.columns[1]%device.Columns != 0 && b.columns[1] != s.Documents ||
				b.columns[1] > b.rows[0] && (b.columns[1] != b.rows[1] || b.columns[0] > b.rows[0]) {
				t.Fatalf("%+v, task %d: %+v", s, task, b)
			}
			next := 0
			for row := b.rows[0]; row < b.rows[1]; row += s.side() {
				b.each(row, min(s.side(), b.rows[1]-row), b.columns[0], b.columns[1]-b.columns[0],
					func(row, rows, column, columns int) {
						at, width := b.place(row, column)
						if at != next || width != columns || rows > s.side() || columns > s.side() || s.taskOf(row, column) != task {
							t.Fatalf("%+v, task %d: tile of %d x %d values from %d, %d is at %d of task %d, expected %d", s, task,
								rows, columns, row, column, at, s.taskOf(row, column), next)
						}
						next += rows * columns
						for i := range rows * columns {
							i, j := row+i/columns, column+i%columns
							seen[i*s.Documents+j]++
							if column < row {
								seen[j*s.Documents+i]++
							}
						}
					})
			}
			if next != b.values() {
				t.Fatalf("%+v, task %d: tiles of %d values, expected %d", s, task, next, b.values())
			}
		}
		for at, n := range seen {
			if n != 1 {
				t.Fatalf("%+v: row %d, column %d is in %d tiles", s, at/s.Documents, at%s.Documents, n)
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
			if b := s.block(task); b.rows[1] > s.Documents || b.columns[1] > s.Documents || b.rows[0] >= b.rows[1] ||
				b.columns[0] >= b.columns[1] {
				t.Errorf("%s, task %d: %+v", text, task, b)
			}
		}
	})
}
