package bench

import "testing"

func TestMergeDot(t *testing.T) {
	a, b := []uint32{1, 4, 5, 9}, []uint32{0, 4, 9, 12}
	av, bv := []float32{1, 2, 3, 4}, []float32{5, 6, 7, 8}
	if got := mergeDot(a, av, b, bv); got != 2*6+4*7 {
		t.Errorf("mergeDot is %v, expected 40", got)
	}
	if got := mergeDot(nil, nil, b, bv); got != 0 {
		t.Errorf("mergeDot with an empty list is %v", got)
	}
}
