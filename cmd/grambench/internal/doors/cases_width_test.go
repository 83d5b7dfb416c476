package doors

import (
	"fmt"

	"github.com/gramengine/gram/learn/width"
	"gonum.org/v1/gonum/mat"
)

func widthCases() map[string]testCase {
	return map[string]testCase{
		"width.Search":           {run: widths},
		"width.Classify":         {run: widths},
		"width.Table.Best":       {run: widths},
		"width.Options.Progress": {run: widths},
	}
}

// set draws documents of some features.
func (p *program) set(features int) width.Set {
	n := p.matrixSize()
	s := width.Set{Features: mat.NewDense(n, features, nil), Labels: make([]int32, n)}
	for i := range n {
		s.Labels[i] = int32(p.IntN(3))
		for c := range features {
			s.Features.Set(i, c, p.NormFloat64())
		}
	}
	return s
}

func widths(p *program) {
	features := p.matrixSize()
	train, test := p.set(features), p.set(features)
	o := width.Options{Neighbours: pick(p, 0, 1, 7), Workers: pick(p, 0, 1, 3), Widths: pick(p, nil, []int{1, features})}
	var t *width.Table
	p.good("Search", func() (err error) { t, err = width.Search(p.ctx, train, test, o); return err })
	p.quiet("Best", func() {
		w, k, wrong := t.Best()
		if w < 1 || w > features || k < 1 || wrong < 0 || wrong > t.Test {
			p.fails("width %d, k %d, %d of %d wrong", w, k, wrong, t.Test)
		}
	})
	p.good("Classify", func() error {
		classes, err := width.Classify(p.ctx, train, test.Features, 1+p.IntN(features), 1+p.IntN(9), o)
		for _, class := range classes {
			if class < 0 || class > 2 {
				p.fails("class %d", class)
			}
		}
		return err
	})
	search := func(train, test width.Set, o width.Options) func() error {
		return func() error { _, err := width.Search(p.ctx, train, test, o); return err }
	}
	p.bad("Search in nothing", search(width.Set{}, test, o))
	p.bad("Search for nothing", search(train, width.Set{}, o))
	p.bad("Search for other features", search(train, p.set(features+1), o))
	for _, bad := range []width.Options{
		{Neighbours: -1}, {Widths: []int{features + 1}}, {Widths: []int{0}}, {Workers: -1},
	} {
		p.bad(fmt.Sprintf("Search %+v", bad), search(train, test, bad))
	}
	p.bad("Search with progress that panics", search(train, test, width.Options{
		Progress: func(int64, int64) { panic(ownPanic) },
	}))
	short := train
	short.Labels = short.Labels[1:]
	p.bad("Search with too few labels", search(short, test, o))
	spoilt := width.Set{Features: mat.DenseCopyOf(test.Features), Labels: test.Labels}
	spoilt.Features.Set(0, p.IntN(features), p.notFinite())
	p.bad("Search for no numbers", search(train, spoilt, o))
	for w, k := range map[int]int{0: 1, features + 1: 1, 1: 0} {
		p.bad(fmt.Sprint("Classify by ", w, " features, k ", k), func() error {
			_, err := width.Classify(p.ctx, train, test.Features, w, k, o)
			return err
		})
	}
	p.bad("Classify nothing", func() error { _, err := width.Classify(p.ctx, train, nil, 1, 1, o); return err })
}
