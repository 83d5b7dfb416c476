package learners

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn/model"
)

// precomputed reports whether the source is a precomputed Gram matrix.
func (m *machine) precomputed() bool {
	return m.number == slices.Index(kernelNames, model.Precomputed) ||
		len(m.Specs) == 1 && m.Specs[0] == model.Precomputed
}

// checkPrecomputed checks that other flags are valid with a precomputed Gram matrix.
func (m *machine) checkPrecomputed() error {
	for flag, given := range map[string]bool{
		"embed": m.Embedding != "", "min-df": m.MinDF > 0,
		"max-df": m.MaxDF > 0, "backend cuda": m.OnGPU(),
	} {
		if given {
			return cli.Usagef("-%s and a precomputed kernel cannot be combined", flag)
		}
	}
	return nil
}

// Read reads the corpus. If the source is a Gram matrix, each row is a document.
func (m *machine) Read(ctx context.Context, e *cli.Env, p *cli.Progress) (*corpus.Corpus, error) {
	documents := m.Documents
	if m.precomputed() {
		documents.ZeroBased = "true" // rows begin with 0:serial
	}
	c, err := documents.Read(ctx, e, p)
	switch {
	case err != nil && m.learner.Type != "" && strings.Contains(err.Error(), "-signed"):
		return nil, fmt.Errorf("%w; the RBF kernel (-t 2) accepts negative values", err)
	case err != nil || !m.precomputed():
		return c, err
	}
	return c, kernelRows(c)
}

// kernelRows converts the documents of a corpus to rows of kernel values.
func kernelRows(c *corpus.Corpus) (err error) {
	if c.Vocabulary != nil {
		return fmt.Errorf("%s contains text, but a precomputed kernel requires a Gram matrix (svm-train -t 4 or .npy)",
			c.Source)
	}
	c.Documents, err = c.KernelRows()
	return err
}
