package main

import (
	"context"
	"fmt"
	"io"

	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/solver/model"
	"github.com/gramengine/gram/solver/svm"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles"
)

// newProblem makes a corpus ready for training: what that takes is held against -m first. The caller lets go of the corpus afterwards, so that its
// memory serves the matrix.
func (s *svmFlags) newProblem(ctx context.Context, e *env, p *progress, c *sparse.Corpus, embedding sparse.Embedding) (*svm.Problem, error) {
	f := s.f
	embedded, inEngine := workBytes(c.Documents)
	what := fmt.Sprintf("preparing %s for training", counted(c.Documents.Rows(), "document", "documents"))
	if err := f.fits(what, runtimeBytes+c.Documents.Bytes()+max(embedded, inEngine)); err != nil {
		return nil, err
	}
	opt := svm.Options{ISA: f.isa, Workers: f.workers, MemoryBytes: f.budget(), HeldBytes: runtimeBytes + s.kept, Once: s.once, Progress: p.training}
	if !f.ofSets() && f.jobBackend(c.Documents.Rows()) == string(cudaBackend) { // which compares no sets
		opt.Device, opt.Place = f.loadGPU, s.place
	}
	if s.tiles != "" {
		var err error
		if opt.Store, err = tiles.OpenStore(s.tiles); err != nil {
			return nil, fmt.Errorf("-tiles: %w", err)
		}
	}
	p.stage("preparing documents")
	problem, err := svm.NewProblem(ctx, c, embedding, opt)
	p.clear()
	if err != nil {
		return nil, nameValue(c, err)
	}
	if opt.Store != nil && !problem.Cache().Whole {
		n := int64(problem.Len())
		warn(e.stderr, fmt.Sprintf("-tiles serves nothing: the matrix, %s, doesn't fit into memory (-m)", formatBytes(4*n*n)))
	}
	return problem, nil
}

// checkSolver takes the place of the solver from its flag.
func (s *svmFlags) checkSolver() error {
	switch s.solver {
	case "auto":
	case "cpu":
		s.place = svm.PlaceProcessor
	case "cuda", "gpu":
		if s.f.backend != string(cudaBackend) {
			return usagef("-solver %s works on rows that the GPU computes, expected -backend cuda with it", s.solver)
		}
		s.place = svm.PlaceDevice
	default:
		return usagef("-solver %q, expected auto, cpu or cuda", s.solver)
	}
	return nil
}

// warnStore warns where tiles that were computed couldn't be kept for later runs: -tiles serves nothing then, or less than it could.
func (s *svmFlags) warnStore(e *env, problem *svm.Problem) {
	if problem == nil {
		return
	}
	if c := problem.Cache(); c.StoreErr != nil {
		warn(e.stderr, fmt.Sprintf("-tiles %s: %s kept, then no more: %v", s.tiles, counted(c.Saved, "tile file", "tile files"), c.StoreErr))
	}
}

// warnUnplaced warns where the solver's rows and scores weren't kept where -solver auto would have them.
func warnUnplaced(e *env, why string) {
	if why != "" {
		warn(e.stderr, why)
	}
}

// checkLabels holds that the labels of a corpus suit what is to be trained, and warns of documents without one.
func (s *svmFlags) checkLabels(e *env, c *sparse.Corpus, settings svm.Settings) error {
	if settings.Type == model.OneClass {
		return nil // looks at no labels
	}
	unlabelled, first := 0, 0
	for i := range c.Documents.Rows() {
		if len(c.Labels.Of(i)) == 0 {
			if unlabelled == 0 {
				first = i
			}
			unlabelled++
		}
	}
	least := 1
	if settings.Type.Classifies() && settings.Scheme != solver.Labels {
		least = 2
	}
	switch {
	case len(c.Classes) < least && settings.Type.Classifies():
		return fmt.Errorf("%s has %s, expected at least %d to tell apart (-type one_class learns from one, without labels)",
			c.Source, counted(len(c.Classes), "class", "classes"), least)
	case unlabelled > 0 && !settings.Type.Classifies():
		return fmt.Errorf("%s of %s has no label, expected a number for each: regression estimates the labels", documentName(c, first), c.Source)
	case unlabelled > 0 && settings.Scheme != solver.Labels: // to labels these are documents without any of them
		warn(e.stderr, fmt.Sprintf("no label, left out of training (%s), first at %s", counted(unlabelled, "document", "documents"), documentName(c, first)))
	}
	return nil
}

// warn prints a warning.
func warn(w io.Writer, message string) { fmt.Fprintln(w, "grambench: warning:", message) }
