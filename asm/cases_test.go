package asm

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"github.com/gramengine/gram/internal/musttest"
)

// eachKernel visits every function of a table, including functions such as "ChiSquare.Terms". It
// fails if a function has no case, or a case no function.
func eachKernel(t *testing.T, k *Kernels, visit func(name string, f reflect.Value, c kernelCase)) {
	t.Helper()
	cases := kernelCases()
	var walk func(prefix string, v reflect.Value)
	walk = func(prefix string, v reflect.Value) {
		for i := range v.NumField() {
			name, f := prefix+v.Type().Field(i).Name, v.Field(i)
			switch f.Kind() {
			case reflect.Struct:
				walk(name+".", f)
			case reflect.Func:
				c, ok := cases[name]
				if !ok {
					t.Errorf("the kernel %s has no case: its lengths aren't checked, nor what it reads", name)
					continue
				}
				delete(cases, name)
				visit(name, f, c)
			}
		}
	}
	walk("", reflect.ValueOf(k).Elem())
	for name := range cases {
		t.Errorf("a case of the kernel %s, which isn't in the table", name)
	}
}

// A memory allocates a number of bytes; nil uses Go's heap.
type memory func(bytes int) unsafe.Pointer

// place copies values to memory of exactly their size.
func place[T any](m memory, values []T) []T {
	if m == nil {
		return slices.Clip(append([]T{}, values...))
	}
	s := unsafe.Slice((*T)(m(len(values)*int(unsafe.Sizeof(*new(T))))), len(values))
	copy(s, values)
	return s
}

func placeEach[T any](m memory, values [][]T) [][]T {
	list := make([][]T, len(values))
	for i, v := range values {
		list[i] = place(m, v)
	}
	return place(m, list)
}

// A kernelCase makes arguments of size n for one kernel: every slice has the minimum length. For n
// = 1, a slice that is one value shorter fails a check of lengths, without reading its contents.
type kernelCase struct {
	args func(k *Kernels, r *rand.Rand, m memory, n int) []any
	free []int // arguments that may be shorter, because their length determines the size of the result
	duty []int // arguments whose length isn't checked for n > 1, because it depends on the contents of other arguments
}

// numbers draws n numbers from a range.
func numbers[T float32 | float64](r *rand.Rand, n int, from, to float64) []T {
	return musttest.MakeSlice(n, func(i int) T { return T(from + (to-from)*r.Float64()) })
}

