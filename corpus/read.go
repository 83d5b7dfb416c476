package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gramengine/gram/corpus/internal/charset"
	"github.com/gramengine/gram/corpus/internal/intern"
	"github.com/gramengine/gram/internal/run"
)

// Options holds the parameters of [Read]. The zero value works.
type Options struct {
	FormatOptions // format of the source; Extension is ignored

	Workers int // number of goroutines, at most 1024; default runtime.GOMAXPROCS(0)

	// MinDF and MaxDF bound the document frequency of terms. By default MinDF is 2 for text and 1
	// for vectors, and MaxDF is unlimited. Both are ignored if Vocabulary is set.
	MinDF, MaxDF int

	// Vocabulary, if not nil, lists the terms to count, as for test documents. Other terms are
	// dropped.
	Vocabulary []string

	// LoadVocabulary, if not nil, returns the vocabulary. It is called only for text and synthetic
	// sources. For text, it is called after all text is counted, so that the vocabulary can be read
	// from another file in the meantime. If it fails, Read returns its error. If the result is nil,
	// no vocabulary is set.
	LoadVocabulary func() ([]string, error)

	// Tokenizer divides text into terms. Pairs is always set if words are runs of letters.
	// Corpus.Tokenizer has Pairs only if the text contains a script without spaces. ModelTokenizer,
	// if not nil, replaces Tokenizer and is used unchanged.
	Tokenizer      Tokenizer
	ModelTokenizer *Tokenizer

	Strict bool // true if invalid bytes in texts, and binary files in folders, are errors

	// Labels, if not empty, is a file with the labels of one document per line, as in the label
	// field of a TSV file. These labels replace the labels of the source. Text after a TAB is
	// ignored.
	Labels string

	// TrainingFormat is the format of a model's training documents. If the source has the same
	// extension, fields of TrainingFormat replace unset fields of FormatOptions. A label column or
	// key from TrainingFormat may be missing in the source.
	TrainingFormat FormatOptions

	// KeepTextBytes is the maximum total size in bytes of the texts in Corpus.Raw. All texts are
	// dropped if they are larger, or if reading uses more than half of MemoryBytes. If
	// KeepTextBytes is math.MaxInt64, texts are always kept, and exceeding MemoryBytes is an error.
	KeepTextBytes int64

	// KeepRowBytes is the maximum total size in bytes of the rows that are kept if views of numbers
	// have no width, see [token.Tokenizer.NeedsWidth].
	KeepRowBytes int64

	// GroupColumn, if not empty, names a column whose values become Corpus.Groups. It is the name
	// or number of a CSV or TSV column, the name of a Parquet column, or a key of JSON lines. "qid"
	// uses the qids of an svmlight file; every line must then have a qid.
	GroupColumn string

	Signed       bool  // true if negative values are accepted
	MaxLineBytes int   // maximum line length; default 64 MiB; reduced to an eighth of MemoryBytes if that is less
	MemoryBytes  int64 // memory limit of reading, including the corpus; default none; see [MemoryError]

	// EstimateMemory, if not nil, returns the memory in bytes for the planned computation,
	// including the corpus. A [MemoryError] reports the maximum of EstimateMemory and the memory
	// for reading. Both are extrapolated from the part of the source that was read.
	EstimateMemory func(Size) int64

	// Progress, if not nil, is called at most every 100 ms and once at the end, never concurrently.
	Progress func(Progress)

	memory   *allowance // counts memory against MemoryBytes; nil without a limit
	decoding decoding

	labelOptional bool // true if the label column or key comes from TrainingFormat, and may be missing
	mayHaveRows   bool // true if documents may be table rows, for views of columns
	fromFile      bool // true if the source is a file or a stream

	columnOption string // option of the caller that names columns, such as LabelColumn; "" if none is set
}

// Progress reports the progress of reading.
type Progress struct {
	Done, Total int64 // bytes read and bytes in total, before decompression; Total is 0 if unknown
	Documents   int64 // number of documents read
}

const (
	defaultMaxLineBytes = 64 << 20
	defaultTextMinDF    = 2 // a word of a single document matches no other document
	maxWorkers          = 1024
)

// Read reads the corpus named by source:
//
//	goroot                       the .go files of the local Go installation, by top folder of src
//	synthetic:docs=,terms=,...   random documents
//	a folder                     one sub-folder per class and one file per document; or only files
//	a file                       svmlight/LIBSVM, label<TAB>text lines, CSV, JSON lines or an array, Parquet,
//	                             fastText's lines, lines of text, idx, .npy, or .npz
//	                             of SciPy; also a FIFO or /dev/stdin, read once
//
// The format of a file is Options.Format, or is detected from the name or the first bytes. Any file
// may be compressed by gzip or zstd. To read a file or folder called goroot, use ./goroot.
//
// Text becomes counts of terms (Options.Tokenizer), and the vocabulary is sorted unless an option
// sets it. Index i of an svmlight file is column i−1, or column i if Options.ZeroBased is "true".
// Columns of an idx file are pixels, and a byte v becomes v/255. The label file of
// train-images-idx3-ubyte is train-labels-idx1-ubyte. For vectors, Options.Vocabulary names the
// columns. Other columns of an svmlight file are dropped.
//
// Documents without terms remain as empty rows. Corpus.Warnings counts them, and everything that is
// dropped, such as blank lines and words outside Options.Vocabulary. The corpus doesn't depend on
// the number of workers.
//
// Read returns a [*SyntaxError] for the first invalid line, a [*MemoryError] if memory is
// insufficient, a [*PanicError] if a function of opt panics, or an error of the operating system.
// It returns within a second after ctx is done, with the error of ctx.
func Read(ctx context.Context, source string, opt Options) (*Corpus, error) {
	if err := opt.validate(); err != nil {
		return nil, err
	}
	return opt.readWith(ctx, func(ctx context.Context, opt *Options, m *progressMeter) (*Corpus, error) {
		return read(ctx, source, opt, m)
	})
}

