// Package source reads documents and kernels for commands. It declares the flags in two groups,
// [Documents] and [Kernels].
package source

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/space"
	"github.com/gramengine/gram/internal/synthetic"
	"github.com/gramengine/gram/sparse"
)

// Documents holds the flags that select documents and control reading.
type Documents struct {
	Source, Format string
	MinDF, MaxDF   int
	Signed         bool
	ZeroBased      string
	GroupColumn    string
	MaxLineBytes   cli.ByteSize

	text textFlags

	Tokenizer       *corpus.Tokenizer           // tokenizer to use instead of the flags; nil for none
	KeepTexts       int64                       // see corpus.Options.KeepTextBytes
	KeepRows        int64                       // see corpus.Options.KeepRowBytes
	TrainingForm    corpus.FormatOptions        // see corpus.Options.TrainingFormat
	Need            func(corpus.Size) int64     // see corpus.Options.EstimateMemory
	OtherBytes      int64                       // other memory in use while documents are read, in bytes
	Vocabulary      []string                    // terms of the training documents; nil if unknown
	VocabularyLater func() ([]string, error)    // returns the vocabulary after text is counted; nil for none
	AdjustOptions   func(*corpus.Options) error // changes the options after flags are applied; nil for none

	limits *backend.Limits
}

const topicName = "sources"

// Argument is the positional argument that names the source, like -in.
var Argument = cli.Argument{Flag: "in", ValueName: "source"}

// Topic is the help topic about sources.
var Topic = cli.Topic{Name: topicName, Summary: "input formats of -in", Text: topicText,
	Declare: func(f *cli.Flags) { (&Documents{}).Declare(f, "", &backend.Limits{}) }}

const topicText = `
Sources for -in (files may be compressed by gzip or zstd):
  FILE            svmlight/LIBSVM vectors (label index:value ...), label<TAB>text lines, CSV with
                  commas, semicolons or TABs, JSON lines or an array, Parquet, fastText's __label__
                  lines, lines of text, .npy, .npz of SciPy, or idx images (MNIST)
  -               standard input, in the format of a file; FIFOs are read once, too
  FOLDER          one sub-folder per class, one file per document; or files alone, documents
                  without a class
  goroot          the Go source files of the local installation, labelled by top folder
  synthetic:...   docs=N,terms=N,length=N,classes=N,seed=N: random documents with Zipfian word
                  frequencies; copies=50,changed=2: 50 in 1,000 are copies with up to
                  2 words changed
Several labels of a document are separated by commas, or by the separator of -label-separator (none
if names contain commas). JSON lines have them in an array.`

// Declare declares the flags, with fallback as default source. limits bounds the memory for
// reading.
func (d *Documents) Declare(f *cli.Flags, fallback string, limits *backend.Limits) {
	d.DeclareInput(f, fallback, limits)
	f.IntVar(
		&d.MinDF,
		"min-df",
		0,
		"ignore terms with a document frequency below `N` (default: 2 for text, 1 for vectors)",
	)
	f.IntVar(&d.MaxDF, "max-df", 0, "ignore terms with a document frequency above `N` (default: no limit)")
	f.BoolVar(&d.Signed, "signed", false, "accept negative values")
	d.text.declareTokenizer(f)
	f.AddCheck(func() error {
		if d.MinDF < 0 || d.MaxDF < 0 {
			return cli.Usagef("-min-df and -max-df must be nonnegative, got %d and %d", d.MinDF, d.MaxDF)
		}
		if d.MaxDF > 0 && d.MaxDF < d.MinDF {
			return cli.Usagef("-max-df must be at least -min-df, got %d and %d", d.MaxDF, d.MinDF)
		}
		return nil
	})
}

