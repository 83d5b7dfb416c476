// Package source declares and reads the documents and kernels of a command, by its flag groups [Documents]
// and [Kernels].
package source

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Documents are the flags that say which documents are read and how.
type Documents struct {
	In, Format   string
	MinDF, MaxDF int
	Signed       bool
	ZeroBased    string
	GroupColumn  string
	MaxLine      cli.ByteSize

	text textFlags

	TokenizerLater  func() (corpus.Tokenizer, error) // if not nil: what cuts text, in place of the flags
	KeepTexts       int64                            // as of corpus.Options
	KeepRows        int64                            // the same
	Form            corpus.Form                      // the same: how the documents of a model were read
	Need            func(corpus.Size) int64          // as of corpus.Options
	Held            int64                            // by the process while documents are read, beside them
	Vocabulary      []string                         // if not nil: the terms to count, those of the training documents
	VocabularyLater func() ([]string, error)         // if not nil: where they come from once text is counted
	Adjust          func(*corpus.Options) error      // if not nil: it has the last word on how documents are read

	limits *backend.Limits
}

const topic = "sources"

// Argument is the source as an argument after the flags.
var Argument = cli.Argument{Flag: "in", What: "source"}

// Topic is what help says of sources.
var Topic = cli.Topic{Name: topic, Summary: "what -in reads, and how", Text: forms,
	Declare: func(f *cli.Flags) { (&Documents{}).Declare(f, "", &backend.Limits{}) }}

const forms = `
Sources for -in (files may be compressed by gzip or zstd):
  FILE            svmlight/LIBSVM vectors (label index:value ...), label<TAB>text lines, CSV with
                  commas, semicolons or TABs, JSON lines or an array, fastText's __label__ lines,
                  lines of text, MatrixMarket, .npy, .npz of SciPy, or idx images (MNIST)
  -               standard input, in the format of a file; FIFOs are read once, too
  FOLDER          one sub-folder per class, one file per document; or files alone, documents
                  without a class; or idx files: train-images-idx3-ubyte
  goroot          the Go source files of the local installation, labelled by top folder
  synthetic:...   docs=N,terms=N,length=N,classes=N,seed=N: random documents with Zipfian word
                  frequencies; copies=50,changed=2: 50 in 1,000 are copies with up to
                  2 words changed
Several labels of a document are separated by commas, in a column of CSV as well, or as
-label-separator says: none where commas are part of names. JSON lines have them in an array, where
a label may hold commas.`

// Declare declares what to read, by default the source fallback, and how. The documents are read
// within limits.
func (d *Documents) Declare(f *cli.Flags, fallback string, limits *backend.Limits) {
	d.DeclareInput(f, fallback, limits)
	f.IntVar(
		&d.MinDF,
		"min-df",
		0,
		"leave out terms that fewer than `N` documents have (default: 2 for text, 1 for vectors)",
	)
	f.IntVar(&d.MaxDF, "max-df", 0, "leave out terms that more than `N` documents have (default: no limit)")
	f.BoolVar(&d.Signed, "signed", false, "accept negative values")
	d.text.declareTokenizer(f)
	f.Check(func() error {
		if d.MinDF < 0 || d.MaxDF < 0 {
			return cli.Usagef("-min-df and -max-df can't be negative")
		}
		if d.MaxDF > 0 && d.MaxDF < d.MinDF {
			return cli.Usagef("-max-df %d is below -min-df %d: no term could stay", d.MaxDF, d.MinDF)
		}
		return nil
	})
}

// DeclareInput is Declare for commands that take all terms.
func (d *Documents) DeclareInput(f *cli.Flags, fallback string, limits *backend.Limits) {
	d.limits = limits
	f.Group("Documents", topic)
	f.StringVar(&d.In, "in", fallback, "read the documents from `SOURCE`: a file, a folder, goroot or synthetic:...")
	f.ReadsFiles(&d.In, "in", d.Files(&d.In))
	f.Arguments(Argument)
	f.Choose(&d.Format, "format", "", "`FORMAT`: of a file, "+strings.Join(corpus.Formats(), ", ")+
		" (default: from the name and the first bytes)", corpus.Formats(), "auto", "libsvm")
	f.Choose(&d.ZeroBased, "zero-based", "", "`BOOL`: true if indices of svmlight files begin at 0, false if at 1 "+
		"(default: as in the model's training, else false)", []string{"true", "false"})
	d.text.declare(f)
	f.Var(&d.MaxLine, "max-line", "accept lines of at most `SIZE` (default: 64M, or what -m leaves for a line)")
	f.Check(func() error {
		if parameters, ok := strings.CutPrefix(d.In, "synthetic:"); ok {
			if _, err := corpus.ParseSynthetic(parameters); err != nil {
				return cli.UsageError{Err: err}
			}
		}
		return nil
	})
}

