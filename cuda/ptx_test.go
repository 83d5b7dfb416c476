//go:build cuda && cgo && linux

package cuda

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// interpreting opens a device on which a PTX interpreter, which stops at any error, replaces the
// named kernels of the fake driver, or all kernels if no names are given. terms is the number of
// terms that fit into its shared memory.
func interpreting(t *testing.T, terms int, text string, names ...string) *Device {
	t.Helper()
	if onRealDevice() {
		t.Skip("the interpreter needs the memory of the fake device")
	}
	t.Setenv("FAKE_SHARED", fmt.Sprint((1+terms)*lineBytes))
	d := open(t, Options{})
	m, wrong := parsePTX(text)
	d.interpret = func(name string, blocks [2]int, threads, shared int, parameters []uint64) (bool, error) {
		if len(names) > 0 && !slices.Contains(names, name) {
			return false, nil
		}
		if err := errors.Join(wrong, cu.Synchronize()); err != nil { // earlier launches are complete
			return true, err
		}
		memory, err := allocated()
		if err != nil {
			return true, err
		}
		g := &ptxGrid{Blocks: blocks, Threads: threads, Dynamic: shared, Memory: memory}
		return true, m.Run(name, g, parameters...)
	}
	return d
}

// allocated returns the allocated memory of the fake device.
func allocated() (all [][]byte, err error) {
	n, err := cu.Device(0).Attribute(liveDevice)
	for a := allocations; err == nil && a < allocations+3*cu.DeviceAttribute(n); a += 3 {
		var low, high, bytes int
		low, err = cu.Device(0).Attribute(a)
		high, _ = cu.Device(0).Attribute(a + 1)
		bytes, _ = cu.Device(0).Attribute(a + 2)
		at := uint64(uint32(high))<<32 | uint64(uint32(low))
		all = append(all, unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), bytes))
	}
	return all, err
}

// simulate computes a kernel of documents with PTX text, and returns the largest error in units of
// its tolerance. Terms in at least one of share documents are dense; 0 means none.
func simulate(
	t *testing.T, text string, x *sparse.Embedded, k kernel.Kernel, share int64,
) (worst float64, err error) {
	d := interpreting(t, 17, text)
	d.denseShare = share
	err = within(t, d, x, func(cols *columns) error {
		if l := cols.layout; (l.dense > 0) != (share > 0) || l.chunks() < 2 || l.head == x.Cols {
			t.Fatalf("%d terms in the dense end and a head of %d in %d chunks, expected several, and a tail",
				l.dense, l.head, l.chunks())
		}
		ref := cosines(x)
		all, err := values(cols, whole(cols))
		for at, v := range all {
			i, j := at/x.Rows(), at%x.Rows()
			c, a, b := ref.C(i, j), x.Norms[i], x.Norms[j]
			e := math.Abs(float64(v)-k.Eval(c, a, b)) / kernel.Tolerance(k, c, a, b)
			if c == 0 && math.Abs(float64(v)-k.Eval(c, a, b)) <= k.Error(0, a, b) {
				e = 0
			}
			if worst = max(worst, e); e != e {
				worst = math.Inf(1)
			}
		}
		return err
	})
	return worst, err
}

// notices checks that PTX computes c, and that faults inserted in the PTX are noticed.
func notices(t *testing.T, x, few *sparse.Embedded, share int64, faults map[string]string) {
	c := kernel.MustParse("c")
	worst, err := simulate(t, ptx, x, c, share)
	t.Logf("c: %.2g of the tolerance", worst)
	if err != nil || !(worst <= 1) {
		t.Fatalf("c: %v of the tolerance, error %v", worst, err)
	}
	for name, text := range faults {
		if worst, err := simulate(t, text, few, c, share); err == nil && worst <= 1 {
			t.Errorf("%s: not noticed, %v of the tolerance", name, worst)
		} else {
			t.Logf("%s: %.2g of the tolerance, error %v", name, worst, err)
		}
	}
}

// planted replaces the first n (-1: all) occurrences of old in a kernel, or in all of the PTX for
// "".
func planted(t *testing.T, kernel, old, by string, n int) string {
	t.Helper()
	begin, end := 0, len(ptx)
	if kernel != "" {
		begin = strings.Index(ptx, ".entry "+kernel+"(")
		end = begin + strings.Index(ptx[begin:], "\n}\n")
	}
	re, done := regexp.MustCompile(old), 0
	text := re.ReplaceAllStringFunc(ptx[begin:end], func(s string) string {
		if done++; n > 0 && done > n {
			return s
		}
		return re.ReplaceAllString(s, by)
	})
	if done == 0 {
		t.Fatalf("the PTX has nothing like %s", old)
	}
	return ptx[:begin] + text + ptx[end:]
}

