//go:build cuda && cgo && linux

package cuda

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/cuda/internal/ptxsim"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

// simulated is a request computed by the PTX itself.
type simulated struct {
	m      *ptxsim.Module
	memory ptxsim.Grid // its buffers
	tile   []float32
	width  int
	sides  uint64
	head   uint64
	layout *layout

	denseShare, tailShare int64
	wide                  uint64
}

// inMemory lays out documents as Load does.
func (s *simulated) inMemory(t *testing.T, x *sparse.Embedded, terms int) {
	t.Helper()
	rank := sparse.Ranks(sparse.Order(x.DocumentFrequency()))
	byRank, err := sparse.ByRank(t.Context(), &x.CSR, rank, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.layout = newLayout(rank, byRank, terms, x.Embedder.Pairing, s.denseShare, cmp.Or(s.tailShare, 128))
	p, err := s.layout.split(t.Context(), x, byRank, true)
	if err != nil {
		t.Fatal(err)
	}
	g := &s.memory
	dense, denseScale := s.dense(p)
	s.sides = ptxsim.Buffer(g, []uint64{
		ptxsim.Buffer(g, p.head), ptxsim.Buffer(g, p.entry), ptxsim.Buffer(g, p.tail), ptxsim.Buffer(g, p.tailEntry),
		ptxsim.Buffer(g, p.list), ptxsim.Buffer(g, p.posting), ptxsim.Buffer(g, p.cut),
		ptxsim.Buffer(g, p.exact), ptxsim.Buffer(g, p.exactTerm), ptxsim.Buffer(g, p.exactValue),
		ptxsim.Buffer(g, dense), ptxsim.Buffer(g, denseScale), uint64(p.cutTerms()), uint64(p.cuts), s.wide,
	})
	s.head = ptxsim.Buffer(g, []uint64{
		ptxsim.Buffer(g, s.layout.terms), uint64(s.layout.chunks()),
	})
}

// dense lays out the dense end.
func (s *simulated) dense(p *split) (out []quad, scale []float32) {
	quads, n := s.layout.quads(), len(p.exact)-1
	out, scale = make([]quad, n*quads), make([]float32, n+tensorColumns)
	for i := range n {
		lo, hi := p.exact[i], p.exact[i+1]
		scale[i] = s.layout.fillDense(out[i*quads:][:quads], p.exactTerm[lo:hi], p.exactValue[lo:hi])
	}
	return out, scale
}

// program lays out a program for all documents as rows and columns.
func (s *simulated) program(x *sparse.Embedded, p *device.Program) uint64 {
	if p == nil {
		return 0
	}
	g := &s.memory
	var code []uint32
	for _, c := range p.Code {
		code = append(code, uint32(c.Op)|uint32(c.N)<<8)
	}
	var tables []uint64
	for _, t := range p.Tables {
		isLog := uint64(0)
		if t.Log {
			isLog = 1
		}
		tables = append(tables, ptxsim.Buffer(g, t.Rows), uint64(t.Bits), isLog)
	}
	var attributes []float64
	for _, f := range p.Norms {
		for _, norm := range x.Norms {
			attributes = append(attributes, f(norm))
		}
	}
	a, n := ptxsim.Buffer(g, attributes), uint64(x.Rows())
	fields := tableFields(p, ptxsim.Buffer(g, tables), a, int(n))
	fields = append([]uint64{ptxsim.Buffer(g, code), ptxsim.Buffer(g, p.Consts)}, fields...)
	return ptxsim.Buffer(g, withRows(fields, a, int(n)))
}

// newTile lays out a tile for all pairs.
func (s *simulated) newTile(x *sparse.Embedded) uint64 {
	n := x.Rows()
	s.width = padded(n)
	s.tile = make([]float32, n*s.width)
	for i := range s.tile {
		s.tile[i] = float32(math.NaN())
	}
	g := &s.memory
	docs := make([]uint32, n)
	for i := range docs {
		docs[i] = uint32(i)
	}
	return ptxsim.Buffer(g, []uint64{
		ptxsim.Buffer(g, s.tile), ptxsim.Buffer(g, docs), uint64(s.width), uint64(n), 0, uint64(n), 0,
		ptxsim.Buffer(g, make([]uint32, n*s.width/32)),
	})
}

// run computes all pairs.
func (s *simulated) run(x *sparse.Embedded, p *device.Program) error {
	n, g := x.Rows(), &s.memory
	tile, program := s.newTile(x), s.program(x, p)
	launch := func(name string, blocks, rows, threads, shared int, arguments ...any) error {
		g.Blocks, g.Threads = [2]uint32{uint32(blocks), uint32(rows)}, [2]uint32{uint32(threads), 1}
		g.Dynamic = shared
		return s.m.Run(name, g, arguments...)
	}
	per := func(of int) int { return (n + of - 1) / of }
	names, pairing := pairingKernels[x.Embedder.Pairing], int32(x.Embedder.Pairing)
	if err := launch(names[0], n, per(tailColumns), tailThreads, 0, s.sides, s.sides, tile); err != nil {
		return err
	}
	if quads := s.layout.quads(); quads > 0 {
		err := launch("panelTensor", per(tensorColumns), per(tensorRows), tensorThreads, 0,
			s.sides, s.sides, tile, int32(quads))
		if err != nil {
			return err
		}
	}
	const height = 23
	shared := (1 + int(s.layout.terms[0])) * lineBytes
	err := launch(names[1], per(panelWidth), per(height), panelThreads, shared,
		s.sides, s.sides, s.head, tile, program, int32(height), int32(1))
	if err != nil {
		return err
	}
	blocks := (n*s.width/32 + closeThreads - 1) / closeThreads
	return launch("closePairs", blocks, 1, closeThreads, 0, s.sides, s.sides, tile, program, pairing)
}

// simulate computes a kernel of documents by PTX text, with a dense end of the terms that one
// document in share has, 0 for none, and returns the greatest error in units of its tolerance.
func simulate(
	t *testing.T, text string, x *sparse.Embedded, k engine.Kernel, p *device.Program, share int64,
) (worst float64, instructions int64, err error) {
	m, err := ptxsim.Parse(text)
	if err != nil {
		return 0, 0, err
	}
	s := &simulated{m: m, denseShare: share}
	s.inMemory(t, x, 17)
	if (s.layout.dense > 0) != (share > 0) || s.layout.chunks() < 2 || s.layout.head == x.Cols {
		t.Fatalf("%d terms in the dense end and a head of %d in %d chunks, expected several, and a tail",
			s.layout.dense, s.layout.head, s.layout.chunks())
	}
	if err := s.run(x, p); err != nil {
		return 0, s.memory.Instructions, err
	}
	n, ref := x.Rows(), cosines(x)
	for i := range n {
		for j := range n {
			c, a, b := ref.C(i, j), x.Norms[i], x.Norms[j]
			got, want := float64(s.tile[i*s.width+j]), k.Eval(c, a, b)
			e := math.Abs(got-want) / engine.Tolerance(k, c, a, b)
			if c == 0 && math.Abs(got-want) <= k.Error(0, a, b) {
				e = 0
			}
			if worst = max(worst, e); e != e {
				worst = math.Inf(1)
			}
		}
	}
	return worst, s.memory.Instructions, nil
}

// The PTX that ships computes c and a program of every instruction, in an interpreter that stops at
// whatever is wrong; faults that are planted in it are noticed.
func TestPTX(t *testing.T) {
	readSources()
	x := embedded(t, zipf(135, 500, 7, 8))
	c := engine.MustParseKernel("c")
	worst, instructions, err := simulate(t, ptx, x, c, nil, 0)
	t.Logf("c: %.2g of the tolerance, %d instructions", worst, instructions)
	if err != nil || !(worst <= 1) {
		t.Fatalf("c: %v of the tolerance, error %v", worst, err)
	}
	few := embedded(t, zipf(130, 300, 2, 8))
	for _, name := range []string{"tf-l1-chi2", "tf-l1-js"} {
		k := engine.MustParseKernel("c:embed=" + name)
		m := zipf(130, 300, 2, 8)
		x, err := k.Embedding().Fit(m).Transform(m)
		if err != nil {
			t.Fatal(err)
		}
		worst, _, err := simulate(t, ptx, x, k, nil, 0)
		t.Logf("%s: %.2g of the tolerance", k, worst)
		if err != nil || !(worst <= 1) {
			t.Errorf("%s: %v of the tolerance, error %v", k, worst, err)
		}
	}
	swap := func(old, by string, n int) string {
		if !strings.Contains(ptx, old) {
			t.Fatalf("the PTX has no %q", old)
		}
		return strings.Replace(ptx, old, by, n)
	}
	wide := regexp.MustCompile(`(mul\.wide\.u32 	%rd\d+, %r\d+), 4;`)
	product := regexp.MustCompile(`(add\.s64 %rd\d+), product,`)
	for name, text := range map[string]string{
		"an unknown instruction": swap("fma.rn.f32", "fmb.rn.f32", 1),
		"a missing barrier":      swap("bar.sync 	0;", "", 1),
		"no barriers":            swap("bar.sync 	0;", "", -1),
		"another rounding":       swap("cvt.rni.s64.f32", "cvt.rn.s64.f32", -1),
		"a product less":         product.ReplaceAllString(ptx, "$1, 0,"),
		"another's word":         swap(", 31, -1;", ", 15, -1;", 1),
		"half a sum":             swap("atom.shared.add.u32", "atom.shared.or.b32", -1),
		"no bits":                swap("atom.global.or.b32", "atom.global.and.b32", 1),
		"a wild address":         wide.ReplaceAllString(ptx, "$1, 4096;"),
		"an odd address":         strings.ReplaceAll(ptx, "+8];", "+9];"),
		"a lost brace":           swap("\n}", "\n", 1),
	} {
		if worst, _, err := simulate(t, text, few, c, nil, 0); err == nil && worst <= 1 {
			t.Errorf("%s: not noticed, %v of the tolerance", name, worst)
		} else {
			t.Logf("%s: %.2g of the tolerance, error %v", name, worst, err)
		}
	}
}

// Sums of the tail: of a wide one half a unit of 2^-30 is lost, for the sum of the words' products is
// exact, and of a narrow one half a unit for each match; (i, j) has the bits of (j, i).
func TestPTXTail(t *testing.T) {
	x := embedded(t, zipf(40, 60, 12, 5))
	m, err := ptxsim.Parse(ptx)
	if err != nil {
		t.Fatal(err)
	}
	for wide := range uint64(2) {
		s := &simulated{m: m, tailShare: -1, wide: wide}
		s.inMemory(t, x, 9)
		tile := s.newTile(x)
		s.memory.Blocks, s.memory.Threads = [2]uint32{uint32(x.Rows()), 1}, [2]uint32{tailThreads, 1}
		if err := s.m.Run("tailAdd", &s.memory, s.sides, s.sides, tile); err != nil {
			t.Fatal(err)
		}
		sum := func(i, j int) int32 { return int32(math.Float32bits(s.tile[i*s.width+j])) }
		apart := 0
		for i := range x.Rows() {
			row := map[uint32]int64{}
			terms, values := x.Row(i)
			for k, term := range terms {
				row[term] = int64(int32(s.layout.word(values[k])))
			}
			for j := range x.Rows() {
				var want, matches int64 // in units of 2^-62
				terms, values := x.Row(j)
				for k, term := range terms {
					if a, ok := row[term]; ok {
						want += a * int64(int32(s.layout.word(values[k])))
						matches++
					}
				}
				most := matches
				if wide == 1 {
					most = 1
				}
				got := int64(sum(i, j)) << 32
				if e := max(got-want, want-got); !(e <= most<<31) || sum(i, j) != sum(j, i) {
					t.Fatalf("wide %d, (%d, %d): %d units of 2^-62 from the sum of %d products; and %d, %d", wide,
						i, j, e, matches, sum(i, j), sum(j, i))
				} else if e > 1<<31 {
					apart++
				}
			}
		}
		if (apart > 0) != (wide == 0) {
			t.Errorf("wide %d: %d sums more than half a unit off", wide, apart)
		}
	}
}

// Reductions in the PTX, of a tile with ties, negative numbers and what is no number.
func TestPTXReduce(t *testing.T) {
	m, err := ptxsim.Parse(ptx)
	if err != nil {
		t.Fatal(err)
	}
	const rows, cols, k, vectors = 2, 300, 5, 2
	tile, by := make([]float32, rows*padded(cols)), slices.Repeat([]float64{0.5}, vectors*cols)
	for i := range tile {
		tile[i] = float32(i*37%101-50) / 8
	}
	tile[3] = float32(math.NaN())
	column, value := make([]int32, rows*k), make([]float32, rows*k)
	digest, sum := make([]uint64, rows), make([]float64, rows*vectors)
	g := ptxsim.Grid{Threads: [2]uint32{reduceThreads, 1}}
	at := ptxsim.Buffer(&g, []uint64{
		ptxsim.Buffer(&g, tile), ptxsim.Buffer(&g, []uint32{4, 140}), uint64(padded(cols)), rows, 128, cols, 0, 0,
	})
	run := func(name string, parts uint32, arguments ...any) {
		g.Blocks = [2]uint32{rows, parts}
		if err := m.Run(name, &g, append([]any{at}, arguments...)...); err != nil {
			t.Fatal(err)
		}
	}
	run("least", 1, ptxsim.Buffer(&g, column), ptxsim.Buffer(&g, value), int32(k))
	run("digest", 1, ptxsim.Buffer(&g, digest), int32(1))
	run("multiplyRows", vectors, ptxsim.Buffer(&g, by), ptxsim.Buffer(&g, sum), int32(vectors))
	for r := range rows {
		row := tile[r*padded(cols):][:cols]
		order := sequence(cols)
		slices.SortStableFunc(order, func(a, b int) int { // what is no number last
			return cmp.Compare(keyOf(row[a]), keyOf(row[b]))
		})
		var wantDigest uint64
		var wantSum float64
		for j, v := range row {
			wantSum += float64(v) / 2 // exact
			if j >= []int{0, 140 - 128}[r] {
				wantDigest += device.Mix([]int{4, 140}[r], 128+j, v)
			}
		}
		for rank := range k {
			if c := order[rank]; column[r*k+rank] != int32(128+c) || value[r*k+rank] != row[c] {
				t.Errorf("row %d, place %d: found %v in column %d, expected %v in column %d",
					r, rank, value[r*k+rank], column[r*k+rank], row[c], 128+c)
			}
		}
		if got := sum[r*vectors+1]; digest[r] != wantDigest || got != wantSum && r > 0 || r == 0 && got == got {
			t.Errorf("row %d: a digest of %x and a sum of %v, expected %x and %v", r, digest[r], got, wantDigest, wantSum)
		}
	}
}

// keyOf has what is no number behind all that is.
func keyOf(v float32) float64 {
	if v != v {
		return math.Inf(1)
	}
	return float64(v)
}

// The dense end in the PTX, whose products of matrices the interpreter takes by the book; faults
// that are planted in it are noticed.
func TestPTXTensor(t *testing.T) {
	readSources()
	x := embedded(t, zipf(135, 400, 60, 8))
	c := engine.MustParseKernel("c")
	const share = 6
	worst, instructions, err := simulate(t, ptx, x, c, nil, share)
	t.Logf("c: %.2g of the tolerance, %d instructions", worst, instructions)
	if err != nil || !(worst <= 1) {
		t.Fatalf("c: %v of the tolerance, error %v", worst, err)
	}
	few := embedded(t, zipf(66, 400, 60, 8))
	begin := strings.Index(ptx, ".entry panelTensor(")
	if begin < 0 {
		t.Fatal("the PTX has no panelTensor")
	}
	kernel, rest, _ := strings.Cut(ptx[begin:], "\n}\n")
	replace := func(old, by string, n int) string {
		re := regexp.MustCompile(old)
		if !re.MatchString(kernel) {
			t.Fatalf("the kernel has nothing like %s", old)
		}
		done := 0
		return ptx[:begin] + re.ReplaceAllStringFunc(kernel, func(s string) string {
			if done++; n > 0 && done > n {
				return s
			}
			return re.ReplaceAllString(s, by)
		}) + "\n}\n" + rest
	}
	for name, text := range map[string]string{
		"another type":      replace(`s32\.s8\.s8\.s32`, "s32.u8.s8.s32", 1),
		"lines exchanged":   replace(`(mma\S+ \{[^}]*\}, \{%r\d+, )(%r\d+), (%r\d+),`, "$1$3, $2,", -1),
		"halves exchanged":  replace(`(mma\S+ \{[^}]*\}, \{[^}]*\}, \{)(%r\d+), (%r\d+)\}`, "$1$3, $2}", 1),
		"results exchanged": replace(`(mma\S+ \{)(%r\d+), (%r\d+),`, "$1$3, $2,", 1),
		"a missing barrier": replace(`bar\.sync 	0;`, "", 1),
		"a product for one": replace(`(mma\S+ )`, "@%p1 $1", 1),
		"another place":     replace(`0d4070000000000000`, "0d4040000000000000", -1),
	} {
		if worst, _, err := simulate(t, text, few, c, nil, share); err == nil && worst <= 1 {
			t.Errorf("%s: not noticed, %v of the tolerance", name, worst)
		} else {
			t.Logf("%s: %.2g of the tolerance, error %v", name, worst, err)
		}
	}
}

// Programs in the PTX, against what package device says they compute.
func TestPTXPrograms(t *testing.T) {
	x := embedded(t, zipf(20, 80, 6, 8))
	m, err := ptxsim.Parse(ptx)
	if err != nil {
		t.Fatal(err)
	}
	norms := []func(float64) float64{
		func(x float64) float64 { return 3 * x },
		func(x float64) float64 { return 0.25 * x },
	}
	ops := func(list ...any) (code []device.Code) {
		for i := 0; i < len(list); i++ {
			c := device.Code{Op: list[i].(device.Op)}
			if i+1 < len(list) {
				if n, ok := list[i+1].(int); ok {
					c.N = n
					i++
				}
			}
			code = append(code, c)
		}
		return code
	}
	for name, p := range map[string]*device.Program{
		"exponentials": {Norms: norms, Consts: []float64{-700, 0.3, 700}, Code: ops(
			device.OpC, device.OpConst, 0, device.OpMul, device.OpExp,
			device.OpC, device.OpExpm1, device.OpAdd,
			device.OpC, device.OpConst, 1, device.OpMul, device.OpExpm1, device.OpMul,
			device.OpX, 0, device.OpY, 1, device.OpMul, device.OpAdd,
			device.OpC, device.OpConst, 2, device.OpMul, device.OpExp, device.OpLog1p, device.OpAdd,
		)},
		"powers": {Consts: []float64{0.37, 9, 2.5}, Code: ops(
			device.OpC, device.OpPow, 0,
			device.OpC, device.OpDeficit, 1, device.OpAdd,
			device.OpC, device.OpPower, 13, device.OpAdd,
			device.OpC, device.OpSqrt, device.OpC, device.OpDeficit, 2, device.OpDiv, device.OpAdd,
		)},
		"locals": {Consts: []float64{1, 0.5}, Locals: 2, Code: ops(
			device.OpC, device.OpNeg, device.OpStore, 0,
			device.OpC, device.OpConst, 0, device.OpSub, device.OpTanh, device.OpStore, 1,
			device.OpLocal, 1, device.OpLocal, 0, device.OpConst, 1, device.OpSelect,
			device.OpLocal, 1, device.OpSub, device.OpClamp,
		)},
	} {
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		s := &simulated{m: m}
		s.inMemory(t, x, 9)
		if err := s.run(x, nil); err != nil {
			t.Fatal(err)
		}
		c := append([]float32(nil), s.tile...)
		if err := s.run(x, p); err != nil {
			t.Fatal(err)
		}
		for i := range x.Rows() {
			for j := range x.Rows() {
				at := i*s.width + j
				want := p.Eval(c[at], x.Norms[i], x.Norms[j])
				got := float64(s.tile[at])
				near := math.Abs(got-want) <= 0x1p-23*math.Abs(want)
				if !near && !(math.IsNaN(got) && math.IsNaN(want)) {
					t.Fatalf("%s at c = %v: found %v, expected %v", name, c[at], got, want)
				}
			}
		}
	}
}
