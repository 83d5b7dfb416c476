package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// shortened returns the arguments with one slice shortened by a value: argument at or, for inner >=
// 0, its slice inner.
func shortened(args []any, at, inner int) []any {
	args = slices.Clone(args)
	v := reflect.ValueOf(args[at])
	if inner < 0 {
		args[at] = v.Slice3(0, v.Len()-1, v.Len()-1).Interface()
		return args
	}
	w := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	reflect.Copy(w, v)
	s := w.Index(inner)
	s.Set(s.Slice3(0, s.Len()-1, s.Len()-1))
	args[at] = w.Interface()
	return args
}

// If any slice is one value too short, the kernel panics with its name before it writes. Slices
// that determine the length may be shorter.
func TestShortSlices(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		eachKernel(t, k, func(name string, f reflect.Value, c kernelCase) {
			for _, n := range []int{1, 17, 65} {
				makeArgs := func() []any { return c.args(k, rand.New(rand.NewPCG(1, uint64(n))), nil, n) }
				if _, panicked := call(f, makeArgs()); panicked != nil {
					t.Errorf("%s, n=%d: %v", name, n, panicked)
					continue
				}
				try := func(at, inner int) {
					args := shortened(makeArgs(), at, inner)
					_, panicked := call(f, args)
					if inner < 0 && slices.Contains(c.free, at) {
						if panicked != nil {
							t.Errorf("%s, n=%d, argument %d short: %v", name, n, at, panicked)
						}
						return
					}
					if message, ok := panicked.(string); !ok || !strings.HasPrefix(message, "asm: "+name+": ") {
						t.Errorf("%s, n=%d, argument %d short (slice %d): %v, expected a panic with a message",
							name, n, at, inner, panicked)
					}
					if !reflect.DeepEqual(args, shortened(makeArgs(), at, inner)) {
						t.Errorf("%s, n=%d, argument %d short (slice %d): the arguments have changed",
							name, n, at, inner)
					}
				}
				for at, arg := range makeArgs() {
					v := reflect.ValueOf(arg)
					if v.Kind() != reflect.Slice || n > 1 && slices.Contains(c.duty, at) {
						continue
					}
					try(at, -1)
					if v.Type().Elem().Kind() == reflect.Slice {
						for inner := range v.Len() {
							try(at, inner)
						}
					}
				}
			}
		})
	})
}

