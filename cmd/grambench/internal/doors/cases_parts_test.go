package doors

import (
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// groups divides a training and does a part of it.
func groups(p *program) {
	n := p.matrixSize()
	t := solver.Training{Labels: make([]int, n), Classes: pick(p, 2, 3, 5), Scheme: pick(p, solver.OneVsOne,
		solver.OneVsRest)}
	for i := range t.Labels {
		t.Labels[i] = p.IntN(min(t.Classes, 3)) - pick(p, 0, 0, 0, 1)
	}
	t.Labels[0], t.Labels[n-1] = 0, 1
	m := p.gramOf(n)
	var all [][]int
	if !p.good(fmt.Sprintf("%+v", t), func() (err error) { all, err = t.Groups(n, true); return err }) {
		return
	}
	own := t
	own.Only = pick(p, all...)
	p.good(fmt.Sprint("only ", own.Only), func() error {
		c, err := solver.Train(p.ctx, m, own, solver.Options{})
		if err == nil && c.Machines[own.Only[0]] == nil {
			p.fails("machine %d wasn't trained", own.Only[0])
		}
		return err
	})
	own.Only = []int{p.outside(len(all) + len(slices.Concat(all...)))}
	if own.Only[0] < 0 || own.Only[0] > 100 {
		p.bad(fmt.Sprint("only ", own.Only), func() error {
			_, err := solver.Train(p.ctx, m, own, solver.Options{})
			return err
		})
	}
	p.bad("more documents", func() error { _, err := t.Groups(n+1, true); return err })
	p.bad("odd documents", func() error { _, err := t.Groups(pick(p, -1, math.MinInt, math.MaxInt), true); return err })
	bad, why := p.badParameters()
	own = t
	own.Parameters = bad
	p.bad(why, func() error { _, err := own.Groups(n, false); return err })
	own = t
	own.Parts = make([]int, n)
	p.bad("thresholds of one class", func() error { _, err := own.Groups(n, false); return err })
	own = t
	own.Classes = pick(p, -1, 0, math.MinInt, math.MaxInt)
	p.bad(fmt.Sprint(own.Classes, " classes"), func() error { _, err := own.Groups(n, false); return err })
}

// trainMachines trains machines by themselves and puts them together.
func trainMachines(p *program) {
	pr, _ := p.problem(pick(p, 2, 3))
	s := svm.Settings{Scheme: pick(p, solver.OneVsOne, solver.OneVsRest, solver.Labels)}
	var all [][]int
	if !p.good(s.Scheme.String(), func() (err error) { all, err = pr.Machines(s); return err }) {
		return
	}
	var parts []*solver.Classifier
	for _, some := range all {
		p.good(fmt.Sprint("machines ", some), func() error {
			c, err := pr.TrainMachines(p.ctx, s, some)
			parts = append(parts, c)
			return err
		})
	}
	assemble := func(s svm.Settings, parts []*solver.Classifier) func() error {
		return func() error {
			m, _, err := pr.Assemble(s, parts)
			if err == nil {
				err = m.Validate()
			}
			return err
		}
	}
	p.good("Assemble", assemble(s, parts))
	p.bad("Assemble a part twice", assemble(s, append(slices.Clone(parts), parts[0])))
	p.bad("Assemble no parts", assemble(s, nil))
	p.bad("Assemble a nil part", assemble(s, append(slices.Clone(parts), nil)))
	p.bad("Assemble the zero value", assemble(s, []*solver.Classifier{{}}))
	other := s
	other.Scheme = pick(p, solver.Scheme(-1), 9)
	p.bad("no scheme", func() error { _, err := pr.Machines(other); return err })
	p.bad("no machines", func() error { _, err := pr.TrainMachines(p.ctx, s, nil); return err })
	i := pick(p, -1, 3, math.MaxInt, math.MinInt)
	p.bad(fmt.Sprint("machine ", i), func() error { _, err := pr.TrainMachines(p.ctx, s, []int{i}); return err })
	bad, why := p.badSettings()
	p.bad(why, func() error { _, err := pr.TrainMachines(p.ctx, bad, []int{0}); return err })
	kernel := svm.Settings{Kernel: engine.MustParseKernel("linear")}
	p.bad("Machines of a kernel of another embedding", func() error { _, err := pr.Machines(kernel); return err })
	p.bad("Assemble by a kernel of another embedding", assemble(kernel, parts))
}

// searchTasks does a search in tasks.
func searchTasks(p *program) {
	pr, _ := p.problem(2)
	g := svm.Grid{C: []float64{1, 10}, Folds: 2}
	terms := func(int, sparse.Embedding) (int, error) { return pr.Terms(), nil }
	var tasks *svm.SearchTasks
	if !p.good("two tasks", func() (err error) { tasks, err = svm.NewSearchTasks(svm.Settings{}, g, terms); return err }) {
		return
	}
	var found []*svm.SearchOutcome
	for task := range tasks.Len() {
		p.any(fmt.Sprint("task ", task), func() error { // of few documents a fold may leave one class
			out, err := tasks.Do(p.ctx, pr, task)
			if err == nil {
				found = append(found, out)
			}
			return err
		})
	}
	for _, i := range []int{-1, tasks.Len(), p.odd()} {
		if p.door == "svm.SearchTasks.Needs" {
			p.attempt(fmt.Sprint("Needs ", i), func() error { tasks.Needs(i); return nil })
		}
		if i < 0 || i >= tasks.Len() {
			p.bad(fmt.Sprint("task ", i), func() error { _, err := tasks.Do(p.ctx, pr, i); return err })
		}
	}
	p.bad("no problem", func() error { _, err := tasks.Do(p.ctx, nil, 0); return err })
	p.any("Validate", func() error { return tasks.Validate(pr) })
	p.bad("Validate no problem", func() error { return tasks.Validate(nil) })
	problem := func(int, sparse.Embedding) (*svm.Problem, error) { return pr, nil }
	assemble := func(found []*svm.SearchOutcome) func() error {
		return func() error {
			r, err := tasks.Assemble(p.ctx, problem, func(task int) (*svm.SearchOutcome, error) { return found[task], nil })
			if err == nil && len(r.Points) != 2 {
				p.fails("%d points, expected 2", len(r.Points))
			}
			return err
		}
	}
	if len(found) == tasks.Len() {
		p.good("Assemble", assemble(found))
		p.bad("Assemble nothing", assemble(make([]*svm.SearchOutcome, tasks.Len())))
		p.bad("Assemble the zero value", assemble([]*svm.SearchOutcome{{}, {}}))
		spoilt := *found[0]
		spoilt.Fits = [][]svm.FoldOutcome{{spoilt.Fits[0][0], {Support: -1, Class: []int{p.odd()}}}}
		p.bad("Assemble what was changed", assemble([]*svm.SearchOutcome{&spoilt, found[1]}))
	}
	p.bad("Assemble without functions", func() error { _, err := tasks.Assemble(p.ctx, nil, nil); return err })
	p.bad("without terms", func() error { _, err := svm.NewSearchTasks(svm.Settings{}, g, nil); return err })
	g.Folds = pick(p, 1, -1, math.MinInt, math.MaxInt)
	divide := func() error { _, err := svm.NewSearchTasks(svm.Settings{}, g, terms); return err }
	p.bad(fmt.Sprint(g.Folds, " folds"), divide)
	g.Folds, g.Kernels = 2, []engine.Kernel{nil}
	p.bad("a nil kernel", divide)
}

// gramOf computes the matrix of some documents.
func gramOf(p *program) {
	k := p.kernelOrOwn()
	e, _ := p.engineOf(k)
	n := e.Len()
	var docs []int
	for i := range n {
		if p.chance(2) {
			docs = append(docs, i)
		}
	}
	p.good(fmt.Sprint(docs, " of ", n, " by ", k), func() error {
		g, err := e.GramOf(p.ctx, k, docs)
		if err == nil {
			if g.N != len(docs) || len(g.Data) != g.N*g.N {
				p.fails("%d rows and %d values, expected those of %d documents", g.N, len(g.Data), len(docs))
			}
			p.defined("GramOf", k, g.Data)
		}
		return err
	})
	bad := append(slices.Clone(docs), pick(p, p.outside(n), 0))
	if len(docs) > 0 {
		p.bad(fmt.Sprint(bad), func() error { _, err := e.GramOf(p.ctx, k, bad); return err })
	}
	u, why := p.unsuited(k)
	p.bad("of "+why, func() error { _, err := e.GramOf(p.ctx, u, docs); return err })
}

// neighbourBlocks finds the neighbours of a block and merges them.
func neighbourBlocks(p *program) {
	k := p.kernelOrOwn()
	e, _ := p.engineOf(k)
	n := e.Len()
	opt := engine.NeighbourOptions{Count: pick(p, 1, 2, 10, 200)}
	cut := p.IntN(n + 1)
	rows, columns := [2]int{0, cut}, [2]int{cut, n}
	if p.chance(2) {
		columns = rows
	}
	var block *engine.NeighbourBlock
	find := func(rows, columns [2]int, k engine.Kernel, opt engine.NeighbourOptions) func() error {
		return func() (err error) { block, err = e.NeighbourBlock(p.ctx, k, rows, columns, opt); return err }
	}
	merge := func(parts [][][]engine.Neighbour, k engine.Kernel, opt engine.NeighbourOptions) func() error {
		return func() error { _, err := e.MergeNeighbours(p.ctx, k, parts, opt); return err }
	}
	if !p.good(fmt.Sprint(rows, columns, " by ", k), find(rows, columns, k, opt)) {
		return
	}
	lists := block.Rows
	if len(lists) != cut {
		p.fails("lists of %d rows, expected %d", len(lists), cut)
	}
	p.good("merged", merge([][][]engine.Neighbour{lists}, k, opt))
	p.bad("nothing merged", merge(nil, k, opt))
	p.bad("other numbers of documents", merge([][][]engine.Neighbour{lists, make([][]engine.Neighbour, cut+1)}, k,
		opt))
	p.bad("a document that there isn't", merge([][][]engine.Neighbour{{{{Document: uint32(n)}}}}, k, opt))
	p.bad("NaN", merge([][][]engine.Neighbour{{{{Value: float32(math.NaN())}}}}, k, opt))
	none := engine.NeighbourOptions{Count: -p.IntN(3)}
	p.bad("no neighbours", find(rows, columns, k, none))
	p.bad("no neighbours merged", merge([][][]engine.Neighbour{lists}, k, none))
	out := [2]int{0, p.outside(n + 1)}
	p.bad(fmt.Sprint("columns ", out), find(rows, out, k, opt))
	p.bad(fmt.Sprint("rows ", out), find(out, columns, k, opt))
	if n > 1 {
		p.bad("ranges that overlap", find([2]int{0, n}, [2]int{1, n}, k, opt))
	}
	u, why := p.unsuited(k)
	p.bad("of "+why, find(rows, columns, u, opt))
	p.bad("merged by "+why, merge([][][]engine.Neighbour{lists}, u, opt))
}
