package svm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// results tells all that an outcome says, but for how long it took.
func (o outcome) results() string {
	var b strings.Builder
	machine := func(m *solver.Machine) {
		if m != nil {
			fmt.Fprintf(&b, "%+v\n", *m)
		}
	}
	if o.values != nil {
		fmt.Fprintln(&b, o.values.Values)
		for _, m := range o.values.Fits {
			machine(m)
		}
		return b.String()
	}
	fmt.Fprintln(&b, o.classes.Predicted, o.classes.Sets)
	for _, c := range o.classes.Fits {
		for _, m := range c.Machines {
			machine(m)
		}
	}
	return b.String()
}

// Folds that are solved and predicted with the rows on the device give what the processor gives
// with the device's rows, to the bit, for every type and scheme, for documents without a label and
// however many workers there are; the machine computes no matrix, and nothing of the device stays
// taken.
func TestValidateOnDevice(t *testing.T) {
	c := read(t, "synthetic:docs=150,terms=300,classes=3,seed=3", sparse.Options{})
	c.Labels.IDs = slices.Delete(c.Labels.IDs, 3, 4) // document 3 has no label
	for i := range c.Labels.Offsets[4:] {
		c.Labels.Offsets[4+i]--
	}
	numbers := read(t, "synthetic:docs=120,terms=300,classes=3,seed=4", sparse.Options{})
	numbers.Classes = []string{"0.5", "1", "3"}
	for _, tc := range []struct {
		c *sparse.Corpus
		s Settings
	}{
		{c, Settings{}},
		{c, Settings{Scheme: solver.OneVsRest}},
		{c, Settings{Scheme: solver.Labels}},
		{c, Settings{Type: model.NuSVC, Nu: 0.3}},
		{numbers, Settings{Type: model.EpsilonSVR}},
		{numbers, Settings{Type: model.NuSVR}},
	} {
		for _, workers := range []int{1, 3} {
			t.Run(fmt.Sprint(tc.s.Type, "/", tc.s.Scheme, "/workers=", workers, "/"), func(t *testing.T) {
				d := &slowDevice{}
				k := engine.MustParseKernel(DefaultKernel)
				p := problem(t, tc.c, k, Options{Device: newSlowDevice(d), Place: PlaceDevice, Workers: workers})
				s, err := tc.s.resolve()
				if err != nil {
					t.Fatal(err)
				}
				cells := []cell{{s.C, s.Nu, s.Epsilon}, {10 * s.C, s.Nu, s.Epsilon}}
				f, err := p.fold(&s, 3, 1, workers > 1)
				if err != nil {
					t.Fatal(err)
				}
				opt, err := f.options(len(cells))
				if err != nil {
					t.Fatal(err)
				}
				m, err := f.place(t.Context(), k)
				if err != nil || m.unplaced != "" || m.scores == nil {
					t.Fatalf("a place %+v, error %v", m, err)
				}
				opt.DeviceScores = m.scores
				got, err := f.validate(t.Context(), m.matrix, cells, nil, opt)
				if err != nil {
					t.Fatal(err)
				}
				if err := m.close(); err != nil || d.open != 0 || d.added == 0 || len(d.requests) != 0 {
					t.Errorf(
						"error %v, %d things left on the device, %d updates there, rows that were asked for: %v", err,
						d.open, d.added, d.requests,
					)
				}
				rows, program := make([]float32, 0, p.Len()*p.Len()), engine.ProgramOf(k)
				for _, i := range f.order {
					for _, j := range f.order {
						rows = append(rows, d.value(program, i, j))
					}
				}
				dense, err := solver.NewDense(p.Len(), rows)
				if err != nil {
					t.Fatal(err)
				}
				opt.DeviceScores = nil
				want, err := f.validate(t.Context(), dense, cells, nil, opt)
				if err != nil {
					t.Fatal(err)
				}
				for i := range want {
					if got[i].results() != want[i].results() {
						t.Errorf("%+v: found %s, expected %s", cells[i], got[i].results(), want[i].results())
					}
				}
				v := crossValidate(t, p, tc.s, 3, 1)
				one, err := f.result(got[0])
				if err != nil {
					t.Fatal(err)
				}
				if v.SolvedOn != "slow" || d.open != 0 || v.DotProducts <= 0 || len(d.requests) != 0 {
					t.Errorf(
						"place %q, %d things left on the device, %d dot products, rows of %v for the machine",
						v.SolvedOn, d.open, v.DotProducts, d.requests,
					)
				}
				// documents are in the same order
				if workers == 1 && (!slices.Equal(v.Class, one.Class) || !slices.Equal(v.Value, one.Value)) {
					t.Errorf("classes %v, estimates %v, expected %v, %v", v.Class, v.Value, one.Class, one.Value)
				}
			})
		}
	}
}

