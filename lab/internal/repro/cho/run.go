package cho

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/sparse"
)

// measurement is that of all kernels on one set.
type measurement struct {
	p      *protocol
	r      *repro.Run
	set    *set
	table  *repro.Table
	report *repro.Report

	data      *data
	failed    map[string]float64       // on the validation set, by kernel and C: rows may share them
	tested    map[string]repro.Outcome // on the test set
	embedding sparse.Embedding
	norms     []float64 // of the embedded training documents
}

// tried is a kernel with a C, and how it did on the validation set.
type tried struct {
	spec   string
	scale  float64 // of gamma, the bias or σ; 0 where there is none
	c      float64 // in multiples of 1 / mean k(x,x)
	failed float64 // share of the validation set; NaN where nothing had to be chosen
}

// run measures all kernels: first C for all of them, on a matrix without the validation set, then
// the test errors, on the matrix of all.
func (m *measurement) run(ctx context.Context) (err error) {
	s := m.set
	if m.data, err = m.p.read(ctx, m.r, s); err != nil {
		return err
	}
	m.failed, m.tested = map[string]float64{}, map[string]repro.Outcome{}
	name := "tf"
	if s.text {
		name = m.p.embed
	}
	if m.embedding, err = sparse.ParseEmbedding(name); err != nil {
		return err
	}
	train := m.data.train.Documents
	x, err := m.embedding.Fit(train).Transform(train)
	if err != nil {
		return err
	}
	m.norms = x.Norms
	x = nil
	norm, squared := 0., 0.
	for _, n := range m.norms {
		norm, squared = norm+n/float64(len(m.norms)), squared+n*n/float64(len(m.norms))
	}
	if !(norm > 0) {
		return fmt.Errorf("%s: the training documents are empty", s.name)
	}
	rows := slices.DeleteFunc(m.p.kernels(norm, squared), func(row row) bool {
		return !slices.Contains(s.families, row.family)
	})
	m.report.Set(s.name, "%d documents for training, %d of them for validation, %d for testing; mean norm %.4g",
		train.Rows(), len(m.data.valid), m.data.test.Documents.Rows(), norm)
	chosen, err := m.validate(ctx, rows)
	if err != nil {
		return err
	}
	return m.measure(ctx, rows, chosen)
}

// settings are those of a kernel with a C in multiples of 1 / mean k(x,x), and the key of a result
// that they lead to.
func (m *measurement) settings(spec string, c float64) (s svm.Settings, key string, err error) {
	k, err := kernel.ParseIn(spec, m.embedding)
	if err != nil {
		return s, "", err
	}
	mean := 0.
	for _, n := range m.norms {
		mean += k.Eval(0, n, n) / float64(len(m.norms))
	}
	if !(mean > 0) || math.IsInf(mean, 0) || mean > math.MaxFloat32 {
		return s, "", fmt.Errorf("%s: the mean of k(x,x) is %v, expected a positive number that a float32 holds", k,
			mean)
	}
	key = fmt.Sprintf("%s C=%v", k, c)
	return svm.Settings{Kernel: k, C: c / mean, Scheme: m.p.solverScheme()}, key, nil
}

// between are the factors of a finer search, within the decades on both sides.
var between = []float64{0.2, 0.5, 2, 5}

// validate chooses C, and a scale, for each row by the error on the validation set: the first of
// the best. With -fine values of C around the best follow.
func (m *measurement) validate(ctx context.Context, rows []row) (chosen []tried, err error) {
	total := 0
	for _, row := range rows {
		if n := len(row.specs) * len(m.p.c); n > 1 || m.p.fine {
			total += n
		}
	}
	if m.p.fine {
		total += len(rows) * len(between)
	}
	d := m.data
	test := sync.OnceValue(func() *corpus.Corpus { return d.train.Select(d.valid) })
	train := func() *corpus.Corpus { return d.train.Select(d.fit) }
	session := m.r.NewSession(m.set.name+", validation", train, 2*d.bytes(), m.report)
	defer func() { err = errors.Join(err, session.Close()) }()
	step := m.r.Counter(m.set.name+": validation", 0, int64(total))
	for _, row := range rows {
		best := tried{spec: row.specs[0], c: m.p.c[0], failed: math.NaN()}
		if row.scales != nil {
			best.scale = row.scales[0]
		}
		try := func(next tried) error {
			next.failed, err = m.try(ctx, session, test, next.spec, next.c)
			if step(); err == nil && !(next.failed >= best.failed) {
				best = next
			}
			return err
		}
		for k, spec := range row.specs {
			if len(row.specs)*len(m.p.c) == 1 && !m.p.fine {
				continue
			}
			for _, c := range m.p.c {
				next := tried{spec: spec, c: c}
				if row.scales != nil {
					next.scale = row.scales[k]
				}
				if err := try(next); err != nil {
					return nil, err
				}
			}
		}
		coarse := best
		for k := 0; m.p.fine && k < len(between); k++ {
			if err := try(tried{coarse.spec, coarse.scale, coarse.c * between[k], 0}); err != nil {
				return nil, err
			}
		}
		chosen = append(chosen, best)
	}
	return chosen, nil
}

// try returns the error on the validation set.
func (m *measurement) try(ctx context.Context, session *repro.Session, test func() *corpus.Corpus, spec string,
	c float64) (failed float64, err error) {
	s, key, err := m.settings(spec, c)
	if err != nil {
		return 0, err
	}
	if failed, done := m.failed[key]; done {
		return failed, nil
	}
	o, err := session.Test(ctx, s, test())
	if err != nil {
		return 0, err
	}
	m.failed[key] = float64(o.Wrong()) / float64(len(o.Right))
	return m.failed[key], nil
}

// measure trains each kernel on all training documents and fills the table, also where the context
// ends on the way.
func (m *measurement) measure(ctx context.Context, rows []row, chosen []tried) (err error) {
	session := m.r.NewSession(m.set.name, func() *corpus.Corpus {
		runtime.GC() // the matrix without the validation set goes before that of all documents comes
		debug.FreeOSMemory()
		return m.data.train
	}, m.data.bytes(), m.report)
	var outcomes []repro.Outcome
	defer func() {
		m.fill(rows[:len(outcomes)], chosen, outcomes)
		err = errors.Join(err, session.Close())
	}()
	step := m.r.Counter(m.set.name+": test", 0, int64(len(rows)))
	for _, t := range chosen {
		s, key, err := m.settings(t.spec, t.c)
		if err != nil {
			return err
		}
		found, done := m.tested[key]
		if !done {
			if found, err = session.Test(ctx, s, m.data.test); err != nil {
				return err
			}
			m.tested[key] = found
		}
		outcomes = append(outcomes, found)
		step()
	}
	return nil
}
