package repro

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/solver/svm"
	"github.com/gramengine/gram/sparse"
)

// choBase is a set with what kernels and C are scaled by.
type choBase struct {
	p         *choProtocol
	r         *Run
	set       *choSet
	data      *choData
	digest    string
	embedding sparse.Embedding
	norms     []float64 // of the embedded training documents
	report    *Report

	failed map[string]float64 // error on the validation set, by key: two families may have the same kernel
	cells  map[string]choCell // by key
}

// choTried is a kernel with a C, and how it did on the validation set.
type choTried struct {
	spec   string
	scale  float64 // of gamma; 0 where there is none
	c      float64 // in multiples of 1 / mean k(x,x)
	failed float64 // part of the validation set; NaN where nothing had to be chosen
}

// choCell is a row: what was chosen for it, and what is kept, how that did on the test set.
type choCell struct {
	choTried
	Wrong     int `json:"wrong"`
	Documents int `json:"documents"`
	Support   int `json:"support"`
}

// set measures all kernels on a set: first C for all of them, on a matrix without the validation set, then the test errors, on the matrix of all.
func (p *choProtocol) set(ctx context.Context, r *Run, s *choSet, table *Table, report *Report) error {
	data, err := p.read(ctx, r, s)
	if err != nil {
		return err
	}
	b := &choBase{p: p, r: r, set: s, data: data, digest: digestOf(data.train) + " " + digestOf(data.test), report: report, failed: map[string]float64{}, cells: map[string]choCell{}}
	if b.embedding, err = sparse.ParseEmbedding(b.embed()); err != nil {
		return err
	}
	x, err := b.embedding.Fit(data.train.Documents).Transform(data.train.Documents)
	if err != nil {
		return err
	}
	b.norms = x.Norms
	x = nil
	norm, squared := 0., 0.
	for _, n := range b.norms {
		norm, squared = norm+n/float64(len(b.norms)), squared+n*n/float64(len(b.norms))
	}
	if !(norm > 0) {
		return fmt.Errorf("%s: the training documents are empty", s.name)
	}
	rows := p.kernels(norm, squared)
	report.Set(s.name, "%d documents for training, %d of them for validation, %d for testing; mean norm %.4g", data.train.Documents.Rows(), len(data.valid), data.test.Documents.Rows(), norm)
	chosen, err := b.validate(ctx, rows)
	if err != nil {
		return err
	}
	return b.measure(ctx, rows, chosen, table)
}

// embed names the embedding.
func (b *choBase) embed() string {
	if b.set.text {
		return b.p.embed
	}
	return "tf"
}

// kernel returns the kernel of a specification, and the mean of k(x,x) over the training documents.
func (b *choBase) kernel(spec string) (engine.Kernel, float64, error) {
	k, err := engine.ParseKernelIn(spec, b.embedding)
	if err != nil {
		return nil, 0, err
	}
	mean := 0.
	for _, n := range b.norms {
		mean += k.Eval(0, n, n) / float64(len(b.norms))
	}
	if !(mean > 0) || math.IsInf(mean, 0) || mean > math.MaxFloat32 {
		return nil, 0, fmt.Errorf("%s: the mean of k(x,x) is %v, expected a positive number that a float32 holds", k, mean)
	}
	return k, mean, nil
}

// settings are those of a kernel with a C in multiples of 1 / mean k(x,x), and the key of a result that they lead to.
func (b *choBase) settings(what, spec string, c float64) (s svm.Settings, key string, err error) {
	k, mean, err := b.kernel(spec)
	if err != nil {
		return s, "", err
	}
	return svm.Settings{Kernel: k, C: c / mean, Scheme: b.p.solverScheme()}, fmt.Sprintf("%s %s %s %s C=%v", b.set.name, b.digest, what, k, c), nil
}

