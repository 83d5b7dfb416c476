// Package knn classifies documents by their nearest neighbours: the k training documents of the
// greatest kernel values vote for their classes, each by its value. There is nothing to train, a
// model is its documents; neighbours come from engine.Neighbours, all pairs compared.
//
// It is the baseline that metrics are compared with. Models of any numbers of neighbours and any kernels of c find
// neighbours once ([TrainAll]): they are the same for all of these kernels, and those for a smaller k begin the list
// for a greater one.
//
// Source: Cover and Hart, IEEE Trans. Inf. Theory 13 (1967); weighted votes: Dudani, IEEE Trans.
// SMC 6 (1976).
package knn

import (
	"context"
	"fmt"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Settings say how documents are classified.
type Settings struct {
	K      int    `param:"k" default:"5" min:"1" max:"1048576" help:"neighbours that vote"`
	Kernel string `param:"kernel" default:"bhattacharyya" flag:""` // specification, as kernel.Parse takes it

	// Uniform gives each neighbour one vote, in place of its kernel value. Values that aren't above 0
	// are no votes, so kernels that have no others, such as ngd, need it.
	Uniform bool `param:"uniform" help:"one vote for each, in place of the kernel's value"`

	// Scheme is solver.Labels for labels that are decided one by one: a document gets those with
	// more than half of the votes. Otherwise it gets the class with the most, of equal ones that of
	// the nearest neighbour.
	Scheme solver.Scheme `param:"scheme" default:"one-vs-rest" min:"1" max:"2" flag:""`
}

// resolve fills in defaults and checks what is there.
func (s Settings) resolve() (Settings, kernel.Kernel, error) {
	if err := params.Resolve(&s); err != nil {
		return s, nil, fmt.Errorf("knn: %w", err)
	}
	k, err := kernel.Parse(s.Kernel)
	if err != nil {
		return s, nil, fmt.Errorf("knn: kernel: %w", err)
	}
	if s.Kernel = k.String(); !s.Uniform && !votes(k) {
		return s, nil, nobody(k, "")
	}
	return s, k, nil
}

func nobody(k kernel.Kernel, where string) error {
	return fmt.Errorf("knn: the values of kernel %s are never above 0%s, so no neighbour has a vote, expected another "+
		"kernel, or one vote for each neighbour (Uniform)", k, where)
}

// votes reports whether values of a kernel may be above 0, as far as that is known without documents:
// of one that falls with c alone by its value at c = 0, which is the greatest.
func votes(k kernel.Kernel) bool {
	switch p := kernel.PropertiesOf(k); {
	case p.NonPositive:
		return false
	case p.PositiveDiagonal || !kernel.FallsWithC(k):
		return true
	}
	table, err := asm.For(asm.Generic)
	if err != nil {
		return true
	}
	value := []float32{0}
	err = kernel.Apply(kernel.Resolve(k, 2), table, value, value, nil, nil)
	return err != nil || value[0] > 0
}

// Validate reports settings that make no sense.
func (s Settings) Validate() error {
	_, _, err := s.resolve()
	return err
}

// Options say how neighbours are found, not which. The zero value works.
type Options struct {
	ISA         string                // instruction set; default the best
	Workers     int                   // goroutines; default one a processor. Results don't depend on it
	MemoryBytes int64                 // bound on what is held beside the documents; default none
	Progress    func(engine.Progress) // see engine.Options; default none
}

func (o Options) engine() engine.Options {
	return engine.Options{ISA: o.ISA, Workers: o.Workers, MemoryBytes: o.MemoryBytes, Progress: o.Progress}
}

// Model is documents with their classes. It is immutable and may be used concurrently.
type Model struct {
	archive.Origin
	Settings  Settings
	Documents *sparse.CSR   // those that have a class, or all of separate labels
	Labels    sparse.Labels // their classes

	shared *shared // nil of a model by itself
}

// Train makes a model of a corpus, whose documents it keeps; they must stay unchanged. Of one class
// for each document, those without one are left out. Errors: settings that [Settings.Validate]
// refuses, values that the kernel's embedding refuses, no documents,
// several classes of a document where it may have one.
func Train(c *corpus.Corpus, s Settings) (*Model, error) {
	s, k, err := s.resolve()
	if err != nil {
		return nil, err
	}
	m := &Model{Origin: archive.OriginOf(c, c.Digest()), Settings: s}
	if err := takes(k, c.Documents, s.Uniform); err != nil {
		return nil, err
	}
	if c = labelled(c, s.Scheme); c.Documents.Rows() == 0 {
		return nil, fmt.Errorf("knn: %s has no documents with a class, expected some", c.Source)
	}
	m.Documents, m.Labels = c.Documents, c.Labels
	for i := range m.Documents.Rows() {
		if n := len(m.Labels.Of(i)); n > 1 && s.Scheme != solver.Labels {
			return nil, fmt.Errorf("knn: %s has %d classes, expected one", c.DocumentName(i), n)
		}
	}
	return m, nil
}

// TrainAll is [Train] for each of some settings. A document's neighbours are found once for all models whose kernels
// fall with c and have the same embedding, if they predict the same matrix of documents one after the other.
func TrainAll(c *corpus.Corpus, settings []Settings) (out []*Model, err error) {
	by := map[sparse.Embedding]*shared{}
	for _, s := range settings {
		m, err := Train(c, s)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
		k, err := kernel.Parse(m.Settings.Kernel)
		if err != nil || !kernel.FallsWithC(k) {
			continue
		}
		e := k.Embedding()
		if by[e] == nil {
			by[e] = &shared{}
		}
		m.shared = by[e]
		m.shared.most = max(m.shared.most, m.Settings.K)
	}
	return out, nil
}

// takes reports the first value that a kernel's embedding doesn't take, the first document whose
// value with itself isn't finite, and a kernel by which no document would vote, not even for itself,
// where nothing is above that: for norms given it falls with c, and of two norms the greater has it.
// It embeds some documents at a time.
func takes(k kernel.Kernel, docs *sparse.CSR, uniform bool) error {
	const some = 4096
	fitted := k.Embedding().Fit(docs)
	table, err := asm.For(asm.Generic)
	if err != nil {
		return err
	}
	k = kernel.Resolve(k, len(fitted.Terms))
	above := uniform || docs.Rows() == 0 || !kernel.PropertiesOf(k).Falling
	for lo := 0; lo < docs.Rows(); lo += some {
		rows := run.Numbers(lo, min(lo+some, docs.Rows()))
		x, err := fitted.TransformRows(context.Background(), docs, rows, 0)
		if err != nil {
			return err
		}
		for i := range rows {
			own, norm := []float32{0}, []float32{0}
			if kernel.UsesNorms(k) {
				norm[0] = float32(x.Norms[i])
			}
			if err := kernel.Apply(k, table, own, own, norm, norm); err != nil {
				return err
			}
			if own[0]-own[0] != 0 {
				return &sparse.PairError{Kernel: k.String(), Row: lo + i, Column: lo + i, Value: own[0]}
			}
			above = above || own[0] > 0
		}
	}
	if !above {
		return nobody(k, " on these documents")
	}
	return nil
}

// labelled returns the corpus without documents that have nothing to say.
func labelled(c *corpus.Corpus, scheme solver.Scheme) *corpus.Corpus {
	var have []int
	for i := range c.Documents.Rows() {
		if scheme == solver.Labels || len(c.Labels.Of(i)) > 0 {
			have = append(have, i)
		}
	}
	if len(have) == c.Documents.Rows() {
		return c
	}
	return c.Select(have)
}

// Validate checks what a file may have wrong: the kernel, documents, the vocabulary, labels, names of classes.
func (m *Model) Validate() error {
	s, _, err := m.Settings.resolve()
	if err != nil {
		return err
	}
	if err := m.Tokenizer.Validate(); err != nil {
		return err
	}
	c := &corpus.Corpus{Documents: m.Documents, Vocabulary: m.Vocabulary, Classes: m.Classes, Labels: m.Labels}
	if err := c.Validate(); err != nil {
		return err
	}
	if name, twice := archive.Repeated(m.Classes); twice || len(m.Classes) == 0 || m.Documents.Rows() == 0 {
		return fmt.Errorf("%d documents of %d classes, %q twice, expected some, and different names", m.Documents.Rows(),
			len(m.Classes), name)
	}
	for i := range m.Documents.Rows() {
		if n := len(m.Labels.Of(i)); n != 1 && s.Scheme != solver.Labels {
			return fmt.Errorf("document %d has %d classes, expected 1", i, n)
		}
	}
	return nil
}

// Bytes returns about what the model holds.
func (m *Model) Bytes() int64 { return m.Documents.Bytes() + 16*int64(m.Documents.Rows()) }

// commonest returns the class of the most documents, the first of equals.
func commonest(count []int) int {
	best := 0
	for k, n := range count {
		if n > count[best] {
			best = k
		}
	}
	return best
}