func kernelCases() map[string]kernelCase {
	c32 := func(m memory, r *rand.Rand, n int) []float32 { return place(m, numbers[float32](r, n, 0, 2)) }
	y32 := func(m memory, r *rand.Rand, n int) []float32 { return place(m, numbers[float32](r, n, 0.1, 1)) }
	out32 := func(m memory, n int) []float32 { return place(m, make([]float32, n)) }
	out64 := func(m memory, n int) []float64 { return place(m, make([]float64, n)) }
	first := []int{0}

	// Maps: the destination, c, for some maps y, and then numbers.
	inputs := func(count int, by ...any) kernelCase {
		return kernelCase{func(k *Kernels, r *rand.Rand, m memory, n int) []any {
			args := []any{out32(m, n), c32(m, r, n)}
			if count > 1 {
				args = append(args, y32(m, r, n))
			}
			return append(args, by...)
		}, first, nil}
	}
	inputs64 := func(count int) kernelCase {
		return kernelCase{func(k *Kernels, r *rand.Rand, m memory, n int) []any {
			args := []any{out64(m, n)}
			for range count {
				v := numbers[float64](r, n, 0.1, 2)
				for j := range v {
					v[j] *= math.Exp(90 * r.NormFloat64())
				}
				args = append(args, place(m, v))
			}
			return args
		}, first, nil}
	}
	panel := kernelCase{panelArgs, nil, []int{1}}
	terms := kernelCase{func(k *Kernels, r *rand.Rand, m memory, n int) []any {
		return []any{out32(m, n), y32(m, r, n), float32(0.3)}
	}, first, nil}
	turned := func(make func(m memory, r *rand.Rand, n int) any) kernelCase {
		return kernelCase{func(k *Kernels, r *rand.Rand, m memory, n int) []any {
			if n == 0 {
				return []any{out32(m, 0), 0, make(m, r, 0), 0, 0, 0}
			}
			rows, cols := n, 1+r.IntN(n)
			dstStride, stride := rows+r.IntN(3), cols+r.IntN(3)
			dst := out32(m, (cols-1)*dstStride+rows)
			return []any{dst, dstStride, make(m, r, (rows-1)*stride+cols), stride, rows, cols}
		}, nil, nil}
	}
	halfLine := randomRows[float64](rand.New(rand.NewPCG(1, 1)), HalfLineRows+1)
	clear(halfLine[HalfLineRows][:]) // NaN would not equal itself

	// Kernels of the solver.
	scores := func(m memory, r *rand.Rand, n int) []float64 {
		return place(m, numbers[float64](r, (n+ScanBlock-1)/ScanBlock*ScanBlock, -1, 1))
	}
	mask := func(m memory, r *rand.Rand, n int) []byte {
		s := musttest.MakeSlice(n, func(i int) byte { return byte(r.IntN(4)) })
		return place(m, s)
	}
	return map[string]kernelCase{
		"PanelDot":            panel,
		"ChiSquare.Panel":     panel,
		"JensenShannon.Panel": panel,
		"ChiSquare.Terms":     terms,
		"JensenShannon.Terms": terms,
		"PanelDotLast": {func(k *Kernels, r *rand.Rand, m memory, n int) []any {
			index := place(m, make([]uint32, n*k.PanelWidth))
			return append([]any{index, 5, float32(0.4)}, panelArgs(k, r, m, n)...)
		}, nil, []int{4}},
		"PanelDotRows": {func(k *Kernels, r *rand.Rand, m memory, n int) []any {
			args := panelArgs(k, r, m, n)
			outStride, stride := k.PanelWidth+r.IntN(3), k.PanelWidth+r.IntN(3)
			out, sums := place(m, make([]float32, max((n-1)*outStride+k.PanelWidth, 0))),
				make([]int32, max((n-1)*stride+k.PanelWidth, 0))
			for i := range sums {
				sums[i] = int32(r.Uint32())
			}
			return append([]any{place(m, make([]uint32, n*k.PanelWidth)), 5, float32(0.4), out, outStride, place(m, sums),
				stride},
				args[1:]...)
		}, nil, []int{7}},
		"TailAdd": {func(k *Kernels, r *rand.Rand, m memory, n int) []any {
			columns := min(n, 5)
			doc, value, visits := postings(r, m, n, columns)
			return []any{place(m, make([]int32, columns*n)), n, doc, value, visits}
		}, []int{4}, first},
		"Finish": {func(k *Kernels, r *rand.Rand, m memory, n int) []any {
			return []any{place(m, make([]uint32, n)), place(m, numbers[float32](r, n, -1.1, 1.1)), float32(0.7)}
		}, []int{1}, nil},
		"Select": {func(k *Kernels, r *rand.Rand, m memory, n int) []any {
			lines, stride := min(n, 5), n+r.IntN(3)
			limits, places := numbers[float32](r, lines, -1, 1), numbers[float32](r, n, -1, 1)
			c := numbers[float32](r, max((lines-1)*stride+n, 0), -1, 3)
			return []any{place(m, make([]uint32, lines*n)), place(m, c), stride, place(m, limits), place(m, places)}
		}, []int{3, 4}, nil},
		"Min": {func(k *Kernels, r *rand.Rand, m memory, n int) []any {
			levels, lines, stride := 1+r.IntN(3), min(n, 5), n+r.IntN(3)
			c := numbers[float32](r, max((lines-1)*stride+n, 0), -1, 3)
			least := numbers[float32](r, levels*n, 0, 1)
			for i := range least {
				least[i] += float32(i / max(n, 1)) // make the levels ascend
			}
			return []any{place(m, least), levels, place(m, c), stride, lines, n, 1 + r.IntN(3)}
		}, nil, nil},
		"TailStore": turned(func(m memory, r *rand.Rand, n int) any {
			sums := musttest.MakeSlice(n, func(i int) int32 { return int32(r.Uint32()) })
			return place(m, sums)
		}),
		"Transpose": turned(func(m memory, r *rand.Rand, n int) any { return c32(m, r, n) }),

		"Add":        inputs(2),
		"Exp":        inputs(1),
		"Diffusion":  inputs(1, float32(2)),
		"NGD":        inputs(1, float32(math.Pi)),
		"NGDExp":     inputs(1, float32(2)),
		"Dot":        inputs(2, float32(1.5)),
		"Gaussian":   inputs(2, float32(1.5), float32(0.5)),
		"ArcCosine0": inputs(1),
		"ArcCosine1": inputs(2, float32(1.5)),
		"ArcCosine2": inputs(2, float32(1.5)),
		"Piecewise": {func(k *Kernels, r *rand.Rand, m memory, n int) []any {
			rows := randomRows[float32](r, PiecewiseRows(uint(n%4)))
			clear(rows[len(rows)-1][:])
			c := numbers[float32](r, n, -0.1, 2.1) // beyond the ends: of the last row
			return []any{out32(m, n), place(m, c), place(m, rows), uint(n % 4)}
		}, first, nil},
		"HalfLine": {func(k *Kernels, r *rand.Rand, m memory, n int) []any {
			v := numbers[float64](r, n, -0.1, 3)
			for j := range v {
				v[j] = math.Ldexp(v[j], r.IntN(400)-200) // beyond the ends: of the last row
			}
			return []any{out32(m, n), place(m, v), place(m, halfLine), 2.5}
		}, first, nil},
		"Tanh": {func(k *Kernels, r *rand.Rand, m memory, n int) []any {
			return []any{out32(m, n), place(m, numbers[float64](r, n, -3, 3))}
		}, first, nil},
		"Decay": {func(k *Kernels, r *rand.Rand, m memory, n int) []any {
			return []any{out32(m, n), place(m, numbers[float64](r, n, 0, 3))}
		}, first, nil},
		"Affine": {func(k *Kernels, r *rand.Rand, m memory, n int) []any {
			return []any{out64(m, n), c32(m, r, n), y32(m, r, n), 1.5, 0.5, 2.5}
		}, first, nil},
		"Squares": inputs64(3),
		"Narrow": {func(k *Kernels, r *rand.Rand, m memory, n int) []any {
			v := numbers[float64](r, n, -3, 3)
			for j := range v {
				v[j] = math.Ldexp(v[j], r.IntN(400)-200)
			}
			return []any{out32(m, n), place(m, v)}
		}, first, nil},
		"Widen": {func(k *Kernels, r *rand.Rand, m memory, n int) []any {
			return []any{out64(m, n), c32(m, r, n)}
		}, first, nil},
		"Add64": inputs64(2), "Sub64": inputs64(2), "Mul64": inputs64(2), "Div64": inputs64(2),

		"AddRows": {func(k *Kernels, r *rand.Rand, m memory, n int) []any {
			from := r.IntN(3)
			var rows [3][]float32
			for i := range rows {
				rows[i] = numbers[float32](r, from+n, -1, 1)
			}
			sum := place(m, numbers[float64](r, n, -1, 1))
			return []any{sum, placeEach(m, rows[:]), from, place(m, []float64{1, -2, 3})}
		}, []int{0, 1}, nil},
		"Extremes": {func(k *Kernels, r *rand.Rand, m memory, n int) []any {
			g := scores(m, r, n)
			return []any{g, mask(m, r, len(g)), byte(1), byte(2)}
		}, nil, nil},
		"Step": {func(k *Kernels, r *rand.Rand, m memory, n int) []any {
			g := scores(m, r, n)
			return []any{g, c32(m, r, len(g)), c32(m, r, len(g)), 0.5, -0.5, mask(m, r, len(g)), byte(1)}
		}, nil, nil},
		"ArgGain": {func(k *Kernels, r *rand.Rand, m memory, n int) []any {
			g := scores(m, r, n)
			return []any{g, c32(m, r, len(g)), c32(m, r, len(g)), mask(m, r, len(g)), byte(1), 0.7, 1.0}
		}, nil, nil},
		"Prefetch": {func(k *Kernels, r *rand.Rand, m memory, n int) []any {
			return []any{placeEach(m, [][]float32{make([]float32, n), make([]float32, n)}), n / 2, n}
		}, first, nil},
		"Gather": {func(k *Kernels, r *rand.Rand, m memory, n int) []any {
			index := musttest.MakeSlice(n, func(i int) int32 { return []int32{0, int32(n - 1), r.Int32N(int32(n))}[r.IntN(3)] })
			return []any{out32(m, n), c32(m, r, n), place(m, index)}
		}, []int{2}, []int{1}},
		"Beyond": {func(k *Kernels, r *rand.Rand, m memory, n int) []any {
			g := scores(m, r, n)
			return []any{place(m, make([]int32, len(g))), g, mask(m, r, len(g)), byte(1), 1.0, 0.1}
		}, nil, nil},
		"RowSums": {func(k *Kernels, r *rand.Rand, m memory, n int) []any {
			const base = 100
			count := min(n, 7)
			at := make([]int32, count)
			for s := range at {
				at[s] = int32(base + []int{0, count - 1, r.IntN(count)}[r.IntN(3)])
			}
			rows, coef := numbers[float32](r, n*count, -1, 1), numbers[float64](r, count, -1, 1)
			return []any{out64(m, n), place(m, rows), base, place(m, at), place(m, coef)}
		}, first, []int{1}},
		"Multiply":     {multiplyArgs[float32], nil, nil},
		"MultiplyWide": {multiplyArgs[float64], nil, nil},

		"Peak": {func(k *Kernels, r *rand.Rand, m memory, n int) []any {
			sum := numbers[float32](r, (n+PeakSums-1)/PeakSums*PeakSums, 0, 1)
			return []any{place(m, sum), float32(0.5), float32(1), 3}
		}, nil, nil},
		"Read": {func(k *Kernels, r *rand.Rand, m memory, n int) []any { return []any{c32(m, r, n)} }, first, nil},
	}
}

