//go:build cuda && cgo && linux

package cuda

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"

	"gorgonia.org/cu"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/solver"
)

// gaussianC is exp(-2c), a Gaussian kernel of the unit vectors.
var gaussianC = &device.Program{
	Consts: []float64{-2},
	Code:   []device.Code{{Op: device.OpC}, {Op: device.OpConst}, {Op: device.OpMul}, {Op: device.OpExp}},
}

// normed is c times the norms of both documents.
var normed = &device.Program{Norms: []func(float64) float64{func(x float64) float64 { return x }},
	Code: []device.Code{{Op: device.OpC}, {Op: device.OpX}, {Op: device.OpMul}, {Op: device.OpY}, {Op: device.OpMul}}}

// keeping loads documents and makes room for rows of a program; d.limit leaves room for so many of
// them, 0 for all.
func keeping(t *testing.T, d *Device, n, rows int, p *device.Program) (*columns, *resident) {
	t.Helper()
	cols := load(t, d, embedded(t, zipf(n, 500, 12, 4)))
	limit := d.limit
	if rows > 0 {
		d.limit = d.held + 8<<20
	}
	r, err := cols.Resident(p)
	if err != nil {
		t.Fatal(err)
	}
	d.limit = limit
	own := r.(*resident)
	if rows > 0 { // as if memory had held no more
		own.room = rows
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return cols, own
}

// Each operation on scores gives the bits of package asm's, for problems of some documents, of one
// and of several blocks, for rows that come and go, and of programs with attributes.
func TestProblemScores(t *testing.T) {
	for _, c := range []struct{ n, every, copies, room int }{
		{1, 1, 1, 0}, {37, 1, 2, 0}, {203, 3, 1, 40}, {523, 1, 2, 41},
	} {
		for name, p := range map[string]*device.Program{"gaussian": gaussianC, "norms": normed} {
			t.Run(fmt.Sprintf("n=%d/copies=%d/%s", c.n, c.copies, name), func(t *testing.T) {
				noLeaks(t)
				holdScores(t, openTiled(t, 64<<10, Options{}), c.n, c.every, c.copies, c.room, p)
			})
		}
	}
}

// holdScores holds what a device does with scores, of one document in every of n, copies variables
// each, and room for so many rows, 0 for all, against package asm.
func holdScores(t *testing.T, d *Device, n, every, copies, room int, p *device.Program) {
	k := asm.Best()
	cols, own := keeping(t, d, n, room, p)
	random := rand.New(rand.NewPCG(uint64(n), 3))
	var docs []int
	for i := range n {
		if i%every == 0 {
			docs = append(docs, i)
		}
	}
	scores, err := own.NewScores(docs, copies)
	if err != nil {
		t.Fatal(err)
	}
	v := len(docs) * copies
	padded := (v + asm.ScanBlock - 1) / asm.ScanBlock * asm.ScanBlock
	score, mask := make([]float64, padded), make([]byte, padded)
	for i := range v {
		score[i] = float64(random.IntN(40)-20) / 16 // ties, and 0 of both signs
		if score[i] == 0 && i%2 == 0 {
			score[i] = math.Copysign(0, -1)
		}
		mask[i] = byte(random.IntN(16))
	}
	if v > 20 {
		score[7], score[11], score[13] = math.NaN(), math.Inf(1), math.Inf(-1)
	}
	if err := scores.Put(score[:v], mask[:v]); err != nil {
		t.Fatal(err)
	}
	compare := func() {
		t.Helper()
		for _, bits := range [][2]byte{{1, 2}, {4, 8}, {0, 0}} {
			i, most, j, least := k.Extremes(score, mask, bits[0], bits[1])
			bi, bmost, bj, bleast, err := scores.Extremes(bits[0], bits[1])
			same := math.Float64bits(bmost) == math.Float64bits(most) &&
				math.Float64bits(bleast) == math.Float64bits(least)
			if err != nil || bi != i || bj != j || !same {
				t.Fatalf("extremes %d %v, %d %v, expected %d %v, %d %v, error %v",
					bi, bmost, bj, bleast, i, most, j, least, err)
			}
		}
		for _, above := range []float64{-2, 0, 0.5, 9} {
			for _, way := range []float64{1, -1} {
				want, got, mirror := make([]int32, padded), make([]int32, v), make([]float64, v)
				want = want[:k.Beyond(want, score, mask, 2, way, above)]
				n, err := scores.Beyond(got, mirror, 2, way, above)
				if err != nil || !reflect.DeepEqual(got[:n], want[:len(want):len(want)]) {
					t.Fatalf("%d beyond %v, expected %d, error %v", n, above, len(want), err)
				}
				for _, at := range want {
					if mirror[at] != score[at] {
						t.Fatalf("score %v of %d, expected %v", mirror[at], at, score[at])
					}
				}
			}
		}
	}
	compare()

	rows := gather(t, cols, &device.Request{Program: p, Docs: docs, Hi: n}, n)
	for range 3 {
		var which, vars, changed []int32
		var by []float64
		var masks []byte
		for range min(len(docs), 37) {
			which, by = append(which, int32(random.IntN(len(docs)))), append(by, random.NormFloat64())
		}
		unique := map[int32]bool{}
		for _, w := range which {
			unique[w] = true
		}
		for i := range 7 {
			if i < v {
				changed, masks = append(changed, int32(i*(v/7))), append(masks, byte(random.IntN(16)))
			}
		}
		if _, err := scores.Add(t.Context(), which, by, changed, masks); err != nil {
			t.Fatal(err)
		}
		for i, w := range which {
			for s := range v {
				score[s] = math.FMA(by[i], float64(rows[int(w)*n+docs[s%len(docs)]]), score[s])
			}
		}
		for i, s := range changed {
			mask[s] = masks[i]
		}
		compare()
		which = which[:0]
		for w := range unique {
			which = append(which, w)
		}
		for s := 0; s < v; s += 1 + v/150 {
			vars = append(vars, int32(s))
		}
		dst, mirror := make([]float32, len(which)*len(vars)), make([]float64, v)
		computed, err := scores.Pick(t.Context(), which, vars, dst, mirror)
		if err != nil || room == 0 && computed != 0 {
			t.Fatalf("%d rows computed that should have been there, error %v", computed, err)
		}
		for i, w := range which {
			for j, s := range vars {
				got, want := dst[i*len(vars)+j], rows[int(w)*n+docs[int(s)%len(docs)]]
				if math.Float32bits(got) != math.Float32bits(want) {
					t.Fatalf("(%d, %d) is %v, expected %v", w, s, got, want)
				}
			}
		}
		for _, s := range vars {
			if math.Float64bits(mirror[s]) != math.Float64bits(score[s]) && score[s] == score[s] {
				t.Fatalf("score %d is %v, expected %v", s, mirror[s], score[s])
			}
		}
	}
	got := make([]float64, v)
	if err := scores.Scores(got); err != nil {
		t.Fatal(err)
	}
	for s, want := range score[:v] {
		if got[s] != want && (got[s] == got[s] || want == want) {
			t.Fatalf("score %d is %v, expected %v", s, got[s], want)
		}
	}
	if err := scores.Close(); err != nil {
		t.Error(err)
	}
}

// solving are options for a solver of a resident's rows, which it ends after so many steps: with rows of
// other documents it might never end.
func (r *resident) solving(opt solver.Options, steps int) solver.Options {
	opt.MaxIterations = steps
	opt.DeviceScores = func(docs []int, copies int) (solver.DeviceScores, error) { return r.NewScores(docs, copies) }
	return opt
}

// learner trains a machine on a matrix.
type learner func(ctx context.Context, m solver.Matrix, opt solver.Options) (*solver.Machine, error)

// trainings are problems of every learner on n documents, two of seven left out.
func trainings(n int) map[string]learner {
	var docs []int
	var signs []bool
	var targets []float64
	for i := range n {
		if i%7 > 1 {
			docs = append(docs, i)
			signs = append(signs, i%3 == 0 != (i%17 == 0))
			targets = append(targets, math.Sin(float64(i)))
		}
	}
	return map[string]learner{
		"C-SVC": func(ctx context.Context, m solver.Matrix, opt solver.Options) (*solver.Machine, error) {
			t := solver.BinaryTraining{Docs: docs, Positive: signs, Parameters: solver.Parameters{C: 0.7}}
			return solver.TrainBinary(ctx, m, t, opt)
		},
		"nu-SVC": func(ctx context.Context, m solver.Matrix, opt solver.Options) (*solver.Machine, error) {
			t := solver.BinaryTraining{Docs: docs, Positive: signs, Parameters: solver.Parameters{Nu: 0.3}}
			return solver.TrainBinary(ctx, m, t, opt)
		},
		"epsilon-SVR": func(ctx context.Context, m solver.Matrix, opt solver.Options) (*solver.Machine, error) {
			t := solver.RegressionTraining{Docs: docs, Targets: targets, Regression: solver.Regression{Epsilon: 0.1}}
			return solver.TrainRegression(ctx, m, t, opt)
		},
		"one class": func(ctx context.Context, m solver.Matrix, opt solver.Options) (*solver.Machine, error) {
			return solver.TrainOneClass(ctx, m, docs, 0.4, opt)
		},
	}
}

// The solver on the device takes the steps that it takes on the processor with the same rows, to
// the bit, for every learner, with documents left out on the way and without, when rows have to
// make room for others; and it reaches the optimum of the processor's own rows: the objective to
// 1e-6, relative, within the tolerance of the optimality conditions. Kernels of both differ by up
// to 1e-6, and the dual objective by as much relative to its quadratic part; the tolerance is so
// narrow that it has no part in that.
func TestSolve(t *testing.T) {
	const n = 421
	noLeaks(t)
	cols, own := keeping(t, openTiled(t, 64<<10, Options{}), n, 80, gaussianC)
	data := gather(t, cols, &device.Request{Program: gaussianC, Docs: sequence(n), Hi: n}, n)
	same, err := solver.NewDense(n, data)
	if err != nil {
		t.Fatal(err)
	}
	exact := make([]float32, n*n)
	for i := range n {
		for j := range n {
			exact[i*n+j] = float32(math.Exp(-2 * reference(cols.x, i, cols.x, j)))
		}
	}
	other, err := solver.NewDense(n, exact)
	if err != nil {
		t.Fatal(err)
	}
	for name, train := range trainings(n) {
		for _, keep := range []bool{false, true} {
			if keep && name != "C-SVC" {
				continue
			}
			opt := solver.Options{KeepAll: keep, WorkingSet: 64, Tolerance: 1e-5}
			want, err := train(t.Context(), same, opt)
			if err != nil {
				t.Fatal(err)
			}
			onHost, err := train(t.Context(), other, opt)
			if err != nil {
				t.Fatal(err)
			}
			got, err := train(t.Context(), same, own.solving(opt, 2*want.Iterations))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, all kept %v: objective %v after %d steps, expected %v after %d",
					name, keep, got.Objective, got.Iterations, want.Objective, want.Iterations)
			}
			e := math.Abs(got.Objective-onHost.Objective) / math.Abs(onHost.Objective)
			if name == "nu-SVC" {
				e /= 10 // divided by the square of its margin, which is known to the tolerance
			}
			if !(e <= 1e-6) || !got.Converged || !(got.Gap <= opt.Tolerance) {
				t.Errorf("%s, all kept %v: objective %v, expected %v, error %.2g, gap %v",
					name, keep, got.Objective, onHost.Objective, e, got.Gap)
			}
		}
	}
}

