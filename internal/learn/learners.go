// Package learn holds the contract of learners: what train, cv, grid, predict and explain ask of each,
// and the table of them ([All]). A learner is an entry of the table with an adapter file here, and a
// package below learn that does the work.
package learn

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/flagtext"
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Learner is a kind of model.
type Learner struct {
	Name    string     // the value of -type, which may have parameters after it: NAME:parameter=value,...
	Summary string     // what it is, in a line
	Type    model.Type // of support vector machines; "" of other learners
	Weighs  bool       // it has a use for weights of documents, see corpus.Corpus
	Holds   bool       // its models hold the training documents, which may not change
	Form    string     // how files of its models begin, without the version: "gram logistic "

	// Read reads a model of size bytes, -1 if unknown, to the end of r. It calls early, if not nil, as soon as it knows
	// the tokenizer.
	Read func(ctx context.Context, r io.Reader, size int64, early Early) (Model, error)

	// New returns what trains with the default parameters: a pointer to a struct of them, see package params.
	New func() Trainer
}

// Early takes how documents are read for a model whose file is still being read.
type Early func(corpus.Tokenizer, corpus.Form)

// Reads returns [Learner.Read] of a form of files.
func Reads[M any](
	form *archive.Format[M], model func(*M) Model,
) func(context.Context, io.Reader, int64, Early) (Model, error) {
	return func(ctx context.Context, r io.Reader, size int64, early Early) (Model, error) {
		m, err := form.ReadSized(ctx, r, size, early)
		if err != nil {
			return nil, err
		}
		return model(m), nil
	}
}

// each makes models of what a learner's package trained.
func each[M any](trained []M, model func(M) Model) (out []Model) {
	for _, m := range trained {
		out = append(out, model(m))
	}
	return out
}

// Trainer trains models. It is a pointer to a struct of parameters, see package params.
type Trainer interface {
	// Given reports whether a parameter was set; what isn't may be chosen.
	Given(name string) bool

	// Check reports what makes no sense, before anything is read.
	Check(o Options) error

	// Train trains a model on a corpus, which it may not change, and which the parameters suit, see [Learner.Suit].
	// The model has the same bits from
	// any number of workers.
	Train(ctx context.Context, c *corpus.Corpus, o Options) (Model, error)
}

// Together is a Trainer that trains several of its kind with less work than one after the other.
type Together interface {
	Trainer

	// TrainAll is Train for each of several trainers, which differ in C alone, ascending, if they have a C.
	TrainAll(ctx context.Context, c *corpus.Corpus, o Options, all []Trainer) ([]Model, error)
}

// prices returns the C of trainers.
func prices(all []Trainer) (c []float64) {
	for _, t := range all {
		c = append(c, params.Get(t, "c").(float64))
	}
	return c
}

// Model is what was trained. It may be used concurrently.
type Model interface {
	About() About
	Predict(ctx context.Context, documents *sparse.CSR, o Options) (*model.Prediction, error)
	Write(ctx context.Context, w io.Writer) error
}

// Weighted is a Model that decides by a weight for each term.
type Weighted interface {
	Model

	// Weights returns the weights of each class; columns are the terms that they belong to, one less
	// than there are weights: the last is that of documents without terms. of says what they are
	// weights of, "" for the documents as they are embedded.
	Weights() (weights [][]float64, columns []uint32, of string)
}

// About says what a model is.
type About struct {
	archive.Origin // of the training documents, with their classes and vocabulary

	Type      string // the learner with all its parameters, as -type takes it
	Kernel    string // its specification; "" where it has none, or Text names it
	Embedding string // of the documents; "" where it takes them as they are
	Scheme    solver.Scheme
	solver.Regularization

	OneClass      bool     // it tells documents like those of training, 1, from others, -1
	Numbers       bool     // it estimates numbers: regression
	Machines      []string // names of the decision values
	Votes         bool     // the decision values are votes or energies: no machines were trained
	Probabilities bool     // whether predictions have them
	Below         float64  // documents with a smaller greatest probability get no class; 0 for none

	Terms   int      // that it knows
	Width   int      // columns of the documents that it learnt from; 0 if unknown
	Columns []uint32 // of these terms, ascending, not to be changed; nil where all columns count
	Support int      // support vectors
	Bytes   int64    // of memory, about

	Tried *Found   // what the training compared; nil for nothing
	Ended Ended    // how the searches of the training ended
	Notes []string // what deserves notice, in sentences without a full stop
	Text  []string // what was found in training, in lines
	Rows  []any    // the same for JSON, by machine
}

// Embeds notes the embedding of the documents and its terms.
func (a *About) Embeds(e *sparse.Embedder) {
	a.Embedding, a.Terms, a.Columns, a.Width = e.String(), len(e.Terms), e.Terms, e.Width()
}

