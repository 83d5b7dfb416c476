// Package learn defines the interface between learners and the commands train, cv, grid, predict
// and explain, and lists the learners ([Learners]). Each learner has an entry in the list, an
// adapter file here, and a package below learn that implements it.
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

// Learner describes a learning algorithm and its models.
type Learner struct {
	Name            string     // value of -type, optionally followed by parameters: NAME:parameter=value,...
	Summary         string     // description in one line
	Type            model.Type // type of support vector machine; "" for other learners
	SupportsWeights bool       // true if training uses document weights, see corpus.Corpus
	KeepsDocuments  bool       // true if models refer to the training documents, which must then not be changed
	FilePrefix      string     // prefix of model files, without the version: "gram logistic "

	// Read reads a model of size bytes (-1 if unknown) to the end of r. If early isn't nil, Read
	// calls it as soon as the tokenizer is read.
	Read func(ctx context.Context, r io.Reader, size int64, early HeaderFunc) (Model, error)

	// New returns a trainer with default parameters: a pointer to a struct, see package params.
	New func() Trainer
}

// HeaderFunc receives the tokenizer and document format of a model whose file is still being read.
type HeaderFunc func(corpus.Tokenizer, corpus.FormatOptions)

// ReadFunc returns a [Learner.Read] function for a file format.
func ReadFunc[M any](
	form *archive.Format[M], model func(*M) Model,
) func(context.Context, io.Reader, int64, HeaderFunc) (Model, error) {
	return func(ctx context.Context, r io.Reader, size int64, early HeaderFunc) (Model, error) {
		m, err := form.ReadSized(ctx, r, size, early)
		if err != nil {
			return nil, err
		}
		return model(m), nil
	}
}

func convertModels[M any](trained []M, model func(M) Model) (out []Model) {
	for _, m := range trained {
		out = append(out, model(m))
	}
	return out
}

// Trainer trains models. It is a pointer to a struct of parameters, see package params.
type Trainer interface {
	// IsSet reports whether a parameter was set. Unset parameters may be chosen automatically.
	IsSet(name string) bool

	// Check returns an error for invalid parameters and options. It is called before data is read.
	Check(o Options) error

	// Train trains a model on corpus c without changing c. The trainer's parameters must suit c,
	// see [Learner.AdaptTrainer]. The model is bit-identical for any number of workers.
	Train(ctx context.Context, c *corpus.Corpus, o Options) (Model, error)
}

// JointTrainer is a Trainer that trains several models with less work than separate training runs.
type JointTrainer interface {
	Trainer

	// TrainAll trains a model for each trainer. The trainers differ only in C, in ascending order.
	TrainAll(ctx context.Context, c *corpus.Corpus, o Options, all []Trainer) ([]Model, error)
}

func cValues(all []Trainer) (c []float64) {
	for _, t := range all {
		c = append(c, params.Get(t, "c").(float64))
	}
	return c
}

// Model is a trained model. It may be used concurrently.
type Model interface {
	About() About
	Predict(ctx context.Context, documents *sparse.CSR, o Options) (*model.Prediction, error)
	Write(ctx context.Context, w io.Writer) error
}

// WeightedModel is a Model with a weight for each term.
type WeightedModel interface {
	Model

	// Weights returns the weights for each class. columns holds the term of each weight except the
	// last. The last weight is for documents without terms. of describes the vectors that the
	// weights multiply, or is "" for embedded documents.
	Weights() (weights [][]float64, columns []uint32, of string)
}

// About holds a model's parameters, training data and training results.
type About struct {
	archive.Origin // classes and vocabulary of the training documents

	Type      string // learner and all its parameters, in the syntax of -type
	Kernel    string // specification of the kernel; "" without a kernel, or if Results names it
	Embedding string // embedding of the documents; "" if they aren't embedded
	Scheme    solver.Scheme
	solver.Regularization

	OneClass         bool     // true if the model predicts 1 for documents like the training documents, else -1
	IsRegression     bool     // true if the model predicts numbers
	TargetMean       *float64 // mean of the training targets of a regression; nil if unknown
	DecisionNames    []string // names of the decision values
	HasVotes         bool     // true if decision values are votes or energies instead of decision function values
	HasProbabilities bool     // true if predictions have probabilities
	MinProbability   float64  // documents with a smaller maximum probability get no class; 0 = no limit

	TermCount          int      // number of known terms
	ColumnCount        int      // number of columns of the training documents; 0 if unknown
	Columns            []uint32 // columns of the known terms, ascending, read-only; nil = all columns
	SupportVectorCount int      // number of support vectors
	Bytes              int64    // approximate size of the model in memory

	Search         *SearchResult // settings compared by the training; nil if none were compared
	Convergence    Convergence   // convergence of the training
	Notes          []string      // remarks, sentences without a full stop
	Results        []string      // results of the training, one per line
	ClassifierRows []any         // results for JSON, one per binary classifier
}