// multiplyArgs makes a tile of width n, and vectors.
func multiplyArgs[T float32 | float64](_ *Kernels, r *rand.Rand, m memory, n int) []any {
	if n == 0 {
		return []any{place(m, []float64{}), 0, place(m, []T{}), 0, 0, 0, place(m, []float64{}), 0, 0}
	}
	lines, vectors := 1+r.IntN(n), 1+r.IntN(min(n, 9))
	apart, stride, byStride := n+r.IntN(3), n+r.IntN(3), vectors+r.IntN(3)
	sum := place(m, numbers[float64](r, (vectors-1)*apart+n, -1, 1))
	by := place(m, numbers[float64](r, (lines-1)*byStride+vectors, -1, 1))
	c := place(m, numbers[T](r, (lines-1)*stride+n, 0, 2))
	return []any{sum, apart, c, stride, lines, n, by, byStride, vectors}
}

// panelArgs makes a block of n documents, with up to 9 values each, against a panel of some terms.
func panelArgs(k *Kernels, r *rand.Rand, m memory, n int) []any {
	terms := min(max(n, 1), 50)
	start, doc := []int64{2}, make([]uint8, n)
	offset, value := make([]uint16, 2), make([]float32, 2) // values of earlier documents
	for p, d := range r.Perm(n) {
		doc[p] = uint8(d)
		count := 1 + min(p/2, 8)
		for range count {
			term := []int{0, terms - 1, r.IntN(terms)}[r.IntN(3)]
			offset, value = append(offset, uint16(term*k.PanelWidth)), append(value, 0.1+r.Float32())
		}
		start = append(start, int64(len(value)))
	}
	out, panel := numbers[float32](r, n*k.PanelWidth, 0, 1), numbers[float32](r, terms*k.PanelWidth, 0.1, 1)
	return []any{place(m, out), place(m, panel), place(m, start), place(m, doc), place(m, offset), place(m, value)}
}