// A search keeps the rows of kernels on the device that it computes, and those of others in the
// machine, and finds what the processor finds.
func TestSearchOnDevice(t *testing.T) {
	defer func(least int) { residentLeast = least }(residentLeast)
	residentLeast = 1
	c := noisy(t).Select(counting(240))
	s := Settings{Scheme: solver.OneVsRest}
	g := Grid{Folds: 3, Seed: 1, C: []float64{1, 10}, Kernels: []engine.Kernel{
		engine.MustParseKernel("diffusion:t=0.5"), engine.MustParseKernel("diffusion:t=1"),
		engine.MustParseKernel("arccos:n=0,bias=0.3,embed=tf-l1-sqrt"),
	}}
	k := g.Kernels[0]
	search := func(d *slowDevice, opt Options) *SearchResult {
		t.Helper()
		if d != nil {
			opt.Device = newSlowDevice(d)
		}
		r, err := problem(t, c, k, opt).Search(t.Context(), s, g, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	want := search(nil, Options{})
	near := func(r *SearchResult) {
		t.Helper()
		for i, p := range r.Points {
			// Both stop within the tolerance, so that a class may differ where a decision is next
			// to 0.
			within(t, fmt.Sprintf("%s, C = %v: accuracy", p.Kernel, p.C), p.Mean, want.Points[i].Mean, 0.02)
		}
	}
	d := &slowDevice{}
	got := search(d, Options{})
	if got.SolvedOn != "slow" || got.Unplaced != "" || d.open != 0 || d.added == 0 || len(d.requests) == 0 {
		t.Errorf(
			"place %q, %q, %d things left on the device, %d updates there, rows of %v for the machine", got.SolvedOn,
			got.Unplaced, d.open, d.added, d.requests,
		)
	}
	near(got)
	d = &slowDevice{}
	if got = search(d, Options{Place: PlaceProcessor}); got.SolvedOn != "" || d.added != 0 {
		t.Errorf("place %q, %d updates on the device", got.SolvedOn, d.added)
	}
	near(got)
	d = &slowDevice{memory: fmt.Errorf("3 bytes: %w", device.ErrMemory)}
	if got = search(d, Options{}); got.SolvedOn != "" || !strings.Contains(got.Unplaced, "3 bytes") {
		t.Errorf("place %q, %q", got.SolvedOn, got.Unplaced)
	}
	near(got)
}

// A search through several embeddings has the documents of one on the device at a time, and leaves
// none there, also where it fails.
func TestSearchCorpusOnDevice(t *testing.T) {
	c := noisy(t).Select(counting(90))
	g := Grid{Folds: 3, Kernels: kernelsFor("diffusion:t=0.5", "linear", "rbf:gamma=1,embed=tfidf-l2")}
	for _, broken := range []error{nil, errors.New("broken")} {
		var made []*slowDevice
		opt := Options{Place: PlaceDevice}
		opt.Device = func(ctx context.Context, x *sparse.Embedded) (engine.Device, error) {
			for i, d := range made {
				if d.closed != 1 {
					t.Errorf("device %d is closed %d times when the next is made", i, d.closed)
				}
			}
			made = append(made, &slowDevice{})
			if len(made) == 2 {
				made[1].fail = broken
			}
			return newSlowDevice(made[len(made)-1])(ctx, x)
		}
		problems, points := 3, 3
		if broken != nil {
			problems, points = 2, 1
		}
		r, err := SearchCorpus(t.Context(), c, Settings{}, g, opt, nil)
		if !errors.Is(err, broken) || len(made) != problems || len(r.Points) != points {
			t.Errorf("error %v, expected %v; %d embeddings, %d points", err, broken, len(made), len(r.Points))
		}
		for i, d := range made {
			if d.closed != 1 || d.open != 0 {
				t.Errorf("error %v: device %d is closed %d times, %d things left there", err, i, d.closed, d.open)
			}
		}
	}
}

// What can't be placed is refused before anything is computed, and what fails on the way leaves
// nothing there.
func TestValidateOnDeviceRefuses(t *testing.T) {
	c := noisy(t)
	k := engine.MustParseKernel(DefaultKernel)
	unknown := engine.MustParseKernel("arccos:n=0,bias=0.3,embed=tf-l1-sqrt")
	d := &slowDevice{}
	p := problem(t, c, k, Options{Device: newSlowDevice(d), Place: PlaceDevice})
	if _, err := p.CrossValidate(
		t.Context(), Settings{Kernel: unknown}, 3, 1,
	); err == nil || !strings.Contains(err.Error(), "no device that computes the kernel arccos") {
		t.Errorf("error %v, expected one that the device doesn't compute the kernel", err)
	}
	if _, err := p.Search(
		t.Context(), Settings{}, Grid{Kernels: []engine.Kernel{k, unknown}}, nil,
	); err == nil || !strings.Contains(err.Error(), "no device that computes the kernel arccos") || d.added != 0 {
		t.Errorf("error %v after %d updates, expected one that the device doesn't compute the kernel", err, d.added)
	}
	none := problem(t, c, k, Options{Place: PlaceDevice})
	if _, err := none.CrossValidate(t.Context(), Settings{}, 3, 1); err == nil ||
		!strings.Contains(err.Error(), "no device") {
		t.Errorf("error %v, expected one that there is no device", err)
	}
	d.fail = errors.New("broken")
	if _, err := p.CrossValidate(t.Context(), Settings{}, 3, 1); !errors.Is(err, d.fail) || d.open != 0 {
		t.Errorf("error %v, expected that of the device; %d things left there", err, d.open)
	}
	if r, err := p.Search(t.Context(), Settings{}, Grid{}, nil); !errors.Is(err, d.fail) || d.open != 0 ||
		len(r.Points) != 0 {
		t.Errorf("error %v, expected that of the device; %d things left there, %d points", err, d.open, len(r.Points))
	}
	d.fail, d.memory = nil, device.ErrMemory
	if _, err := p.CrossValidate(t.Context(), Settings{}, 3, 1); !errors.Is(err, device.ErrMemory) || d.open != 0 {
		t.Errorf("error %v, expected a lack of memory; %d things left there", err, d.open)
	}
	d.memory = nil
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.CrossValidate(ctx, Settings{}, 3, 1); !errors.Is(err, context.Canceled) || d.open != 0 {
		t.Errorf("error %v, expected that of the context; %d things left there", err, d.open)
	}
}

// Rows of a device are read in the order of the problem's documents, whatever rows and ranges of
// columns.
func TestDeviceRows(t *testing.T) {
	d := &slowDevice{}
	k := engine.MustParseKernel(DefaultKernel)
	p := problem(
		t, read(t, "synthetic:docs=150,terms=300,classes=3,seed=3", sparse.Options{}), k,
		Options{Device: newSlowDevice(d)},
	)
	own, err := p.cached.Matrix(k)
	if err != nil {
		t.Fatal(err)
	}
	r, err := own.Resident()
	if err != nil {
		t.Fatal(err)
	}
	order := counting(150)
	slices.Reverse(order[20:90])
	m, err := newDeviceRows(own, r, order)
	if err != nil {
		t.Fatal(err)
	}
	rows, columns := append(counting(130)[3:], 149, 0), [][2]int{{0, 7}, {19, 90}, {149, 150}}
	dst := make([][]float32, len(rows))
	for i := range dst {
		dst[i] = make([]float32, 7+71+1)
	}
	if err := m.Rows(t.Context(), rows, columns, dst); err != nil {
		t.Fatal(err)
	}
	program := engine.ProgramOf(k)
	for r, i := range rows {
		at := 0
		for _, c := range columns {
			for j := c[0]; j < c[1]; j++ {
				want := d.value(program, order[i], order[j])
				if math.Float32bits(dst[r][at]) != math.Float32bits(want) {
					t.Fatalf("row %d, column %d: %v, expected %v", i, j, dst[r][at], want)
				}
				at++
			}
		}
	}
	for i, v := range m.Diagonal() {
		if want := own.Diagonal()[order[i]]; v != want {
			t.Fatalf("value %d of the diagonal: %v, expected %v", i, v, want)
		}
	}
	if !m.Whole() || m.Len() != 150 {
		t.Errorf("%d documents, all rows: %v", m.Len(), m.Whole())
	}
	if err := m.close(); err != nil || d.open != 0 {
		t.Errorf("error %v, %d things left on the device", err, d.open)
	}
}