// SetEmbedder sets Embedding, TermCount, Columns and ColumnCount from a document embedder.
func (a *About) SetEmbedder(e *sparse.Embedder) {
	a.Embedding, a.TermCount, a.Columns, a.ColumnCount = e.String(), len(e.Terms), e.Terms, e.TrainingCols()
}

// CountKnown returns how many of the given terms the model knows. terms must be strictly
// increasing.
func (a *About) CountKnown(terms []uint32) int {
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

// WarnUnknown warns about values in columns that the training documents didn't have.
func (a *About) WarnUnknown(c *corpus.Corpus, warn func(format string, args ...any)) {
	n, first := 0, 0
	for i := range c.Documents.Rows() {
		terms, _ := c.Documents.Row(i)
		if more := len(terms) - a.CountKnown(terms); more > 0 {
			if n == 0 {
				first = i
			}
			n += more
		}
	}
	if n > 0 {
		warn("%d of %d values are ignored, because the model does not know their columns (first: %s)", n,
			c.Documents.NNZ(), c.DocumentName(first))
	}
}

// Convergence counts binary classifiers. A classifier is unfinished if its training stopped early.
type Convergence struct {
	ClassifierCount, UnfinishedCount int
	// largest relative optimality gap of an unfinished binary classifier; 0 = unknown
	Gap             float64
	PassesParameter string // -type parameter that allows more passes; "" if there is none
}

// Add adds the counts of o, and sets Gap to the larger gap.
func (e *Convergence) Add(o Convergence) {
	*e = Convergence{e.ClassifierCount + o.ClassifierCount, e.UnfinishedCount + o.UnfinishedCount, max(e.Gap, o.Gap),
		max(e.PassesParameter, o.PassesParameter)}
}

func (e *Convergence) addClassifier(converged bool, gap, objective float64) {
	if e.ClassifierCount++; !converged {
		e.UnfinishedCount, e.Gap = e.UnfinishedCount+1, max(e.Gap, gap/objective)
	}
}

// String returns a warning about unfinished binary classifiers.
func (e Convergence) String() string {
	text := fmt.Sprintf("%d of %s did not reach -tolerance", e.UnfinishedCount,
		pluralize(e.ClassifierCount, "decision function", "decision functions"))
	if e.Gap > 0 {
		text += fmt.Sprintf(" (max. relative duality gap %.3g%%)", 100*e.Gap)
	}
	if e.PassesParameter != "" {
		text += "; -type " + e.PassesParameter + " allows more passes"
	}
	return text
}

// SchemeName returns the scheme's name, or "" if there are no classes or votes choose the class.
func (a About) SchemeName() string {
	if a.OneClass || a.IsRegression || a.HasVotes && a.Scheme != solver.MultiLabel {
		return ""
	}
	return a.Scheme.String()
}

// Names lists the learners other than support vector machines.
func Names() []string {
	var names []string
	for _, l := range Learners {
		if l.Type == "" {
			names = append(names, l.Name)
		}
	}
	return names
}

// HasParameter reports whether any learner has the parameter.
func HasParameter(parameter string) bool {
	return slices.ContainsFunc(Learners, func(l *Learner) bool { return params.Has(l.New(), parameter) })
}

// Parse parses a value of -type: a learner's name and, after a colon, its parameters. "" means
// c_svc. Parse fails if the learner or a parameter is unknown.
func Parse(spec string) (*Learner, Trainer, error) {
	name, parameters, _ := strings.Cut(cmp.Or(spec, string(model.CSVC)), ":")
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	at := slices.IndexFunc(Learners, func(l *Learner) bool { return strings.ReplaceAll(l.Name, "_", "-") == name })
	if at < 0 {
		var types []string
		for _, l := range svmLearners {
			types = append(types, l.Name)
		}
		return nil, nil, flagtext.Errorf("unknown learner -type %q; valid types are %s (SVMs), %s", spec,
			strings.Join(types, ", "), strings.Join(Names(), ", "))
	}
	l := Learners[at]
	trainer := l.New()
	if err := params.Parse(trainer, parameters); err != nil {
		return nil, nil, flagtext.Errorf("-type %q: %w", spec, err)
	}
	return l, trainer, nil
}

// CheckTargets returns an error if the labels are numbers with more than 20 distinct values in
// fewer than four times as many documents, because such labels may be classes or regression
// targets. Call CheckTargets if no type was set.
func CheckTargets(c *corpus.Corpus) error {
	n, docs := c.NumericLabelCount(), c.Documents.Rows()
	if n <= 20 || 4*n <= docs {
		return nil
	}
	return flagtext.Errorf("the labels of %s are numbers with %d distinct values in %d documents; use -type epsilon_svr "+
		"for regression, or -type c_svc to treat each value as a class", c.Source, n, docs)
}

// Help lists the learners other than support vector machines, with their parameters.
func Help() string {
	var b strings.Builder
	for _, l := range Learners {
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