// Counts, strides and indices out of range make the kernel panic.
func TestWrongNumbers(t *testing.T) {
	const most = math.MaxInt
	eachISA(t, func(t *testing.T, k *Kernels) {
		var s32 [256]float32
		var s64 [256]float64
		f32, f64 := s32[:], s64[:]
		bytes, index, start, offset := make([]byte, 17), make([]int32, 17), []int64{0, 1}, make([]uint16, 9)
		docs, sums, visits := make([]uint16, 20), make([]int32, 64), []Visit{{First: 3, Count: 9, Scale: 1, Column: 4}}
		for _, c := range []struct {
			run  func()
			want string
		}{
			{func() { k.PanelDot(f32, f32, []int64{-1, 0}, bytes[:1], offset, f32) },
				"asm: PanelDot: start must be nonnegative and ascending, got -1 to 0"},
			{func() { k.PanelDot(f32, f32, []int64{2, 1}, bytes[:1], offset, f32) },
				"asm: PanelDot: start must be nonnegative and ascending, got 2 to 1"},
			{func() { k.PanelDot(f32, f32, []int64{0, most}, bytes[:1], offset, f32) },
				fmt.Sprintf("asm: PanelDot: offset has 9 values, but needs at least %d", most)},
			{func() { k.PanelDot(f32, f32, nil, nil, offset, f32) }, "asm: PanelDot: start has 0 values, but needs 1"},
			{func() { k.ChiSquare.Panel(f32[:2], f32, start, bytes[:1], offset, f32) },
				fmt.Sprintf("asm: ChiSquare.Panel: out has 2 values, but needs at least %d", k.PanelWidth)},
			{func() { k.TailAdd(sums, -1, docs, f32, visits) }, "asm: TailAdd: stride is -1, but must be at least 0"},
			{func() { k.TailAdd(sums, 16, docs, f32, visits) }, "asm: TailAdd: sums has 64 values, but needs at least 65"},
			{func() { k.TailAdd(sums, 9, docs[:19], f32, visits) },
				"asm: TailAdd: doc has 19 values, but needs at least 20"},
			{func() { k.TailAdd(sums, 9, docs, f32, make([]Visit, 1)) },
				"asm: TailAdd: count of the last visit is 0, but must be at least 1"},
			{func() { k.Transpose(f32, 8, f32, 8, -1, 8) }, "asm: Transpose: rows is -1, but must be at least 0"},
			{func() { k.Transpose(f32, 8, f32, 8, 0, -1) }, "asm: Transpose: cols is -1, but must be at least 0"},
			{func() { k.Transpose(f32, 7, f32, 8, 8, 8) }, "asm: Transpose: dstStride is 7, but must be at least 8"},
			{func() { k.Transpose(f32, 8, f32, 7, 8, 8) }, "asm: Transpose: srcStride is 7, but must be at least 8"},
			{func() { k.Transpose(f32, most, f32, 8, 8, 8) },
				fmt.Sprintf("asm: Transpose: dst has 256 values, too few for 8 rows of 8 values with stride %d", most)},
			{func() { k.Transpose(f32, 8, f32, most/4+2, 8, 8) },
				fmt.Sprintf("asm: Transpose: src has 256 values, too few for 8 rows of 8 values with stride %d", most/4+2)},
			{func() { k.Transpose(f32, most, f32, most, most, most) },
				fmt.Sprintf("asm: Transpose: dst has 256 values, too few for %[1]d rows of %[1]d values with stride %[1]d", most)},
			{func() { k.TailStore(f32, 8, sums, -8, 8, 8) }, "asm: TailStore: stride is -8, but must be at least 8"},
			{func() { k.TailStore(f32, 8, sums, 8, 8, -8) }, "asm: TailStore: cols is -8, but must be at least 0"},
			{func() { k.Piecewise(f32, f32, make([][8]float32, 177), 13) },
				"asm: Piecewise: bits must be at most 12, got 13"},
			{func() { k.Piecewise(f32, f32, make([][8]float32, 178), 0) },
				"asm: Piecewise: rows has 178 values, but needs 177"},
			{func() { PiecewiseRows(64) }, "asm: PiecewiseRows: bits must be at most 12, got 64"},
			{func() { PiecewiseRow(1, 23) }, "asm: PiecewiseRow: bits must be at most 12, got 23"},
			{func() { k.AddRows(f64[:1], [][]float32{f32}, -1, f64) }, "asm: AddRows: from is -1, but must be at least 0"},
			{func() { k.AddRows(f64[:2], [][]float32{f32}, most, f64) },
				fmt.Sprintf("asm: AddRows: rows[0] has 256 values, but needs at least 2 from index %d on", most)},
			{func() { k.Extremes(f64[:17], bytes, 1, 2) }, "asm: Extremes: g has 17 values, but needs a multiple of 16"},
			{func() { k.Step(f64[:17], f32, f32, 1, 1, bytes, 1) },
				"asm: Step: g has 17 values, but needs a multiple of 16"},
			{func() { k.ArgGain(f64[:17], f32, f32, bytes, 1, 1, 1) },
				"asm: ArgGain: g has 17 values, but needs a multiple of 16"},
			{func() { k.Beyond(index, f64[:17], bytes, 1, 1, 0) },
				"asm: Beyond: g has 17 values, but needs a multiple of 16"},
			{func() { k.Prefetch([][]float32{f32}, 2, 1) }, "asm: Prefetch: to is 1, but must be at least 2"},
			{func() { k.Prefetch([][]float32{f32}, -2, 1) }, "asm: Prefetch: from is -2, but must be at least 0"},
			{func() { k.Prefetch([][]float32{f32}, -most, most) },
				fmt.Sprintf("asm: Prefetch: from is %d, but must be at least 0", -most)},
			{func() { k.Prefetch([][]float32{f32}, 0, most) },
				fmt.Sprintf("asm: Prefetch: rows[0] has 256 values, but needs at least %d from index 0 on", most)},
			{func() { k.Peak(f32[:PeakSums], 1, 1, -1) }, "asm: Peak: rounds is -1, but must be at least 0"},
			{func() { k.ArcCosine0(f32[:4], f32[:3]) }, "asm: ArcCosine0: dst has 4 values, but c has 3"},
		} {
			func() {
				defer func() {
					if got := recover(); got != c.want {
						t.Errorf("%v, expected the panic %q", got, c.want)
					}
				}()
				c.run()
			}()
		}
		if s32 != [256]float32{} || s64 != [256]float64{} {
			t.Error("something was written")
		}
	})
}