// Like returns the flags for other documents, in source, whose terms are those of train and whose
// labels are their own.
func (d *Documents) Like(source string, train *corpus.Corpus) *Documents {
	o := *d
	o.In, o.MinDF, o.MaxDF, o.text.labels = source, 0, 0, ""
	o.Held += train.Documents.Bytes()
	if d.Need != nil {
		rest := d.Need(train.Size()) - train.Documents.Bytes()
		o.Need = func(s corpus.Size) int64 { return s.Bytes() + rest }
	}
	o.VocabularyLater = func() ([]string, error) { return train.Vocabulary, nil } // of text alone
	if train.Tokenizer.HasColumns() {                                             // which have learnt scales
		o.TokenizerLater = func() (corpus.Tokenizer, error) { return train.Tokenizer, nil }
	}
	return &o
}

// Files lists the files of a source, for [cli.Flags.ReadsFiles].
func (d *Documents) Files(source *string) func(ctx context.Context) []string {
	return func(ctx context.Context) []string {
		if *source == "-" {
			return []string{"/dev/stdin"}
		}
		// What can't be listed can't be read either, which is reported then.
		files, _ := corpus.Files(ctx, *source, d.sparseFormat())
		return files
	}
}

// Missing is the error for documents that must be named and aren't; what says what for.
func Missing(what string) error {
	return cli.Usagef(
		"no documents to %s: name a source, such as -in mail/, a folder with a sub-folder for each class, "+
			"or -in train.svm, a file; -in goroot takes Go's own source files",
		what,
	)
}

// sparseFormat returns the format as package sparse names it.
func (d *Documents) sparseFormat() corpus.Format {
	switch d.Format {
	case "auto":
		return corpus.FormatAuto
	case "libsvm":
		return corpus.FormatSVMLight
	}
	return corpus.Format(d.Format)
}

// Read reads the corpus and prints its warnings.
func (d *Documents) Read(ctx context.Context, e *cli.Env, p *cli.Progress) (*corpus.Corpus, error) {
	c, err := d.read(ctx, p)
	if err != nil {
		return nil, err
	}
	for _, w := range c.Warnings {
		text := w.Describe(flagOf)
		switch {
		case w.Of > 0:
			text += fmt.Sprintf(" (%s times of %s, %.1f %%)", report.Count(w.Count), report.Count(w.Of),
				100*float64(w.Count)/float64(w.Of))
		case w.Count > 1:
			text += " (" + report.Count(w.Count) + " times)"
		}
		if w.First != "" {
			text += ", first at " + w.First
		}
		e.Warn("%s", text)
	}
	return c, nil
}

// ReadAs reads the corpus with its text cut into other n-grams, as -ngrams has them, without
// warnings.
func (d *Documents) ReadAs(ctx context.Context, p *cli.Progress, ngrams string) (*corpus.Corpus, error) {
	own := *d
	own.text.ngrams = ngrams
	return own.read(ctx, p)
}

// SetNGrams is -ngrams.
func (d *Documents) SetNGrams(ngrams string) error {
	d.text.ngrams = ngrams
	_, err := d.text.withoutStopWords()
	return err
}

// read reads the corpus.
func (d *Documents) read(ctx context.Context, p *cli.Progress) (*corpus.Corpus, error) {
	d.limits.Limit()
	p.Stage("reading " + report.Shorten(d.In, 40))
	tokenizer, err := d.text.tokenizer()
	if err != nil {
		return nil, err
	}
	if d.TokenizerLater != nil {
		tokenizer = corpus.Tokenizer{}
	}
	form := d.text.form
	form.Format, form.ZeroBased = d.sparseFormat(), d.ZeroBased
	opt := corpus.Options{
		Form: form, Workers: d.limits.Workers, MinDF: d.MinDF, MaxDF: d.MaxDF, Signed: d.Signed,
		Vocabulary: d.Vocabulary, VocabularyLater: d.VocabularyLater,
		KeepTexts: d.KeepTexts, KeepRows: d.KeepRows, Like: d.Form, Tokenizer: tokenizer, TokenizerLater: d.TokenizerLater,
		Strict: d.text.strict, Labels: d.text.labels, GroupColumn: d.GroupColumn,
		MaxLineBytes: int(d.MaxLine), MemoryBytes: d.Bytes(), Need: d.Need,
		Progress: func(s corpus.Progress) { p.Update(s.Done, s.Total) },
	}
	if d.Adjust != nil {
		if err := d.Adjust(&opt); err != nil {
			return nil, err
		}
	}
	var c *corpus.Corpus
	if d.In == "-" {
		c, err = corpus.ReadFrom(ctx, os.Stdin, "standard input", opt)
	} else {
		c, err = corpus.Read(ctx, d.In, opt)
	}
	p.Clear()
	if err != nil {
		return nil, d.explainMemory(nameFlags(err))
	}
	return c, nil
}

