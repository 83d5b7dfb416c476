package svm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// slowDevice computes on the processor what a device is asked for, and keeps rows for solvers
// unless it has no memory for them.
type slowDevice struct {
	x      *sparse.Embedded
	e      *engine.Engine
	c      []float32 // of all pairs
	memory error
	fail   error // of Add
	open   int   // residents and scores
	added  int   // calls of Add
	closed int   // calls of Close

	mu       sync.Mutex
	requests []int // how many rows each call of Rows asked for
}

// batchRows is how many rows the device likes to be asked for.
const batchRows = 4096

// newSlowDevice is for Options.Device; the device that it makes comes to d.
func newSlowDevice(d *slowDevice) func(context.Context, *sparse.Embedded) (engine.Device, error) {
	return func(ctx context.Context, x *sparse.Embedded) (engine.Device, error) {
		e, err := engine.NewContext(ctx, x, engine.Options{})
		if err != nil {
			return nil, err
		}
		n := x.Rows()
		d.x, d.e, d.c = x, e, make([]float32, n*n)
		dst := &engine.Dense{Rows: n, Cols: n, Data: d.c}
		return d, e.Rows(ctx, plainC(x), counting(n), dst)
	}
}

// plainC is the kernel c for documents as they are embedded.
func plainC(x *sparse.Embedded) engine.Kernel {
	k, err := engine.ParseKernelIn("c", x.Embedder.Embedding)
	if err != nil {
		panic(err)
	}
	return k
}