// validate chooses C, and a width, for each row by the error on the validation set: the first of the best.
func (b *choBase) validate(ctx context.Context, rows []choKernel) (chosen []choTried, err error) {
	chosen = make([]choTried, len(rows))
	total := 0
	for _, row := range rows {
		if n := len(row.specs) * len(b.p.c); n > 1 {
			total += n
		}
	}
	base := &choPart{b: b, name: "validation"}
	defer func() { err = errors.Join(err, base.base.close()) }()
	step := b.r.Counter(b.set.name+": validation", 0, int64(total))
	for i, row := range rows {
		best := choTried{spec: row.specs[0], c: b.p.c[0], failed: math.NaN()}
		for k, spec := range row.specs {
			if len(row.specs)*len(b.p.c) == 1 {
				continue
			}
			for _, c := range b.p.c {
				failed, err := b.tried(ctx, base, spec, c)
				if err != nil {
					return nil, err
				}
				step()
				if math.IsNaN(best.failed) || failed < best.failed {
					best = choTried{spec: spec, c: c, failed: failed}
					if row.scales != nil {
						best.scale = row.scales[k]
					}
				}
			}
		}
		if row.scales != nil && best.scale == 0 {
			best.scale = row.scales[0]
		}
		chosen[i] = best
	}
	return chosen, nil
}

// choPart is what a phase trains on, made when something isn't known yet.
type choPart struct {
	b    *choBase
	name string
	base *classifying
	test *sparse.Corpus
}

// run trains and tests.
func (p *choPart) run(ctx context.Context, s svm.Settings) (*outcome, error) {
	b := p.b
	switch {
	case p.base != nil:
	case p.name == "validation":
		p.test = b.data.train.Select(b.data.valid)
		p.base = b.r.classifying(b.set.name+", validation", b.data.train.Select(b.data.fit), 2*b.data.bytes(), b.report)
	default:
		runtime.GC() // the matrix without the validation set goes before that of all documents comes
		debug.FreeOSMemory()
		p.test, p.base = b.data.test, b.r.classifying(b.set.name, b.data.train, b.data.bytes(), b.report)
	}
	return p.base.test(ctx, s, p.test)
}

// tried returns the error on the validation set.
func (b *choBase) tried(ctx context.Context, base *choPart, spec string, c float64) (failed float64, err error) {
	s, key, err := b.settings("validation", spec, c)
	if err != nil {
		return 0, err
	}
	if failed, ok := b.failed[key]; ok {
		return failed, nil
	}
	ok, err := b.r.State.LoadFitting(key, &failed, func() error { return within("part of the validation set", failed, 1) })
	if err != nil {
		return 0, err
	}
	if !ok {
		o, err := base.run(ctx, s)
		if err != nil {
			return 0, err
		}
		failed = float64(o.wrong()) / float64(len(o.Right))
		if err := b.r.State.Save(key, failed); err != nil {
			return 0, err
		}
	}
	b.failed[key] = failed
	return failed, nil
}

// measure trains each kernel on all training documents and fills the table, also where the context ends on the way.
func (b *choBase) measure(ctx context.Context, rows []choKernel, chosen []choTried, table *Table) error {
	base := &choPart{b: b, name: "test"}
	step := b.r.Counter(b.set.name+": test", 0, int64(len(rows)))
	var cells []choCell
	var failed error
	for i := range rows {
		cell, err := b.cell(ctx, base, &chosen[i])
		if failed = err; err != nil {
			break
		}
		cells = append(cells, cell)
		step()
	}
	b.tell(rows[:len(cells)], cells, table)
	return errors.Join(failed, base.base.close())
}

// cell returns the test error of what was chosen.
func (b *choBase) cell(ctx context.Context, base *choPart, t *choTried) (cell choCell, err error) {
	s, key, err := b.settings("test", t.spec, t.c)
	if err != nil {
		return cell, err
	}
	cell, ok := b.cells[key]
	if !ok {
		if ok, err = b.r.State.LoadFitting(key, &cell, func() error { return cell.fits(b.data) }); err != nil {
			return cell, err
		}
	}
	if !ok {
		o, err := base.run(ctx, s)
		if err != nil {
			return cell, err
		}
		cell = choCell{Wrong: o.wrong(), Documents: len(o.Right), Support: o.Support}
		if err := b.r.State.Save(key, cell); err != nil {
			return cell, err
		}
	}
	b.cells[key] = cell
	cell.choTried = *t
	return cell, nil
}