// postings makes posting lists of n documents, one list for each column.
func postings(r *rand.Rand, m memory, n, columns int) (doc []uint16, value []float32, visits []Visit) {
	for c := range columns {
		v := Visit{First: uint32(len(doc)), Scale: 0.1 + r.Float32(), Column: uint32(c)}
		for d := range n {
			if r.IntN(4) > 0 {
				doc = append(doc, uint16(d))
			}
		}
		if v.Count = uint32(len(doc)) - v.First; v.Count > 0 {
			visits = append(visits, v)
		}
	}
	doc = append(doc, make([]uint16, TailSlack)...)
	return place(m, doc), place(m, numbers[float32](r, len(doc), 1, 1e5)), place(m, visits)
}

// call calls a kernel and returns its results or its panic value.
func call(f reflect.Value, args []any) (results []any, panicked any) {
	defer func() { panicked = recover() }()
	in := make([]reflect.Value, len(args))
	for i, a := range args {
		in[i] = reflect.ValueOf(a)
	}
	for _, v := range f.Call(in) {
		results = append(results, v.Interface())
	}
	return results, nil
}

// rounded are the kernels whose last bits depend on the instruction set.
var rounded = []string{"PanelDot", "PanelDotLast", "PanelDotRows", "ChiSquare.Panel", "ChiSquare.Terms",
	"JensenShannon.Panel", "JensenShannon.Terms", "Exp", "Diffusion", "NGD", "NGDExp", "Gaussian", "ArcCosine0",
	"ArcCosine1", "ArcCosine2", "Piecewise", "HalfLine", "Tanh", "Decay", "Peak", "Prefetch", "Read"}

// FuzzKernels compares all other kernels with portable Go bit for bit, for every instruction set.
func FuzzKernels(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, uint8(seed*13))
	}
	f.Fuzz(func(t *testing.T, seed uint64, n uint8) {
		want := map[string][]any{}
		for _, k := range tables {
			eachKernel(t, k, func(name string, f reflect.Value, c kernelCase) {
				if slices.Contains(rounded, name) {
					return
				}
				args := c.args(k, rand.New(rand.NewPCG(seed, 1)), nil, int(n))
				results, panicked := call(f, args)
				got := append(args, results...)
				if want[name] == nil {
					want[name] = got
				}
				if panicked != nil || !reflect.DeepEqual(got, want[name]) {
					t.Errorf("isa=%s, %s, n=%d: %v, expected %v, %v", k.ISA, name, n, got, want[name], panicked)
				}
			})
		}
	})
}
