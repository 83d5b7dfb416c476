package asm

import "testing"

// The linker limits the instruction sets; an unsupported limit panics.
func TestUpTo(t *testing.T) {
	list := []*Kernels{{ISA: Generic}, {ISA: AVX2}, {ISA: AVX512}}
	for highest, want := range map[ISA]int{"": 3, Generic: 1, AVX2: 2, AVX512: 3} {
		if got := tablesUpTo(list, highest); len(got) != want {
			t.Errorf("up to %q there are %d, expected %d", highest, len(got), want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("an unknown instruction set is no error")
		}
	}()
	tablesUpTo(list, "avx9")
}