// The embedded PTX computes c, also of histograms, in an interpreter that stops at any error.
// Faults inserted in it are noticed.
func TestPTX(t *testing.T) {
	noLeaks(t)
	for _, name := range []string{"tf-l1-chi2", "tf-l1-js"} {
		k := kernel.MustParse("c:embed=" + name)
		worst, err := simulate(t, ptx, transformed(t, k.Embedding(), zipf(130, 300, 2, 8)), k, 0)
		t.Logf("%s: %.2g of the tolerance", k, worst)
		if err != nil || !(worst <= 1) {
			t.Errorf("%s: %v of the tolerance, error %v", k, worst, err)
		}
	}
	notices(t, embedded(t, zipf(135, 500, 7, 8)), embedded(t, zipf(130, 300, 2, 8)), 0, map[string]string{
		"an unknown instruction": planted(t, "", `fma\.rn\.f32`, "fmb.rn.f32", 1),
		"a missing barrier":      planted(t, "", `bar\.sync 	0;`, "", 1),
		"no barriers":            planted(t, "", `bar\.sync 	0;`, "", -1),
		"another rounding":       planted(t, "", `cvt\.rni\.s64\.f32`, "cvt.rn.s64.f32", -1),
		"a product less":         planted(t, "", `(add\.s64 %rd\d+), product,`, "$1, 0,", -1),
		"another's word":         planted(t, "", `, 31, -1;`, ", 15, -1;", 1),
		"half a sum":             planted(t, "", `atom\.shared\.add\.u32`, "atom.shared.or.b32", -1),
		"no bits":                planted(t, "", `atom\.global\.or\.b32`, "atom.global.and.b32", 1),
		"a wild address":         planted(t, "", `(mul\.wide\.u32 	%rd\d+, %r\d+), 4;`, "$1, 4096;", -1),
		"an odd address":         planted(t, "", `\+8\];`, "+9];", -1),
		"a lost brace":           planted(t, "", `\n}`, "\n", 1),
	})
}

// The PTX handles dense terms; the interpreter computes matrix products by the PTX specification.
// Faults inserted in it are noticed.
func TestPTXTensor(t *testing.T) {
	noLeaks(t)
	const kernel = "panelTensor"
	notices(t, embedded(t, zipf(135, 400, 60, 8)), embedded(t, zipf(66, 400, 60, 8)), 6, map[string]string{
		"another type":      planted(t, kernel, `s32\.s8\.s8\.s32`, "s32.u8.s8.s32", 1),
		"lines exchanged":   planted(t, kernel, `(mma\S+ \{[^}]*\}, \{%r\d+, )(%r\d+), (%r\d+),`, "$1$3, $2,", -1),
		"halves exchanged":  planted(t, kernel, `(mma\S+ \{[^}]*\}, \{[^}]*\}, \{)(%r\d+), (%r\d+)\}`, "$1$3, $2}", 1),
		"results exchanged": planted(t, kernel, `(mma\S+ \{)(%r\d+), (%r\d+),`, "$1$3, $2,", 1),
		"a missing barrier": planted(t, kernel, `bar\.sync 	0;`, "", 1),
		"places exchanged":  planted(t, kernel, `(ldmatrix\S+ \{)(%r\d+), (%r\d+),`, "$1$3, $2,", 1),
		"a product for one": planted(t, kernel, `(mma\S+ )`, "@%p1 $1", 1),
		"another place":     planted(t, kernel, `(mov\.b32 \t%r\d+), 256;`, "$1, 64;", -1),
	})
}

// A wide tail sum has an error of half a unit of 2^-30, because the sum of the words' products is
// exact. A narrow sum has this error for each match. (i, j) and (j, i) have the same bits.
func TestPTXTail(t *testing.T) {
	noLeaks(t)
	x := embedded(t, zipf(40, 60, 12, 5))
	n := x.Rows()
	d := interpreting(t, 9, ptx)
	d.tailShare = -1 // all terms are in the tail
	cols := load(t, d, x)
	var sums []float32
	run := d.interpret
	d.interpret = func(name string, blocks [2]int, threads, shared int, parameters []uint64) (bool, error) {
		done, err := run(name, blocks, threads, shared, parameters)
		if name == "tailAdd" && err == nil {
			var tile [tileFields]uint64
			err = errors.Join(fetch(cu.DevicePtr(parameters[2]), tile[:]), fetch(cu.DevicePtr(tile[0]), sums))
		}
		return done, err
	}
	word := func(v float32) int64 { return int64(int32(cols.layout.encode(v))) }
	for _, longs := range []uint32{0, 0x49249249, math.MaxUint32} {
		const at = 8 * 14 // offset of Side::longs
		err := d.withDevice(func() error {
			p, err := upload(&cols.pool, []uint32{longs, longs, 0, 0})
			return errors.Join(err, write(memory{addr: cu.DevicePtr(cols.columnSet.addr) + at}, []uint64{p}))
		})
		musttest.NoError(t, err)
		sums = make([]float32, n*padded(n))
		gather(t, cols, whole(cols), n)
		sum := func(i, j int) int32 { return int32(math.Float32bits(sums[i*padded(n)+j])) }
		apart := 0
		for i := range n {
			row := map[uint32]int64{}
			terms, values := x.Row(i)
			for k, term := range terms {
				row[term] = word(values[k])
			}
			for j := range n {
				var want, matches int64 // in units of 2^-62
				terms, values := x.Row(j)
				for k, term := range terms {
					if a, ok := row[term]; ok {
						want += a * word(values[k])
						matches++
					}
				}
				most := matches
				if longs>>(i%32)&longs>>(j%32)&1 == 1 {
					most = 1
				}
				got := int64(sum(i, j)) << 32
				if e := max(got-want, want-got); !(e <= most<<31) || sum(i, j) != sum(j, i) {
					t.Fatalf("long %#x, (%d, %d): %d units of 2^-62 from the sum of %d products; and %d, %d", longs,
						i, j, e, matches, sum(i, j), sum(j, i))
				} else if e > 1<<31 {
					apart++
				}
			}
		}
		if (apart > 0) != (longs != math.MaxUint32) {
			t.Errorf("long %#x: %d sums more than half a unit off", longs, apart)
		}
	}
}