// flagOf returns the flag for a field of [corpus.Options], such as -label-column for LabelColumn.
func flagOf(field string) string {
	switch field {
	case "MaxLineBytes":
		return "-max-line"
	case "GroupColumn":
		return "-groups"
	case "Tokenizer":
		return "-views"
	}
	return "-" + strings.ToLower(wordStart.ReplaceAllString(field, "$1-$2"))
}

var wordStart = regexp.MustCompile("([a-z])([A-Z])")

// nameFlags puts flags where a message of package sparse names fields of its options.
func nameFlags(err error) error {
	if syntax, ok := err.(*corpus.SyntaxError); ok {
		return errors.New(syntax.Describe(flagOf))
	}
	return err
}

// leastReading is enough to estimate what the whole source takes.
const leastReading = 1 << 20

// Bytes returns the bound for reading, 0 for none: what the program itself leaves of the budget.
func (d *Documents) Bytes() int64 {
	limit := d.limits.Budget()
	if limit == 0 {
		return 0
	}
	return max(limit-backend.RuntimeBytes-d.Held, leastReading)
}

// Whole has a memory error of a step name what the whole work on a corpus is estimated to need, if that is more.
func (d *Documents) Whole(err error, c *corpus.Corpus) error {
	if memory := (*corpus.MemoryError)(nil); d.Need != nil && errors.As(err, &memory) {
		memory.Need = max(memory.Need, backend.RuntimeBytes+d.Held+d.Need(c.Size()))
	}
	return err
}

// explainMemory counts the program itself to the memory that reading or the work after it needs.
func (d *Documents) explainMemory(err error) error {
	var memory *corpus.MemoryError
	if !errors.As(err, &memory) || memory.Source == "" {
		return err
	}
	more := ""
	if !memory.Enough {
		more = "more than "
	}
	return refusal{fmt.Sprintf("%s needs %s%s of memory, %s", memory.What, more,
		run.FormatNeed(memory.Need+backend.RuntimeBytes+d.Held), d.limits.Bound()), err}
}

// refusal is an error in other words.
type refusal struct {
	text string
	err  error
}

func (r refusal) Error() string { return r.text }
func (r refusal) Unwrap() error { return r.err }

// Line is what all reports say about the corpus.
type Line struct {
	Source    string `json:"source"`
	Documents int    `json:"documents"`
	Classes   int    `json:"classes"`
	Terms     int    `json:"terms"`
	Values    int64  `json:"values"`
	Digest    string `json:"sha256"`

	Scripts []corpus.Script `json:"scripts,omitempty"` // without spaces
}

// NewLine describes a corpus.
func NewLine(c *corpus.Corpus) Line {
	d := c.Digest()
	terms, _ := c.Documents.TermFrequencies()
	return Line{
		c.Source, c.Documents.Rows(), len(c.Classes), len(terms), c.Documents.NNZ(), hex.EncodeToString(d[:]), c.Scripts,
	}
}

// leastShare is that of a script that the text of a report names.
const leastShare = 0.01

func (l Line) String() string {
	s := fmt.Sprintf("%s: %s, %s, %s, %s", l.Source, report.Documents(l.Documents),
		report.Counted(l.Classes, "class", "classes"), report.Counted(l.Terms, "term", "terms"),
		report.Counted(l.Values, "value", "values"))
	part := "\n%.0f %% of the letters are %s"
	for _, script := range l.Scripts {
		if script.Share >= leastShare {
			s += fmt.Sprintf(part, 100*script.Share, script.Name)
			part = ", %.0f %% %s"
		}
	}
	if part[0] == ',' {
		s += ": characters and pairs"
	}
	return s
}