// DeclareInput is like Declare, for commands that use all terms.
func (d *Documents) DeclareInput(f *cli.Flags, fallback string, limits *backend.Limits) {
	d.limits = limits
	f.StartGroup("Documents", topicName)
	f.StringVar(&d.Source, "in", fallback, "read the documents from `SOURCE`: a file, a folder, goroot or synthetic:...")
	f.RegisterInput(&d.Source, "in", d.Files(&d.Source))
	f.SetArguments(Argument)
	f.ChoiceVar(&d.Format, "format", "", "file `FORMAT`: "+strings.Join(corpus.Formats(), ", ")+
		" (default: detected from name and content)", corpus.Formats(), "auto", "libsvm")
	f.ChoiceVar(&d.ZeroBased, "zero-based", "", "`BOOL`: true if svmlight indices start from 0, false if from 1 "+
		"(default: as in training, else false)", []string{"true", "false"})
	d.text.declare(f)
	f.Var(&d.MaxLineBytes, "max-line", "maximum length `SIZE` of a line (default: 64M, or less if -m requires it)")
	f.AddCheck(func() error {
		if parameters, ok := strings.CutPrefix(d.Source, "synthetic:"); ok {
			if _, err := synthetic.Parse(parameters); err != nil {
				return cli.UsageError{Err: err}
			}
		}
		return nil
	})
}

// WithTermsOf returns the flags for reading source with the terms of train. The labels come from
// source.
func (d *Documents) WithTermsOf(source string, train *corpus.Corpus) *Documents {
	o := *d
	o.Source, o.MinDF, o.MaxDF, o.text.labels = source, 0, 0, ""
	o.OtherBytes += train.Documents.Bytes()
	if d.Need != nil {
		rest := d.Need(train.Size()) - train.Documents.Bytes()
		o.Need = func(s corpus.Size) int64 { return s.Bytes() + rest }
	}
	o.VocabularyLater = func() ([]string, error) { return train.Vocabulary, nil } // only called for text
	if train.Tokenizer.HasColumns() {                                             // columns have fitted scales
		o.Tokenizer = &train.Tokenizer
	}
	return &o
}

// Files returns a function that lists the files of *source, for [cli.Flags.RegisterInput].
func (d *Documents) Files(source *string) func(ctx context.Context) []string {
	return func(ctx context.Context) []string {
		if *source == "-" {
			return []string{"/dev/stdin"}
		}
		// An error can be ignored, because it occurs again when the source is read.
		files, _ := corpus.Files(ctx, *source)
		return files
	}
}

// MissingSourceError returns the error for a missing source. what names the purpose, such as "train
// on".
func MissingSourceError(what string) error {
	return cli.Usagef(
		"no documents to %s: set -in to a file such as train.svm, a folder with one subfolder per class "+
			"such as mail/, or goroot (the source files of Go)",
		what,
	)
}

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
	if table := c.DescribeTable(); table != "" {
		e.Infof("%s: %s", c.Source, table)
	}
	for _, w := range c.Warnings {
		text := w.Describe(flagOf)
		switch {
		case w.Of > 0:
			text += fmt.Sprintf(" (%s of %s, %.1f%%)", report.FormatCount(w.Count), report.FormatCount(w.Of),
				100*float64(w.Count)/float64(w.Of))
		case w.Count > 1:
			text += " (" + report.FormatCount(w.Count) + " times)"
		}
		if w.First != "" {
			text += ", first at " + w.First
		}
		e.Warnf("%s", text)
	}
	return c, nil
}

// ReadWithNGrams reads the corpus with other n-grams, in the syntax of -ngrams, and without
// warnings.
func (d *Documents) ReadWithNGrams(ctx context.Context, p *cli.Progress, ngrams string) (*corpus.Corpus, error) {
	own := *d
	own.text.ngrams = ngrams
	return own.read(ctx, p)
}

// SetNGrams sets the value of -ngrams.
func (d *Documents) SetNGrams(ngrams string) error {
	d.text.ngrams = ngrams
	_, err := d.text.tokenizerWithoutStopWords()
	return err
}

