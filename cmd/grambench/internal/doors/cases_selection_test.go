package doors

import (
	"fmt"

	"github.com/gramengine/gram/learn/selection"
)

func selectionCases() map[string]testCase {
	return map[string]testCase{
		"selection.Rank":         {run: ranking},
		"selection.Ranking.Best": {run: ranking},
		"selection.Keep":         {run: ranking, panics: true},
	}
}

func ranking(p *program) {
	c := p.corpus(2)
	var r *selection.Ranking
	opt := selection.Options{Bins: pick(p, 0, 2, 50), Workers: pick(p, 0, 1, 3)}
	p.any(fmt.Sprintf("%+v", opt), func() (err error) { // it may have no documents with one class
		r, err = selection.Rank(p.ctx, c, opt)
		return err
	})
	n := p.odd()
	p.quiet(fmt.Sprint("the best ", n), func() {
		best := r.Best(n)
		if r != nil {
			finite(p, "bits", r.Bits)
			kept := selection.Keep(c.Documents, best)
			if err := kept.Validate(); err != nil {
				p.fails("kept: %v", err)
			}
		}
	})
	broken, what := p.brokenCorpus(2)
	p.bad(what, func() error { _, err := selection.Rank(p.ctx, broken, opt); return err })
	p.bad("nothing", func() error { _, err := selection.Rank(p.ctx, nil, opt); return err })
	for _, bad := range []selection.Options{{Bins: 1}, {Bins: 1 << 20}, {Workers: -1}} {
		p.bad(fmt.Sprintf("%+v", bad), func() error { _, err := selection.Rank(p.ctx, c, bad); return err })
	}
}