// ReadFrom is like [Read], for a stream in a file format. name is used in errors, and to detect the
// format. r is read to its end. After an error, more of r may have been read than necessary. After
// ctx is done, ReadFrom doesn't wait for a blocked call of r.Read, and r must not be used again.
func ReadFrom(ctx context.Context, r io.Reader, name string, opt Options) (*Corpus, error) {
	if r == nil {
		return nil, errors.New("corpus: reader is nil")
	}
	if err := opt.validate(); err != nil {
		return nil, err
	}
	if opt.Format == FormatFolder {
		return nil, fmt.Errorf("corpus: %s: format %s cannot be read from a stream", name, opt.Format)
	}
	return opt.readWith(ctx, func(ctx context.Context, opt *Options, m *progressMeter) (*Corpus, error) {
		end, stop := run.ContextReader(ctx, "corpus: the reader", countingReader{r, m})
		defer stop()
		opt.applyTrainingFormat(extensionOf(name))
		in := &input{name: name, file: io.NopCloser(end), line: 1, stream: true, decoding: opt.decoding, meter: m}
		if err := in.decode(end, nil); err != nil {
			return nil, err
		}
		return readInput(ctx, in, opt, m)
	})
}

// readWith prepares options, calls f with a meter, and reads the label file.
func (o *Options) readWith(
	ctx context.Context, f func(ctx context.Context, opt *Options, m *progressMeter) (*Corpus, error),
) (*Corpus, error) {
	o.Workers = min(run.NumWorkers(o.Workers), maxWorkers)
	o.MaxLineBytes = cmp.Or(o.MaxLineBytes, defaultMaxLineBytes)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	m := &progressMeter{}
	o.limitMemory(m)
	var report func(int64)
	if o.Progress != nil {
		report = func(int64) {
			o.Progress(Progress{Done: m.bytesRead.Load(), Total: m.totalBytes.Load(), Documents: m.documents.Load()})
		}
	}
	reading, reporter := run.StartReporter(reading, "corpus: Options.Progress", report)
	c, err := f(reading, o, m)
	if err == nil && o.GroupColumn != "" && c.Groups == nil {
		err = newSyntaxError("no groups called "+quote(o.GroupColumn),
			`a column of CSV or TSV, a key of JSON lines, or "qid" of svmlight`).withPosition(c.Source, 0)
	}
	if err == nil && o.Labels != "" {
		err = c.readLabels(reading, o)
	}
	var bad error
	if reporter.Finish(&bad); bad != nil {
		return nil, bad
	}
	if ctxErr := ctx.Err(); err != nil && ctxErr != nil {
		return nil, ctxErr // cancellation closed the file, which causes other errors
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

func read(ctx context.Context, source string, opt *Options, meter *progressMeter) (*Corpus, error) {
	if source == "goroot" {
		return readGoroot(ctx, findGoroot(ctx), opt, meter)
	}
	if parameters, ok := strings.CutPrefix(source, "synthetic:"); ok || source == "synthetic" {
		return readSynthetic(ctx, source, parameters, opt, meter)
	}
	info, err := os.Stat(source)
	if err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	extension := "/"
	if !info.IsDir() {
		extension = extensionOf(source)
	}
	opt.applyTrainingFormat(extension)
	switch {
	case info.IsDir() && (opt.Format == FormatAuto || opt.Format == FormatFolder):
		err := opt.checkTable(source, FormatFolder)
		if err != nil {
			return nil, err
		}
		c, err := readFolder(ctx, source, opt, meter)
		if err == nil {
			c.FormatOptions = opt.formatFor(extension)
		}
		return c, err
	case info.IsDir():
		return nil, fmt.Errorf("corpus: %s is a folder, but format %s needs a file", source, opt.Format)
	case opt.Format == FormatFolder:
		return nil, fmt.Errorf("corpus: %s must be a folder with one sub-folder per class", source)
	}
	if info.Mode().IsRegular() {
		meter.totalBytes.Store(info.Size())
	}
	in, err := openInput(ctx, source, opt.decoding, meter, nil)
	if err != nil {
		return nil, err
	}
	defer in.close()
	defer context.AfterFunc(ctx, in.close)() // ends a blocked read from a pipe
	return readInput(ctx, in, opt, meter)
}

func readInput(ctx context.Context, in *input, opt *Options, meter *progressMeter) (c *Corpus, err error) {
	opt.fromFile = true
	format, guessed := opt.Format, ""
	if format == FormatAuto {
		if format, guessed, err = in.detect(opt); err != nil {
			return nil, err
		}
	}
	read := findFormat(func(f *fileFormat) bool { return f.name == format }).read
	if err = opt.checkTable(in.name, format); err == nil {
		c, err = read(ctx, in, opt, meter)
	}
	if err == nil {
		c.Format, c.FormatOptions = format, opt.formatFor(extensionOf(in.name))
	}
	if bad, ok := err.(*SyntaxError); ok && bad.Err == nil { // for damaged data, the guessed format is irrelevant
		bad.GuessedFormat = guessed
	}
	return c, err
}

// checkTable returns an error if the caller named a column, and the format has no columns.
func (o *Options) checkTable(name string, format Format) error {
	tables := []Format{FormatCSV, FormatTSV, FormatJSONL, FormatParquet}
	if o.columnOption == "" || slices.Contains(tables, format) {
		return nil
	}
	return newSyntaxError(fmt.Sprintf("format %s, which has no columns", format), "csv, tsv, jsonl or parquet").
		withOption(o.columnOption, "names a column of a table").withPosition(name, 0)
}

// validate sets Tokenizer, and returns an error if options are out of range or contradict each
// other.
func (o *Options) validate() error {
	if err := o.FormatOptions.Validate(); err != nil {
		return err
	}
	names := [...]string{"Workers", "MinDF", "MaxDF", "MaxLineBytes", "MemoryBytes"}
	for i, value := range []int64{
		int64(o.Workers), int64(o.MinDF), int64(o.MaxDF), int64(o.MaxLineBytes), o.MemoryBytes,
	} {
		if value < 0 {
			return fmt.Errorf("corpus: %s must be nonnegative, got %d", names[i], value)
		}
	}
	if o.MaxDF > 0 && o.MaxDF < o.MinDF {
		return fmt.Errorf("corpus: MaxDF must be at least MinDF, got %d and %d", o.MaxDF, o.MinDF)
	}
	if o.Vocabulary != nil && o.LoadVocabulary != nil {
		return fmt.Errorf("corpus: Vocabulary and LoadVocabulary cannot be combined")
	}
	if !utf8.ValidString(o.LabelSeparator) {
		return fmt.Errorf("corpus: LabelSeparator must be UTF-8, got %q", o.LabelSeparator)
	}
	if o.ModelTokenizer != nil {
		o.Tokenizer = *o.ModelTokenizer
	}
	if err := o.Tokenizer.Validate(); err != nil {
		return fmt.Errorf("corpus: Tokenizer: %w", err)
	}
	if o.ModelTokenizer == nil {
		o.Tokenizer = o.Tokenizer.WithPairs(true)
	}
	if err := o.TrainingFormat.Validate(); err != nil {
		return fmt.Errorf("%w: TrainingFormat", err)
	}
	for _, option := range [][2]string{{"LabelColumn", o.LabelColumn}, {"TextColumn", o.TextColumn},
		{"IDColumn", o.IDColumn}, {"Columns", o.Columns}} {
		if option[1] != "" {
			o.columnOption = cmp.Or(o.columnOption, option[0])
		}
	}
	o.decoding.charset, _ = charset.Lookup(o.Encoding)
	_, err := vocabularyColumns(&intern.Table{}, o.Vocabulary)
	return err
}

func (o *Options) resolveVocabulary() (err error) {
	if o.LoadVocabulary == nil {
		return nil
	}
	return run.CatchPanic("corpus: Options.LoadVocabulary", func() error {
		o.Vocabulary, err = o.LoadVocabulary()
		return err
	})
}

// Files returns the paths of the files that [Read] may open for a source: a file, the documents of
// a folder, an image file and its labels, the Go sources for goroot, or none for synthetic
// documents. Programs can use it to avoid overwriting an input. It fails if the source doesn't
// exist, or if a folder can't be listed.
func Files(ctx context.Context, source string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	folder, suffix := source, ""
	switch {
	case source == "goroot":
		root := findGoroot(ctx)
		if root == "" {
			return nil, nil
		}
		folder, suffix = filepath.Join(root, "src"), ".go"
	case source == "synthetic" || strings.HasPrefix(source, "synthetic:"):
		return nil, nil
	default:
		if info, err := os.Stat(source); err != nil {
			return nil, fmt.Errorf("corpus: %w", err)
		} else if labels := idxLabelsPath(source); !info.IsDir() && labels != "" {
			return []string{source, labels}, nil
		} else if !info.IsDir() {
			return []string{source}, nil
		}
	}
	files, loose, _, err := listFiles(ctx, folder, suffix)
	if len(files) == 0 && suffix == "" {
		files = loose
	}
	var paths []string
	for _, f := range files {
		paths = append(paths, f.path)
	}
	return paths, err
}