// read reads the corpus without warnings.
func (d *Documents) read(ctx context.Context, p *cli.Progress) (*corpus.Corpus, error) {
	d.limits.SetMemoryLimit()
	p.StartStage("reading " + report.TruncateStart(d.Source, 40))
	tokenizer, err := d.text.tokenizer()
	if err != nil {
		return nil, err
	}
	form := d.text.form
	form.Format, form.ZeroBased = d.sparseFormat(), d.ZeroBased
	opt := corpus.Options{
		FormatOptions: form, Workers: d.limits.Workers, MinDF: d.MinDF, MaxDF: d.MaxDF, Signed: d.Signed,
		Vocabulary: d.Vocabulary, LoadVocabulary: d.VocabularyLater,
		KeepTextBytes: d.KeepTexts, KeepRowBytes: d.KeepRows, TrainingFormat: d.TrainingForm, Tokenizer: tokenizer,
		ModelTokenizer: d.Tokenizer,
		Strict:         d.text.strict, Labels: d.text.labels, GroupColumn: d.GroupColumn,
		MaxLineBytes: int(d.MaxLineBytes), MemoryBytes: d.ReadLimitBytes(), EstimateMemory: d.Need,
		Progress: func(s corpus.Progress) { p.Update(s.Done, s.Total) },
	}
	if d.AdjustOptions != nil {
		if err := d.AdjustOptions(&opt); err != nil {
			return nil, err
		}
	}
	var c *corpus.Corpus
	if d.Source == "-" {
		c, err = corpus.ReadFrom(ctx, os.Stdin, "standard input", opt)
	} else {
		c, err = corpus.Read(ctx, d.Source, opt)
	}
	p.Clear()
	if err != nil {
		return nil, d.limits.ExplainMemoryError(nameFlags(err))
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
	case "IDColumn":
		return "-id-column"
	}
	return "-" + strings.ToLower(wordBoundary.ReplaceAllString(field, "$1-$2"))
}

var wordBoundary = regexp.MustCompile("([a-z])([A-Z])")

// nameFlags replaces names of option fields by names of flags in an error of package corpus.
func nameFlags(err error) error {
	if syntax, ok := err.(*corpus.SyntaxError); ok {
		return errors.New(syntax.Describe(flagOf))
	}
	return err
}

// minReadBytes is the minimum of ReadLimitBytes. It suffices to read the data from which the memory
// for the whole source is estimated.
const minReadBytes = 1 << 20

// ReadLimitBytes returns the memory limit for reading: the budget minus RuntimeBytes and
// OtherBytes, but at least minReadBytes. It returns 0 if the budget is 0.
func (d *Documents) ReadLimitBytes() int64 {
	limit := d.limits.Budget()
	if limit == 0 {
		return 0
	}
	return max(limit-backend.RuntimeBytes-d.OtherBytes, minReadBytes)
}

// RaiseToTotalNeed increases the need in a memory error of a step to the estimated need of the
// whole computation, if this estimate is larger.
func (d *Documents) RaiseToTotalNeed(err error, c *corpus.Corpus) error {
	if memory := (*corpus.MemoryError)(nil); d.Need != nil && errors.As(err, &memory) && memory.LimitSource == "" {
		held := d.limits.Budget() - memory.LimitBytes
		memory.NeedBytes = max(memory.NeedBytes, backend.RuntimeBytes+d.OtherBytes+d.Need(c.Size())-held)
	}
	return err
}

// Summary describes the corpus in reports.
type Summary struct {
	Source        string `json:"source"`
	DocumentCount int    `json:"documents"`
	ClassCount    int    `json:"classes"`
	TermCount     int    `json:"terms"`
	ValueCount    int64  `json:"values"`
	Digest        string `json:"sha256"`

	UnspacedScripts []corpus.Script `json:"scripts,omitempty"` // writing systems without spaces
	TargetRange     string          `json:"targets,omitempty"` // range of regression targets, such as 25 to 346
}

// NewSummary returns the summary of a corpus.
func NewSummary(c *corpus.Corpus) Summary {
	d := c.Digest()
	terms, _ := c.Documents.TermFrequencies()
	l := Summary{Source: c.Source, DocumentCount: c.Documents.Rows(), ClassCount: len(c.Classes), TermCount: len(terms),
		ValueCount: c.Documents.NNZ(), Digest: hex.EncodeToString(d[:]), UnspacedScripts: c.Scripts}
	l.SetTargetRange(c, c.HasTargets())
	return l
}