func counting(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func (d *slowDevice) count(n *int, by int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	*n += by
}

func (d *slowDevice) Name() string     { return "slow" }
func (d *slowDevice) HostBytes() int64 { return 0 }
func (d *slowDevice) BatchRows() int   { return batchRows }
func (d *slowDevice) Close() error     { d.closed++; return nil }

func (d *slowDevice) value(p *device.Program, i, j int) float32 {
	return valueOf(p, d.c[i*d.x.Rows()+j], d.x.Norms[i], d.x.Norms[j])
}

func valueOf(p *device.Program, c float32, x, y float64) float32 {
	if p == nil {
		return c
	}
	return float32(p.Eval(c, x, y))
}

func (d *slowDevice) Rows(ctx context.Context, r *device.Request, visit func(t *device.Tile) error) error {
	d.mu.Lock()
	d.requests = append(d.requests, len(r.Docs))
	d.mu.Unlock()
	from, c := d.x, d.c
	if r.From != nil {
		cross, err := d.e.Cross(ctx, plainC(d.x), r.From)
		if err != nil {
			return err
		}
		from, c = r.From, cross.Data
	}
	b := &device.Tile{
		Rows: len(r.Docs), Lo: r.Lo, Hi: r.Hi, Mapped: r.Program != nil, RowStride: r.Hi - r.Lo, ColStride: 1,
	}
	for _, i := range r.Docs {
		for j := r.Lo; j < r.Hi; j++ {
			b.Value = append(b.Value, valueOf(r.Program, c[i*d.x.Rows()+j], from.Norms[i], d.x.Norms[j]))
		}
	}
	return visit(b)
}

func (d *slowDevice) Resident(p *device.Program) (device.Resident, error) {
	if d.memory != nil {
		return nil, d.memory
	}
	d.count(&d.open, 1)
	return &slowRows{d, p}, nil
}

type slowRows struct {
	*slowDevice
	p *device.Program
}

func (r *slowRows) Rows() int    { return r.x.Rows() }
func (r *slowRows) Close() error { r.count(&r.open, -1); return nil }

func (r *slowRows) NewScores(docs []int, copies int) (device.ProblemScores, error) {
	r.count(&r.open, 1)
	return &slowScores{
		slowRows: r, docs: docs, score: make([]float64, len(docs)*copies), mask: make([]byte, len(docs)*copies),
	}, nil
}

type slowScores struct {
	*slowRows
	docs  []int
	score []float64
	mask  []byte
}

func (b *slowScores) Put(score []float64, mask []byte) error {
	copy(b.score, score)
	copy(b.mask, mask)
	return nil
}

func (b *slowScores) Scores(score []float64) error {
	copy(score, b.score)
	return nil
}

// padded is the number of variables that package asm wants.
func (b *slowScores) padded() ([]float64, []byte) {
	more := -len(b.score) & (asm.ScanBlock - 1)
	return append(slices.Clone(b.score), make([]float64, more)...), append(slices.Clone(b.mask), make([]byte, more)...)
}

func (b *slowScores) Extremes(up, low byte) (int, float64, int, float64, error) {
	score, mask := b.padded()
	i, most, j, least := asm.Best().Extremes(score, mask, up, low)
	return i, most, j, least, nil
}

func (b *slowScores) Beyond(index []int32, score []float64, bit byte, way, above float64) (int, error) {
	own, mask := b.padded()
	room := make([]int32, len(own))
	n := copy(index, room[:asm.Best().Beyond(room, own, mask, bit, way, above)])
	for _, t := range index[:n] {
		score[t] = b.score[t]
	}
	return n, nil
}

func (b *slowScores) kernel(doc, variable int32) float32 {
	return b.value(b.p, b.docs[doc], b.docs[int(variable)%len(b.docs)])
}

func (b *slowScores) Pick(_ context.Context, docs, vars []int32, dst []float32, score []float64) (int, error) {
	for r, d := range docs {
		for c, t := range vars {
			dst[r*len(vars)+c] = b.kernel(d, t)
		}
	}
	for _, t := range vars {
		score[t] = b.score[t]
	}
	return len(docs), nil
}

func (b *slowScores) Add(_ context.Context, docs []int32, by []float64, changed []int32, mask []byte) (int, error) {
	b.count(&b.added, 1)
	if b.fail != nil {
		return 0, b.fail
	}
	for r, d := range docs {
		for t := range b.score {
			b.score[t] = math.FMA(by[r], float64(b.kernel(d, int32(t))), b.score[t])
		}
	}
	for i, t := range changed {
		b.mask[t] = mask[i]
	}
	return 0, nil
}

func (b *slowScores) Close() error { b.count(&b.open, -1); return nil }

// A model that was trained with its rows on the device is that of the processor with the device's
// rows: to the bit where problems have documents of their own, within the tolerance where the
// processor solves them together. Nothing of the device stays taken.
func TestPlaceOnDevice(t *testing.T) {
	c := read(t, "synthetic:docs=120,terms=300,classes=3,seed=3", sparse.Options{})
	for _, scheme := range []solver.Scheme{solver.OneVsOne, solver.OneVsRest, solver.Labels} {
		var text [2]string
		var machines [2][]*solver.Machine
		for i, place := range []Place{PlaceProcessor, PlaceDevice} {
			d := &slowDevice{}
			m, r := train(
				t, c, Settings{Scheme: scheme}, Options{Device: newSlowDevice(d), Place: place, Once: true, Workers: 1},
			)
			if onDevice := place == PlaceDevice; (d.added > 0) != onDevice || (r.SolvedOn == "slow") != onDevice ||
				d.open != 0 {
				t.Errorf(
					"%v, place %d: %d updates on the device, %d things left there, report %q", scheme, place, d.added,
					d.open, r.SolvedOn,
				)
			}
			machines[i] = m.Classifier.Machines
			for _, machine := range m.Classifier.Machines {
				text[i] += fmt.Sprintf("%+v\n", *machine)
			}
		}
		if scheme == solver.OneVsOne && text[0] != text[1] {
			t.Errorf("%v: found %s, expected %s", scheme, text[1], text[0])
		}
		// Variables are between 0 and C = 1, so an objective is above its least value by at most the
		// violation of the optimality conditions times the number of documents.
		for c, machine := range machines[1] {
			own := machines[0][c]
			bound := 120 * math.Max(machine.Gap, own.Gap)
			if err := math.Abs(machine.Objective - own.Objective); !(err <= bound && bound <= 120*1e-3) {
				t.Errorf("%v, machine %d: objective %v, expected %v up to %v", scheme, c, machine.Objective, own.Objective, bound)
			}
		}
	}
}

// Where the device has no memory for rows the processor trains, and the report says why; unless the
// device was asked for. Small problems are the processor's.
func TestPlaceWithoutMemory(t *testing.T) {
	c := read(t, "synthetic:docs=90,terms=300,classes=2,seed=3", sparse.Options{})
	d := &slowDevice{memory: fmt.Errorf("3 bytes: %w", device.ErrMemory)}
	p := problem(t, c, engine.MustParseKernel(DefaultKernel), Options{Device: newSlowDevice(d), Place: PlaceDevice})
	if _, _, err := p.Train(t.Context(), Settings{}); !errors.Is(err, device.ErrMemory) {
		t.Errorf("error %v, expected a lack of memory", err)
	}
	for _, place := range []Place{PlaceAuto, PlaceProcessor} {
		p.opt.Place = place
		if _, r, err := p.Train(t.Context(), Settings{}); err != nil || r.SolvedOn != "" || len(r.Warnings) != 0 {
			t.Errorf("place %d: report %+v, error %v", place, r, err)
		}
	}
	defer func(least int) { residentLeast = least }(residentLeast)
	residentLeast = 90
	p.opt.Place = PlaceAuto
	if _, r, err := p.Train(t.Context(), Settings{}); err != nil || r.SolvedOn != "" || len(r.Warnings) != 1 ||
		!strings.Contains(r.Warnings[0], "3 bytes") ||
		r.Unplaced != r.Warnings[0] {
		t.Errorf("report %+v, error %v", r, err)
	}
	d.memory = nil
	if _, r, err := p.Train(t.Context(), Settings{}); err != nil || r.SolvedOn != "slow" {
		t.Errorf("report %+v, error %v", r, err)
	}
	d.memory = errors.New("broken")
	if _, _, err := p.Train(t.Context(), Settings{}); !errors.Is(err, d.memory) {
		t.Errorf("error %v, expected that of the device", err)
	}
	d.memory = nil
	unknown := engine.MustParseKernel("arccos:n=0,bias=0.3,embed=tf-l1-sqrt")
	p = problem(t, c, unknown, Options{Device: newSlowDevice(d), Place: PlaceDevice})
	if _, _, err := p.Train(t.Context(), Settings{Kernel: unknown}); err == nil ||
		!strings.Contains(err.Error(), "no device that computes the kernel arccos") {
		t.Errorf("error %v, expected one that the device doesn't compute the kernel", err)
	}
	none := problem(t, c, engine.MustParseKernel(DefaultKernel), Options{Place: PlaceDevice})
	if _, _, err := none.Train(t.Context(), Settings{}); err == nil || !strings.Contains(err.Error(), "no device") {
		t.Errorf("error %v, expected one that there is no device", err)
	}
}

// Where it is left open, large problems are the device's, and pairs of several classes the
// processor's, however large they are.
func TestPlaceAuto(t *testing.T) {
	c := read(t, "synthetic:docs=120,terms=300,classes=3,seed=3", sparse.Options{})
	defer func(least int) { residentLeast = least }(residentLeast)
	residentLeast = 1
	for scheme, want := range map[solver.Scheme]string{
		solver.OneVsOne: "", solver.OneVsRest: "slow", solver.Labels: "slow",
	} {
		if _, r := train(
			t, c, Settings{Scheme: scheme}, Options{Device: newSlowDevice(&slowDevice{}), Workers: 1},
		); r.SolvedOn != want {
			t.Errorf("%v: trained on %q, expected %q", scheme, r.SolvedOn, want)
		}
	}
}

// A problem that can't be made gives its device back; one that is made leaves that to its engine.
func TestProblemGivesDeviceBack(t *testing.T) {
	c := read(t, "synthetic:docs=90,terms=300,classes=2,seed=3", sparse.Options{})
	d := &slowDevice{}
	if _, err := NewProblem(
		t.Context(), c, sparse.Sphere, Options{Device: newSlowDevice(d), CacheBytes: 1000},
	); err == nil || d.closed != 1 {
		t.Errorf("error %v, the device is closed %d times", err, d.closed)
	}
	d = &slowDevice{}
	p := problem(t, c, engine.MustParseKernel(DefaultKernel), Options{Device: newSlowDevice(d)})
	if err := p.Engine().Close(); err != nil || d.closed != 1 {
		t.Errorf("error %v, the device is closed %d times", err, d.closed)
	}
}
