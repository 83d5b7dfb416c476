package svm

import (
	"fmt"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/solver/model"
	"github.com/gramengine/gram/sparse"
)

// before lists what deserves notice of a problem and of what is to be done with it.
func (p *Problem) before(s *Settings) (warnings []string) {
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	if known := engine.PropertiesOf(s.Kernel); known.Doubtful() != "" {
		switch {
		case known.Definite != engine.ConditionallyPositive:
			warn("the kernel %s need not be positive definite (%s): a machine may end at a solution that isn't the best", s.Kernel, known.Doubtful())
		case s.Type == model.OneClass:
			warn("the kernel %s is conditionally positive definite only, and the coefficients of a machine of one class don't add to 0: it may end at a solution that isn't the best", s.Kernel)
		default:
			warn("the kernel %s is conditionally positive definite only, which is enough: the coefficients of a machine add to 0", s.Kernel)
		}
	}
	if s.Type != model.OneClass && s.Scheme != solver.Labels {
		if n := p.unlabelled(); n > 0 {
			warn("%d documents without a label are left out", n)
		}
	}
	if n := p.Empty(); n > 0 {
		warn("%d documents have no terms that the embedding keeps: they are all the same to the kernel", n)
	}
	if p.opt.Store != nil && !p.cached.Whole() {
		n := int64(p.Len())
		warn("no tile files are read or written: the whole matrix, %s, doesn't fit into the %s that there are for it", sparse.FormatBytes(4*n*n), sparse.FormatBytes(p.budget.tiles))
	}
	return warnings
}

// after lists what deserves notice of a training that has ended.
func (p *Problem) after(r *Report) (warnings []string) {
	if r.Unfinished > 0 {
		warnings = append(warnings, fmt.Sprintf("%d of %d machines ended before they reached the tolerance, the greatest gap is %.3g", r.Unfinished, r.Machines, r.Gap))
	}
	c := p.Cache()
	if c.Damaged > 0 {
		warnings = append(warnings, fmt.Sprintf("%d tile files were damaged and have been computed again", c.Damaged))
	}
	if c.StoreErr != nil {
		warnings = append(warnings, fmt.Sprintf("%d tile files were written, then no more: %v", c.Saved, c.StoreErr))
	}
	return warnings
}

// unlabelled counts the documents without a label.
func (p *Problem) unlabelled() (n int) {
	for i := range p.Len() {
		if len(p.corpus.labels.Of(i)) == 0 {
			n++
		}
	}
	return n
}
