package instrument

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
)

// Corpora of the workloads. Term frequencies follow Zipf's law. Terms of short documents are mostly
// in the tail, and terms of dense documents in the head.
const (
	textCorpus   = "docs=6144,terms=40000,length=200,seed=1"
	shortCorpus  = "docs=12288,terms=16000,length=12,seed=2"
	denseCorpus  = "docs=4096,terms=256,length=400,seed=3"
	trainCorpus  = "docs=1200,terms=20000,length=100,classes=6,seed=4"
	pointsCorpus = "docs=2048,terms=20000,length=100,classes=4,seed=5"
	readCorpus   = "docs=9000,terms=20000,length=200,seed=6"
)

// cosineDistance is the kernel c, the cosine distance.
var cosineDistance = kernel.MustParse("c")

const (
	maxErrorOfC      = 1e-6 // bound on the absolute error of c, see [engine.Engine]
	maxRelativeError = 1e-5 // bound on the relative error of a kernel value
	regularizationC  = 10   // regularization parameter, which bounds the weight of a support vector
)

// Workloads are all workloads in the order of measurement.
var Workloads = []*Workload{
	{"tiles-text", 1, "cosine distance c of all pairs among 6,144 documents of 200 words", "pairs",
		tilePreparation(textCorpus)},
	{"tiles-short", 2, "cosine distance c of all pairs among 12,288 documents of 12 words", "pairs",
		tilePreparation(shortCorpus)},
	{"tiles-dense", 1, "cosine distance c of all pairs among 4,096 documents with half of 256 terms each", "pairs",
		tilePreparation(denseCorpus)},
	{"map", 1, "diffusion kernel of 2²⁴ values of c in the L2 cache", "values", prepareMap},
	{"train", 1, "SVM training with 1,200 documents in 6 classes", "documents",
		trainPreparation(trainCorpus, gram.TrainOptions{Type: "c_svc", Kernel: "diffusion:t=0.5", Scheme: "one-vs-one",
			C:          regularizationC,
			ChooseWork: -1}, 1, regularizationC*400*2*maxRelativeError)},
	{"neighbours", 1, "10 nearest neighbours of each of 6,144 documents", "pairs", prepareNeighbours},
	{"landmarks", 1, "8 conjugate-gradient passes over 2,048 documents with 256 landmarks", "values",
		trainPreparation(pointsCorpus, gram.TrainOptions{Type: "landmark:m=256,passes=8", Kernel: "diffusion:t=0.5", C: 1,
			Tolerance: 1e-12, ChooseWork: -1}, 8*256, 256*regularizationC*2*maxRelativeError)},
	{"read", 1, "term counts of 9,000 lines of text with 200 words each", "bytes", prepareRead},
}

// tilePreparation prepares a workload that computes c for all pairs without storing the values.
func tilePreparation(parameters string) prepareFunc {
	return func(ctx context.Context, d *documentCache, on setting) (*job, error) {
		e, x, err := d.engine(ctx, parameters, on)
		if err != nil {
			return nil, err
		}
		n := x.Rows()
		return &job{
			unitCount: float64(n) * float64(n-1) / 2,
			pass: func(ctx context.Context) error {
				return e.EachTile(ctx, nil, engine.Request{OmitSymmetric: true}, func(*engine.Tile) error { return nil })
			},
			digest: func(ctx context.Context) (uint64, error) { return e.Digest(ctx, cosineDistance) },
			maxError: func(ctx context.Context) (worst SampleError, err error) {
				rows, r := []int{0, n / 3, n - 1}, engine.NewReference(x)
				got, err := e.Rows(ctx, cosineDistance, engine.Request{RowIndices: rows}, nil)
				if err != nil {
					return worst, err
				}
				for k, i := range rows {
					for j, c := range got.Row(k) {
						worst.add(math.Abs(float64(c)-r.C(i, j)), maxErrorOfC)
					}
				}
				return worst, nil
			},
		}, nil
	}
}

