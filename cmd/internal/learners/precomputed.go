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

func (m *trainingFlags) isPrecomputed() bool {
	return m.kernelNumber == slices.Index(kernelNames, model.Precomputed) ||
		len(m.Specs) == 1 && m.Specs[0] == model.Precomputed
}

func (m *trainingFlags) checkPrecomputed() error {
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
func (m *trainingFlags) Read(ctx context.Context, e *cli.Env, p *cli.Progress) (*corpus.Corpus, error) {
	documents := m.Documents
	if m.isPrecomputed() {
		documents.ZeroBased = "true" // set because rows begin with 0:serial
	}
	c, err := documents.Read(ctx, e, p)
	switch {
	case err != nil && m.learner.Type != "" && strings.Contains(err.Error(), "-signed"):
		return nil, fmt.Errorf("%w; the RBF kernel (-t 2) accepts negative values", err)
	case err != nil || !m.isPrecomputed():
		return c, err
	}
	return c, toKernelRows(c)
}

// toKernelRows converts the documents of a corpus to rows of kernel values: column j has the kernel
// value with training document j. In LIBSVM's precomputed format (svm-train -t 4),
//
//	label 0:serial 1:K(x, x₁) 2:K(x, x₂) …
//
// a row begins with a serial number, which is dropped. The other columns are numbered from 1.
func toKernelRows(c *corpus.Corpus) error {
	if c.Vocabulary != nil {
		return fmt.Errorf("%s contains text, but a precomputed kernel requires a Gram matrix (svm-train -t 4 or .npy)",
			c.Source)
	}
	if c.Format != corpus.FormatSVMLight {
		return nil
	}
	m, to, from := c.Documents, int64(0), int64(0)
	for i := range m.Rows() {
		end := m.Offsets[i+1]
		if from == end || m.Terms[from] != 0 {
			return fmt.Errorf("%s: row %d must start with 0:serial, because the kernel is precomputed", c.Source, i+1)
		}
		for k := from + 1; k < end; k++ {
			m.Terms[to], m.Values[to] = m.Terms[k]-1, m.Values[k]
			to++
		}
		from, m.Offsets[i+1] = end, to
	}
	m.Cols, m.Terms, m.Values = max(m.Cols-1, 0), m.Terms[:to], m.Values[:to]
	return nil
}