// SetTargetRange sets TargetRange to the range of the labels if regression is true. All labels must
// be numbers.
func (l *Summary) SetTargetRange(c *corpus.Corpus, regression bool) {
	if !regression || len(c.Classes) == 0 {
		return
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, name := range c.Classes {
		x, _ := strconv.ParseFloat(name, 64)
		low, high = min(low, x), max(high, x)
	}
	l.TargetRange = fmt.Sprintf("%.6g to %.6g", low, high)
}

// minScriptShare is the minimum fraction of letters in a script for text reports to name the
// script.
const minScriptShare = 0.01

func (l Summary) String() string {
	labels := report.FormatCountOf(l.ClassCount, "class", "classes")
	if l.TargetRange != "" {
		labels = "targets " + l.TargetRange
	}
	s := fmt.Sprintf("%s: %s, %s, %s, %s", l.Source, report.FormatDocuments(l.DocumentCount), labels,
		report.FormatCountOf(l.TermCount, "term", "terms"), report.FormatCountOf(l.ValueCount, "value", "values"))
	part := "\n%.0f%% of the letters are %s"
	for _, script := range l.UnspacedScripts {
		if script.Share >= minScriptShare {
			s += fmt.Sprintf(part, 100*script.Share, script.Name)
			part = ", %.0f%% %s"
		}
	}
	if part[0] == ',' {
		s += ": characters and pairs"
	}
	return s
}

// DocumentName returns the file name or table id of document i, or "" if it has no name.
func DocumentName(c *corpus.Corpus, i int) string {
	if c.Names == nil {
		return ""
	}
	return c.Names[i]
}

// DisplayName returns [DocumentName] or, if document i has no name, i + 1.
func DisplayName(c *corpus.Corpus, i int) string {
	return cmp.Or(DocumentName(c, i), strconv.Itoa(i+1))
}

// ClassNamesOf returns the names of document i's classes.
func ClassNamesOf(c *corpus.Corpus, i int) []string {
	labels := []string{}
	for _, id := range c.Labels.Classes(i) {
		labels = append(labels, c.Classes[id])
	}
	return labels
}

// Embed fits an embedding on the corpus and embeds the corpus.
func Embed(ctx context.Context, c *corpus.Corpus, emb sparse.Embedding, workers int) (*sparse.Embedded, error) {
	x, err := corpus.Fit(emb, c).TransformRows(ctx, c.Documents, nil, workers)
	if err != nil {
		return nil, c.DescribeError(fmt.Errorf("embedding %s: %w", emb, err))
	}
	return x, nil
}

// EmbedTogether embeds columns and rows in one [space.Space], and returns them as x and y. If rows
// is nil, y is nil.
func EmbedTogether(
	ctx context.Context, columns, rows *corpus.Corpus, emb sparse.Embedding, apart bool, workers int,
) (s *space.Space, x, y *sparse.Embedded, err error) {
	if s, err = space.New(emb, columns, rows, apart); err != nil {
		return nil, nil, nil, err
	}
	if x, err = s.Embedder.TransformRows(ctx, s.Columns, nil, workers); err != nil {
		return nil, nil, nil, columns.DescribeError(fmt.Errorf("embedding %s: %w", emb, err))
	}
	if rows != nil {
		if y, err = s.Embedder.TransformRows(ctx, s.Rows, nil, workers); err != nil {
			return nil, nil, nil, rows.DescribeError(fmt.Errorf("embedding %s: %w", emb, err))
		}
	}
	return s, x, y, nil
}

// WarnEmptyDocuments warns about documents that lose all their terms when they are embedded.
func WarnEmptyDocuments(e *cli.Env, c *corpus.Corpus, x *sparse.Embedded) {
	if n := x.EmptyCount() - c.Documents.EmptyRowCount(); n > 0 {
		e.Warnf("%s leaves %s without terms; they are orthogonal to all other documents", x.Embedder,
			report.FormatDocuments(n))
	}
}

// EngineBytes estimates the size in bytes of an engine with its workers' scratch memory.
func EngineBytes(s corpus.Size, workers int) int64 {
	return engine.EstimatedBytes(s.Documents, s.Terms+1, s.Values, s.LongestRow, workers)
}

// ScratchBytes returns the peak memory in bytes, in addition to the documents, while the documents
// are embedded and while the engine is made.
func ScratchBytes(s corpus.Size) (embedded, inEngine int64) {
	return sparse.EmbeddedBytes(s.Documents, s.Values), engine.MaxEngineBytes(s.Documents, s.Terms+1, s.Values)
}