// Memory bounds the rows that are kept; a working set must fit, and what doesn't is an error of
// memory. The end of a context is seen before rows are computed.
func TestResidentMemory(t *testing.T) {
	noLeaks(t)
	const n = 601
	x := embedded(t, zipf(n, 500, 12, 4))
	d := open(t, Options{})
	cols := load(t, d, x)
	line := int64(4 * padded(n))
	free := d.limit
	d.limit = d.held + 400*line
	r, err := cols.Resident(nil)
	if err != nil {
		t.Fatal(err)
	}
	if rows := r.Rows(); rows != 300 {
		t.Errorf("%d rows in the room of 400, expected three quarters", rows)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b, err := r.NewScores(sequence(n), 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Add(ctx, []int32{3}, []float64{1}, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, expected that of the context", err)
	}
	many := make([]int32, 301)
	for i := range many {
		many[i] = int32(i)
	}
	_, err = b.Add(t.Context(), many, make([]float64, len(many)), nil, nil)
	if err == nil || !strings.Contains(err.Error(), "300") {
		t.Errorf("error %v, expected a lack of room for rows", err)
	}
	if computed, err := b.Add(t.Context(), many[:300], make([]float64, 300), nil, nil); err != nil || computed != 300 {
		t.Errorf("%d rows computed, error %v, expected 300", computed, err)
	}
	if err := errors.Join(b.Close(), r.Close()); err != nil {
		t.Error(err)
	}
	d.limit = d.held + 200*line
	if _, err := cols.Resident(nil); !errors.Is(err, cu.OutOfMemory) || !errors.Is(err, device.ErrMemory) {
		t.Errorf("error %v, expected a lack of memory", err)
	}
	d.limit = free
}

// Problems that are solved at the same time share the rows of one Resident, too few for both, and
// each has the bits that it has alone.
func TestRowsShared(t *testing.T) {
	const n = 161
	noLeaks(t)
	cols, own := keeping(t, openTiled(t, 64<<10, Options{}), n, 30, gaussianC)
	m, err := solver.NewDense(n, gather(t, cols, &device.Request{Program: gaussianC, Docs: sequence(n), Hi: n}, n))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for name, train := range trainings(n) {
		opt := solver.Options{WorkingSet: 24}
		want, err := train(t.Context(), m, opt)
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			got, err := train(t.Context(), m, own.solving(opt, 2*want.Iterations))
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: objective %v after %d steps, expected %v after %d",
					name, got.Objective, got.Iterations, want.Objective, want.Iterations)
			}
		})
	}
	all.Wait()
}
