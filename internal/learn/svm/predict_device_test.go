package svm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Predictions on a device equal predictions on the CPU up to the errors of both kernel maps, for
// kernels with and without programs, histograms, and every type of model. The device is closed.
func TestPredictOnDevice(t *testing.T) {
	text := read(t, "synthetic:docs=200,terms=900,length=30,classes=3,seed=5", corpus.Options{})
	two := read(t, "synthetic:docs=150,terms=900,length=30,classes=2,seed=6", corpus.Options{})
	numbers := read(t, "synthetic:docs=150,terms=900,length=30,classes=3,seed=7", corpus.Options{})
	numbers.Classes = []string{"0.5", "1", "3"}
	for _, tc := range []struct {
		kernel string
		c      *corpus.Corpus
		s      Settings
	}{
		{DefaultKernel, text, Settings{Probabilities: true, C: 10}},
		{"rbf:gamma=0.05", text, Settings{Scheme: solver.OneVsRest}},
		{"linear:embed=tfidf-l2", text, Settings{Scheme: solver.MultiLabel}},
		{"arccos:n=0,bias=0.3", text, Settings{}}, // has no program
		{"chi2", two, Settings{Type: model.NuSVC, Nu: 0.3}},
		{"js", numbers, Settings{Type: model.EpsilonSVR}},
		{"ngd-exp", two, Settings{Type: model.OneClass, Nu: 0.2}},
	} {
		t.Run(fmt.Sprint(tc.kernel, "/", tc.s.Type, "/", tc.s.Scheme), func(t *testing.T) {
			learn, test := halves(tc.c)
			tc.s.Kernel = kernel.MustParse(tc.kernel)
			m, _ := train(t, learn, tc.s, Options{})
			want := predict(t, m, test.Documents, Options{})
			d := &slowDevice{}
			p := musttest.Get(NewPredictor(t.Context(), m, Options{Device: newSlowDevice(d)}))(t)
			got := musttest.Get(p.Predict(t.Context(), test.Documents))(t)
			if !slices.Equal(d.requests, []int{test.Documents.Rows()}) {
				t.Errorf("the device was asked for rows %v, want one call for %d", d.requests,
					test.Documents.Rows())
			}
			sameUpTo(t, tc.s.Kernel, m, test.Documents, got, want)
			if !slices.Equal(got.ClassIndices, want.ClassIndices) || fmt.Sprint(got.Labels) != fmt.Sprint(want.Labels) ||
				len(got.Values) != len(want.Values) ||
				len(got.Probabilities) != len(want.Probabilities) {
				t.Errorf("classes, labels or probabilities differ from the processor's")
			}
			for i := range got.Values {
				if got.Values[i] != got.DecisionValues[i][0] {
					t.Errorf("document %d: value %v, decision %v", i, got.Values[i], got.DecisionValues[i][0])
				}
			}
			if err := p.Close(); err != nil || d.closed != 1 {
				t.Errorf("error %v, the device is closed %d times", err, d.closed)
			}
		})
	}
}

// sameUpTo compares decision values from the same c: each kernel value has twice the error that the
// kernel documents, and each sum one rounding.
func sameUpTo(t *testing.T, k kernel.Kernel, m *model.Model, docs *sparse.CSR, got, want *model.Prediction) {
	t.Helper()
	support := musttest.Get(m.Embedder.Transform(m.Support))(t)
	x := musttest.Get(m.Embedder.Transform(docs))(t)
	k = kernel.Resolve(k, len(m.Embedder.Terms))
	e := musttest.Get(engine.New(support, engine.Options{}))(t)
	c := musttest.Get(e.Rows(t.Context(), plainC(support), engine.Request{TestDocuments: x}, nil))(t)
	for i := range want.DecisionValues {
		for j, machine := range m.Classifier.Functions {
			tol, size := 0.0, math.Abs(machine.Rho)
			for s, row := range machine.Support {
				v := float64(c.Row(i)[row])
				err := k.Error(v, x.Norms[i], support.Norms[row])
				tol += 2 * math.Abs(machine.Coef[s]) * err
				size += math.Abs(machine.Coef[s]) * (math.Abs(k.Eval(v, x.Norms[i], support.Norms[row])) + err)
			}
			tol += 2 * float64(len(machine.Support)) * 0x1p-52 * size // two float64 sums of that many terms
			within(t, fmt.Sprintf("document %d, machine %d", i, j), got.DecisionValues[i][j], want.DecisionValues[i][j], tol)
		}
	}
}