// ops returns a program of operations, each followed by its argument if it has one.
func ops(list ...any) (code []device.Instruction) {
	for _, v := range list {
		if n, ok := v.(int); ok {
			code[len(code)-1].Arg = n
		} else {
			code = append(code, device.Instruction{Op: v.(device.Op)})
		}
	}
	return code
}

// Programs whose values have ties and negative numbers, are mostly NaN, or have zeros of both
// signs.
var odd = []*device.Program{
	{Instructions: ops(device.OpC, device.OpNeg)},
	{Consts: []float64{0.4}, Instructions: ops(device.OpConst, 0, device.OpC, device.OpSub, device.OpSqrt)},
	{Consts: []float64{0}, Attributes: []func(float64) float64{func(x float64) float64 { return x - 1.4 }},
		Instructions: ops(device.OpConst, 0, device.OpY, 0, device.OpMul)},
}

// The PTX reduces rows correctly.
func TestPTXReduce(t *testing.T) {
	noLeaks(t)
	const n = 150
	cols := load(t, interpreting(t, 17, ptx, "least", "multiplyRows", "digest"), embedded(t, zipf(n, 200, 6, 4)))
	holdReduced(t, cols, &device.Request{RowIndices: []int{0, 140}, Lo: 128, Hi: n})
	for _, p := range odd {
		holdReduced(t, cols, &device.Request{Program: p, RowIndices: run.Range(0, 9), Hi: n})
	}
	holdHalf(t, cols, odd[0])
}

// Programs in the PTX agree with Program.Eval of package device.
func TestPTXPrograms(t *testing.T) {
	noLeaks(t)
	const n = 20
	x := embedded(t, zipf(n, 80, 6, 8))
	cols := load(t, interpreting(t, 9, ptx), x)
	c := gather(t, cols, whole(cols), n)
	norms := []func(float64) float64{
		func(x float64) float64 { return 3 * x },
		func(x float64) float64 { return 0.25 * x },
	}
	for name, p := range map[string]*device.Program{
		"table": diffusion,
		"exponentials": {Attributes: norms, Consts: []float64{-700, 0.3, 700}, Instructions: ops(
			device.OpC, device.OpConst, 0, device.OpMul, device.OpExp,
			device.OpC, device.OpExpm1, device.OpAdd,
			device.OpC, device.OpConst, 1, device.OpMul, device.OpExpm1, device.OpMul,
			device.OpX, 0, device.OpY, 1, device.OpMul, device.OpAdd,
			device.OpC, device.OpConst, 2, device.OpMul, device.OpExp, device.OpLog1p, device.OpAdd,
		)},
		"powers": {Consts: []float64{0.37, 9, 2.5}, Instructions: ops(
			device.OpC, device.OpPow, 0,
			device.OpC, device.OpDeficit, 1, device.OpAdd,
			device.OpC, device.OpIntPow, 13, device.OpAdd,
			device.OpC, device.OpSqrt, device.OpC, device.OpDeficit, 2, device.OpDiv, device.OpAdd,
		)},
		"locals": {Consts: []float64{1, 0.5}, LocalCount: 2, Instructions: ops(
			device.OpC, device.OpNeg, device.OpStore, 0,
			device.OpC, device.OpConst, 0, device.OpSub, device.OpTanh, device.OpStore, 1,
			device.OpLocal, 1, device.OpLocal, 0, device.OpConst, 1, device.OpSelect,
			device.OpLocal, 1, device.OpSub, device.OpClamp,
		)},
	} {
		holdProgram(t, name, cols, c, p, 0)
	}
}
