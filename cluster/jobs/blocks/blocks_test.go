package blocks

import "testing"

// Blocks correspond one-to-one to task numbers.
func TestPlace(t *testing.T) {
	next := 0
	for i := range 300 {
		for j := range i + 1 {
			if TaskOfBlock(i, j) != next {
				t.Fatalf("block %d, %d is task %d, expected %d", i, j, TaskOfBlock(i, j), next)
			}
			if a, b := BlockOfTask(next); a != i || b != j {
				t.Fatalf("task %d is block %d, %d, expected %d, %d", next, a, b, i, j)
			}
			next++
		}
	}
	if i, j := BlockOfTask(TaskOfBlock(1<<15, 77)); i != 1<<15 || j != 77 {
		t.Errorf("block %d, %d, expected %d, 77", i, j, 1<<15)
	}
}

// Validate rejects more ranges of documents than the number of tasks allows.
func TestMostRanges(t *testing.T) {
	for ranges, most := range map[int]bool{1 << 15: true, 1<<15 + 1: false} {
		if err := (LowerTriangle{NumRows: ranges, BlockSize: 1}).Validate(); (err == nil) != most {
			t.Errorf("%d ranges: error %v", ranges, err)
		}
	}
}