// Decision values are bit-identical for any memory limit, and thus any batch size, and any number
// of workers.
func TestPredictOnDeviceInBatches(t *testing.T) {
	learn, test := halves(read(t, "synthetic:docs=900,terms=2000,length=30,classes=4,seed=2", corpus.Options{}))
	m, _ := train(t, learn, Settings{C: 10}, Options{})
	n := test.Documents.Rows()
	want := predict(t, m, test.Documents, Options{Device: newSlowDevice(&slowDevice{}), Workers: 1})
	for _, workers := range []int{1, 2, 5} {
		d := &slowDevice{}
		p := musttest.Get(NewPredictor(t.Context(), m, Options{Device: newSlowDevice(d), Workers: workers}))(t)
		least := p.requiredBytes(test.Documents, p.Engine().Info().Kernels.PanelWidth, p.Engine())
		if whole := p.requiredBytes(test.Documents, batchRows, p.Engine()); whole <= least {
			t.Fatalf("%d bytes for all documents at a time, %d for a panel", whole, least)
		}
		p.opt.MemoryBytes = least
		got := musttest.Get(p.Predict(t.Context(), test.Documents))(t)
		width := p.Engine().Info().Kernels.PanelWidth
		if panels := (n + width - 1) / width; len(d.requests) != panels {
			t.Errorf("%d workers: %d calls of the device, want one for each of %d panels", workers,
				len(d.requests), panels)
		}
		for i := range want.DecisionValues {
			if !slices.Equal(got.DecisionValues[i], want.DecisionValues[i]) {
				t.Fatalf("%d workers: decision values of document %d differ", workers, i)
			}
		}
		p.opt.MemoryBytes = least - 1
		memory := (*engine.MemoryError)(nil)
		if _, err := p.Predict(t.Context(), test.Documents); !errors.As(err, &memory) || memory.NeedBytes != least {
			t.Errorf("error %v, want one that says %d bytes", err, least)
		}
	}
}

// A device with too little memory gets smaller batches, down to a panel, with the same result.
func TestPredictOnSmallDevice(t *testing.T) {
	learn, test := halves(read(t, "synthetic:docs=900,terms=2000,length=30,classes=4,seed=2", corpus.Options{}))
	m, _ := train(t, learn, Settings{C: 10}, Options{})
	want := predict(t, m, test.Documents, Options{Device: newSlowDevice(&slowDevice{})})
	for _, most := range []int{449, 250, 100, 64} {
		d := &slowDevice{}
		p := musttest.Get(NewPredictor(t.Context(), m, Options{Device: func(
			ctx context.Context, x *sparse.Embedded,
		) (engine.Device, error) {
			own, err := newSlowDevice(d)(ctx, x)
			return &small{own.(device.Accelerator), most}, err
		}}))(t)
		got, err := p.Predict(t.Context(), test.Documents)
		if most < p.Engine().Info().Kernels.PanelWidth {
			if !errors.Is(err, device.ErrMemory) {
				t.Errorf("room for %d documents: error %v, expected a lack of memory", most, err)
			}
			continue
		}
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("room for %d documents: other predictions, error %v", most, err)
		}
		sum := 0
		for _, n := range d.requests {
			sum += n
		}
		if sum != test.Documents.Rows() || slices.Max(d.requests) > most {
			t.Errorf("room for %d documents: the device computed %v", most, d.requests)
		}
	}
	p := musttest.Get(NewPredictor(t.Context(), m, Options{Device: func(
		ctx context.Context, x *sparse.Embedded,
	) (engine.Device, error) {
		own, err := newSlowDevice(&slowDevice{})(ctx, x)
		return &small{own.(device.Accelerator), 7}, err
	}}))(t)
	musttest.WantError(p.Predict(t.Context(), test.Documents))(t, "a device without memory", device.ErrMemory)
}

// small is a device with memory for only some documents.
type small struct {
	device.Accelerator
	most int
}

func (d *small) ComputeRows(ctx context.Context, r *device.Request, visit func(*device.Tile) error) error {
	if len(r.RowIndices) > d.most {
		return fmt.Errorf("%d documents: %w", len(r.RowIndices), device.ErrMemory)
	}
	return d.Accelerator.ComputeRows(ctx, r, visit)
}

// Devices that fail, can't be made or are missing cause errors, and so does a cancelled context.
func TestPredictWithoutDevice(t *testing.T) {
	learn, test := halves(read(t, "synthetic:docs=200,terms=500,length=20,classes=2,seed=4", corpus.Options{}))
	m, _ := train(t, learn, Settings{}, Options{})
	broken := errors.New("broken")
	none := func(err error) func(context.Context, *sparse.Embedded) (engine.Device, error) {
		return func(context.Context, *sparse.Embedded) (engine.Device, error) { return nil, err }
	}
	musttest.WantError(NewPredictor(t.Context(), m, Options{Device: none(broken)}))(t, "an error of the device", broken)
	want := predict(t, m, test.Documents, Options{})
	if got := predict(t, m, test.Documents, Options{Device: none(nil)}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Error("without a device predictions aren't those of the processor")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	musttest.WantError(NewPredictor(ctx, m, Options{}))(t, "after the end of the context", context.Canceled)
	p := musttest.Get(NewPredictor(t.Context(), m, Options{Device: func(
		ctx context.Context, x *sparse.Embedded,
	) (engine.Device, error) {
		d, err := newSlowDevice(&slowDevice{})(ctx, x)
		return &failing{d.(device.Accelerator), broken}, err
	}}))(t)
	musttest.WantError(p.Predict(t.Context(), test.Documents))(t, "an error of the device", broken)
	musttest.WantError(p.Predict(ctx, test.Documents))(t, "after the end of the context", context.Canceled)
}

// failing is a device that computes nothing.
type failing struct {
	device.Accelerator
	err error
}

func (d *failing) ComputeRows(context.Context, *device.Request, func(*device.Tile) error) error {
	return d.err
}