// prepareMap prepares a workload that applies a kernel map to blocks of c repeatedly, as an engine
// does after each panel.
func prepareMap(_ context.Context, _ *documentCache, on setting) (*job, error) {
	const block, blocks, times = 1 << 15, 64, 8
	table, err := asm.KernelsFor(on.isa)
	if err != nil {
		return nil, err
	}
	k := kernel.MustParse("diffusion:t=0.5")
	c, norms := make([]float32, block), make([]float32, block+1) // norms don't affect the values
	for i := range c {
		c[i] = float32(i) / block
	}
	dst := make([][]float32, on.workers)
	pass := func(ctx context.Context) error {
		return run.Tasks(ctx, on.workers, blocks, func(_ context.Context, w, _ int) error {
			if dst[w] == nil {
				dst[w] = make([]float32, block)
			}
			for range times {
				if err := kernel.Apply(k, table, dst[w], c, norms[:1], norms[1:]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	mapped := func(ctx context.Context) ([]float32, error) {
		err := pass(ctx)
		// Return the values of a worker that ran a task.
		return slices.MaxFunc(dst, func(a, b []float32) int { return len(a) - len(b) }), err
	}
	return &job{
		unitCount: block * blocks * times, pass: pass,
		digest: func(ctx context.Context) (digest uint64, err error) {
			values, err := mapped(ctx)
			for i, v := range values {
				digest += device.HashValue(i, 0, v)
			}
			return digest, err
		},
		maxError: func(ctx context.Context) (worst SampleError, err error) {
			values, err := mapped(ctx)
			for i, v := range values {
				worst.add(math.Abs(float64(v)-k.Eval(float64(c[i]), 0, 0)), k.Error(float64(c[i]), 0, 0))
			}
			return worst, err
		},
	}, nil
}

// trainPreparation prepares a workload that trains a model. The digest is computed from the model's
// scores. Reference scores are computed from the same model with portable kernels. A score is a
// weighted sum of kernel values, so the tolerance includes the sum of the weights.
func trainPreparation(corpus string, o gram.TrainOptions, unitsPer, tolerance float64) prepareFunc {
	return func(ctx context.Context, d *documentCache, on setting) (*job, error) {
		c, err := d.corpus(ctx, corpus)
		if err != nil {
			return nil, err
		}
		o := o
		o.Options = gram.Options{ISA: string(on.isa), Workers: on.workers}
		n := c.Documents.Rows()
		some := c.Select([]int{0, 1, 2, 3, 4, 5, n / 4, n / 2, n - 1})
		scores := func(ctx context.Context, isa asm.ISA) (all []float64, err error) {
			m, err := gram.Train(ctx, c, o)
			if err != nil {
				return nil, err
			}
			p, err := m.WithOptions(gram.Options{ISA: string(isa), Workers: on.workers}).Predict(ctx, some)
			if err == nil {
				all = slices.Concat(p.Scores...)
			}
			return all, err
		}
		return &job{
			unitCount: unitsPer * float64(n),
			pass:      func(ctx context.Context) error { _, err := gram.Train(ctx, c, o); return err },
			digest: func(ctx context.Context) (digest uint64, err error) {
				all, err := scores(ctx, on.isa)
				for i, v := range all { // add v to the digest as two 32-bit values
					digest += device.HashValue(i, 0, float32(v)) + device.HashValue(i, 1, float32(v-float64(float32(v))))
				}
				return digest, err
			},
			maxError: func(ctx context.Context) (worst SampleError, err error) {
				got, err := scores(ctx, on.isa)
				want, err2 := scores(ctx, asm.Generic)
				for i := range min(len(got), len(want)) {
					worst.add(math.Abs(got[i]-want[i]), tolerance)
				}
				return worst, errors.Join(err, err2)
			},
		}, nil
	}
}

func prepareNeighbours(ctx context.Context, d *documentCache, on setting) (*job, error) {
	const count = 10
	e, x, err := d.engine(ctx, textCorpus, on)
	if err != nil {
		return nil, err
	}
	k, n := kernel.MustParse("bhattacharyya"), x.Rows()
	find := func(ctx context.Context) (*engine.Neighbours, error) {
		return e.Neighbours(ctx, k, engine.NeighbourOptions{Count: count})
	}
	return &job{
		unitCount: float64(n) * float64(n-1) / 2,
		pass:      func(ctx context.Context) error { _, err := find(ctx); return err },
		digest: func(ctx context.Context) (digest uint64, err error) {
			found, err := find(ctx)
			for i := 0; err == nil && i < n; i++ {
				for _, near := range found.List(i) {
					digest += device.HashValue(i, int(near.Document), near.Value)
				}
			}
			return digest, err
		},
		// The values of the nearest documents, in order, must equal the reference values.
		maxError: func(ctx context.Context) (worst SampleError, err error) {
			found, err := find(ctx)
			if err != nil {
				return worst, err
			}
			r, row := engine.NewReference(x), make([]float64, n)
			for _, i := range []int{0, n / 2, n - 1} {
				if err := r.Row(ctx, i, row); err != nil {
					return worst, err
				}
				c := slices.Delete(slices.Clone(row), i, i+1)
				slices.Sort(c)
				for j, near := range found.List(i) {
					worst.add(math.Abs(1-float64(near.Value)-c[j]), maxErrorOfC+0x1p-24) // plus rounding of the value
				}
			}
			return worst, nil
		},
	}, nil
}

// prepareRead prepares a workload that reads lines with a label and words.
func prepareRead(ctx context.Context, d *documentCache, on setting) (*job, error) {
	c, err := d.corpus(ctx, readCorpus)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	words := 0
	for i := range c.Documents.Rows() {
		text.WriteString(c.Classes[i%len(c.Classes)] + "\t")
		terms, counts := c.Documents.Row(i)
		for k, t := range terms {
			text.WriteString(strings.Repeat(c.Vocabulary[t]+" ", int(counts[k])))
			words += int(counts[k])
		}
		text.WriteByte('\n')
	}
	read := func(ctx context.Context) (*corpus.Corpus, error) {
		return corpus.ReadFrom(ctx, bytes.NewReader(text.Bytes()), "read.tsv",
			corpus.Options{FormatOptions: corpus.FormatOptions{Format: "tsv"}, Workers: on.workers, MinDF: 1})
	}
	return &job{
		unitCount: float64(text.Len()),
		pass:      func(ctx context.Context) error { _, err := read(ctx); return err },
		digest: func(ctx context.Context) (uint64, error) {
			got, err := read(ctx)
			if err != nil {
				return 0, err
			}
			all := got.Digest()
			return binary.BigEndian.Uint64(all[:]), nil
		},
		// No word may be lost or counted twice.
		maxError: func(ctx context.Context) (worst SampleError, err error) {
			got, err := read(ctx)
			if err != nil {
				return worst, err
			}
			sum := 0.0
			for _, v := range got.Documents.Values {
				sum += float64(v)
			}
			worst.add(math.Abs(sum-float64(words)), 0)
			worst.add(float64(got.Documents.Rows()-c.Documents.Rows()), 0)
			return worst, nil
		},
	}, nil
}
