package main

import (
	"context"
	"fmt"
	"io"

	"github.com/gramengine/gram/solver/svm"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles"
)

// newProblem makes a corpus ready for training: what that takes is held against -m first. The caller lets go of the corpus afterwards, so that its
// memory serves the matrix.
func (s *svmFlags) newProblem(ctx context.Context, p *progress, c *sparse.Corpus, embedding sparse.Embedding) (*svm.Problem, error) {
	f := s.f
	embedded, inEngine := workBytes(c.Documents)
	what := fmt.Sprintf("preparing %s for training", counted(c.Documents.Rows(), "document", "documents"))
	if err := f.fits(what, runtimeBytes+max(2*c.Documents.Bytes()+embedded, c.Documents.Bytes()+inEngine)); err != nil { // the corpus, and itself in another order
		return nil, err
	}
	opt := svm.Options{ISA: f.isa, Workers: f.workers, MemoryBytes: f.budget(), HeldBytes: runtimeBytes, Progress: p.training}
	if s.tiles != "" {
		var err error
		if opt.Store, err = tiles.OpenStore(s.tiles); err != nil {
			return nil, fmt.Errorf("-tiles: %w", err)
		}
	}
	p.stage("preparing documents")
	problem, err := svm.NewProblem(ctx, c, embedding, opt)
	p.clear()
	return problem, err
}

// warnUnlabelled says how many documents have no label, which training leaves out.
func warnUnlabelled(w io.Writer, c *sparse.Corpus) {
	n, first := 0, 0
	for i := range c.Documents.Rows() {
		if len(labelsOf(c, i)) == 0 {
			if n == 0 {
				first = i
			}
			n++
		}
	}
	if n > 0 {
		fmt.Fprintf(w, "grambench: warning: no label, left out of training (%s), first at %s\n", counted(n, "document", "documents"), documentName(c, first))
	}
}