// Known counts the different terms of a document, ascending, that the model knows.
func (a *About) Known(terms []uint32) int {
	if a.Vocabulary != nil || a.Columns == nil {
		return len(terms)
	}
	n, columns := 0, a.Columns
	for _, t := range terms {
		at, found := slices.BinarySearch(columns, t)
		if columns = columns[at:]; found {
			n++
		}
	}
	return n
}

// WarnUnknown warns of vectors with values in columns that training never had.
func (a *About) WarnUnknown(c *corpus.Corpus, warn func(format string, args ...any)) {
	n, first := 0, 0
	for i := range c.Documents.Rows() {
		terms, _ := c.Documents.Row(i)
		if more := len(terms) - a.Known(terms); more > 0 {
			if n == 0 {
				first = i
			}
			n += more
		}
	}
	if n > 0 {
		warn("values in columns that training never had: %d of %d, first in %s", n, c.Documents.NNZ(), c.DocumentName(first))
	}
}

// Ended counts machines, and those that stopped before they had converged.
type Ended struct {
	Machines, Unfinished int
	Gap                  float64 // of these, the most that an objective may be above its optimum, as its part; 0: unknown
	More                 string  // what -type takes that lets them go on; "" for nothing
}

// Add adds o's counts.
func (e *Ended) Add(o Ended) {
	*e = Ended{e.Machines + o.Machines, e.Unfinished + o.Unfinished, max(e.Gap, o.Gap), max(e.More, o.More)}
}

// count counts a machine.
func (e *Ended) count(converged bool, gap, objective float64) {
	if e.Machines++; !converged {
		e.Unfinished, e.Gap = e.Unfinished+1, max(e.Gap, gap/objective)
	}
}

// String warns of machines that stopped.
func (e Ended) String() string {
	text := fmt.Sprintf("%d of %s stopped before -tolerance was reached", e.Unfinished,
		counted(e.Machines, "machine", "machines"))
	if e.Gap > 0 {
		text += fmt.Sprintf(", up to %.3g%% of their objective above the optimum", 100*e.Gap)
	}
	if e.More != "" {
		text += "; -type " + e.More + " allows more passes"
	}
	return text
}

// SchemeName names the scheme, "" where votes choose one of the classes, or there are no classes.
func (a About) SchemeName() string {
	if a.OneClass || a.Numbers || a.Votes && a.Scheme != solver.Labels {
		return ""
	}
	return a.Scheme.String()
}

// Names lists the learners other than support vector machines.
func Names() []string {
	var names []string
	for _, l := range All {
		if l.Type == "" {
			names = append(names, l.Name)
		}
	}
	return names
}

// Has reports whether a learner has a parameter of that name.
func Has(parameter string) bool {
	return slices.ContainsFunc(All, func(l *Learner) bool { return params.Has(l.New(), parameter) })
}

// Parse reads what -type says: a learner's name and, after a colon, its parameters; "" is c_svc.
// Errors: a learner or a parameter that isn't known.
func Parse(spec string) (*Learner, Trainer, error) {
	name, parameters, _ := strings.Cut(cmp.Or(spec, string(model.CSVC)), ":")
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	at := slices.IndexFunc(All, func(l *Learner) bool { return strings.ReplaceAll(l.Name, "_", "-") == name })
	if at < 0 {
		var types []string
		for _, l := range machineLearners {
			types = append(types, l.Name)
		}
		return nil, nil, flagtext.Errorf("-type %q, expected one of %s, or a learner: %s", spec, strings.Join(types, ", "),
			strings.Join(Names(), ", "))
	}
	l := All[at]
	trainer := l.New()
	if err := params.Parse(trainer, parameters); err != nil {
		return nil, nil, flagtext.Errorf("-type %q: %w", spec, err)
	}
	return l, trainer, nil
}

// CheckTargets returns an error if the labels of a corpus are numbers, of which many are different: no type was asked
// for, and they may be classes or numbers to estimate.
func CheckTargets(c *corpus.Corpus) error {
	n, docs := c.Numbers(), c.Documents.Rows()
	if n <= 20 || 4*n <= docs {
		return nil
	}
	return flagtext.Errorf("the labels of %s are numbers, %d different ones of %d documents: -type epsilon_svr estimates "+
		"numbers, -type c_svc takes each for a class", c.Source, n, docs)
}

// Help lists the learners other than support vector machines, with their parameters.
func Help() string {
	var b strings.Builder
	for _, l := range All {
		if l.Type != "" {
			continue
		}
		fmt.Fprintf(&b, "  %-16s %s\n", l.Name, l.Summary)
		for _, p := range params.Help(l.New()) {
			fmt.Fprintf(&b, "    %-14s %s (default: %s)\n", p.Name, p.Help, p.Default)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