// FileOf returns the name of document i, of its file or in JSON; "" if it has none.
func FileOf(c *corpus.Corpus, i int) string {
	if c.Names == nil {
		return ""
	}
	return c.Names[i]
}

// AppendNeighbours appends a line for each neighbour of a document to b: the document, the neighbour,
// which is one of columns, and the value, with TABs between.
func AppendNeighbours(b []byte, document string, near []engine.Neighbour, columns *corpus.Corpus) []byte {
	for _, n := range near {
		b = append(append(b, document...), '\t')
		b = append(append(b, ShortName(columns, int(n.Document))...), '\t')
		b = append(strconv.AppendFloat(b, float64(n.Value), 'g', -1, 32), '\n')
	}
	return b
}

// AppendGroup appends a line for each document of a group to b: the number of the group, the document, keep for
// the first or drop, and what text says of it where that isn't nil, with TABs between.
func AppendGroup(b []byte, c *corpus.Corpus, number int, group []int32, text func(i int32) string) []byte {
	what := "keep"
	for _, i := range group {
		b = fmt.Appendf(b, "%d\t%s\t%s", number, ShortName(c, int(i)), what)
		if what = "drop"; text != nil {
			b = append(append(b, '\t'), text(i)...)
		}
		b = append(b, '\n')
	}
	return b
}

// ShortName returns the name of document i in tables: that of its file or in JSON, else its number from 1.
func ShortName(c *corpus.Corpus, i int) string { return cmp.Or(FileOf(c, i), strconv.Itoa(i+1)) }

// JSONName returns [ShortName] for JSON, where a number isn't a string.
func JSONName(c *corpus.Corpus, i int) any {
	if name := FileOf(c, i); name != "" {
		return name
	}
	return i + 1
}

// LabelsOf returns the names of the classes of document i.
func LabelsOf(c *corpus.Corpus, i int) []string {
	labels := []string{}
	for _, id := range c.Labels.Of(i) {
		labels = append(labels, c.Classes[id])
	}
	return labels
}

// Embed fits an embedding on the corpus and embeds it.
func Embed(ctx context.Context, c *corpus.Corpus, emb sparse.Embedding, workers int) (*sparse.Embedded, error) {
	x, err := corpus.Fit(emb, c).TransformRows(ctx, c.Documents, nil, workers)
	if err != nil {
		return nil, c.NameValue(fmt.Errorf("embedding %s: %w", emb, err))
	}
	return x, nil
}

// EmbedTogether embeds documents in one [corpus.Space]: x those of columns, y those of rows unless nil.
func EmbedTogether(
	ctx context.Context, columns, rows *corpus.Corpus, emb sparse.Embedding, apart bool, workers int,
) (s *corpus.Space, x, y *sparse.Embedded, err error) {
	if s, err = corpus.NewSpace(emb, columns, rows, apart); err != nil {
		return nil, nil, nil, err
	}
	if x, err = s.Embedder.TransformRows(ctx, s.Columns, nil, workers); err != nil {
		return nil, nil, nil, columns.NameValue(fmt.Errorf("embedding %s: %w", emb, err))
	}
	if rows != nil {
		if y, err = s.Embedder.TransformRows(ctx, s.Rows, nil, workers); err != nil {
			return nil, nil, nil, rows.NameValue(fmt.Errorf("embedding %s: %w", emb, err))
		}
	}
	return s, x, y, nil
}

// WarnEmptied says how many documents an embedding has left without terms, beyond those that had
// none when they were read.
func WarnEmptied(e *cli.Env, c *corpus.Corpus, x *sparse.Embedded) {
	if n := x.Empty() - c.Documents.EmptyRows(); n > 0 {
		e.Warn("%s leaves %s without terms: orthogonal to all others, identical to each other", x.Embedder,
			report.Documents(n))
	}
}

// EngineBytes estimates an engine of documents once it is made, with the scratch space of so many workers.
func EngineBytes(s corpus.Size, workers int) int64 {
	return engine.HeldBytes(s.Documents, s.Terms+1, s.Values, s.Longest, workers)
}

// WorkBytes returns the most that the documents take once they are read: beside themselves in
// embedded form, and that form in an engine. The first counts while documents are embedded, the
// second while the engine is made.
func WorkBytes(s corpus.Size) (embedded, inEngine int64) {
	return sparse.EmbeddedBytes(s.Documents, s.Values), engine.NewBytes(s.Documents, s.Terms+1, s.Values)
}
