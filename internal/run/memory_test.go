package run

import (
	"errors"
	"runtime"
	"testing"
)

func TestFormatBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1 KiB", 1536: "1.5 KiB",
		1023 << 10: "0.999 MiB", 238 << 20: "238 MiB", 1<<63 - 1: "8 EiB",
	} {
		if got := FormatBytes(n); got != want {
			t.Errorf("%d is %q, expected %q", n, got, want)
		}
	}
}

func TestBounds(t *testing.T) {
	if NumWorkers(3) != 3 || NumWorkers(1) != 1 || NumWorkers(0) != runtime.GOMAXPROCS(0) {
		t.Errorf("workers %d, %d, %d", NumWorkers(3), NumWorkers(1), NumWorkers(0))
	}
	if CheckMemory(5, 0, "x") != nil || CheckMemory(5, 5, "x") != nil {
		t.Error("what fits is refused")
	}
	if sum := AddBytes(1<<62, 1<<62); sum != 1<<63-1 || AddBytes(2, 3) != 5 {
		t.Errorf("sums %d and %d", sum, AddBytes(2, 3))
	}
	for want, err := range map[string]error{
		"work on 3 needs 2.01 KiB of memory, but the limit is 1 KiB": CheckMemory(2<<10, 1<<10, "work on %d", 3),
		"x needs 2.01 KiB of memory, but the system leaves 1 KiB": &MemoryError{
			Computation: "x", NeedBytes: 2 << 10, LimitBytes: 1 << 10, IsSystemLimit: true,
		},
		"x needs 2.01 KiB of memory, but the limit is 1 KiB": &MemoryError{Computation: "x", NeedBytes: 2 << 10,
			LimitBytes: 1 << 10},
	} {
		if short := (*MemoryError)(nil); !errors.As(err, &short) || err.Error() != want {
			t.Errorf("error %v, expected %s", err, want)
		}
	}
}
