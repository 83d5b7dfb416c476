package sparse

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

// Options says how [Read] reads. The zero value works.
type Options struct {
	Format  Format // default FormatAuto: from the name and the first bytes
	Workers int    // goroutines; default runtime.GOMAXPROCS(0); more than 1024 count as 1024
	// least document frequency of a term; default 2 for text, 1 for vectors; no meaning beside
	// Vocabulary
	MinDF      int
	MaxDF      int      // greatest document frequency of a term; default no limit; no meaning beside Vocabulary
	Vocabulary []string // if not nil: the terms to count, all others are left out (test documents)

	// VocabularyLater, if not nil, is asked for Vocabulary where the source is text, once all of it
	// is counted: the vocabulary may come from another file that is read meanwhile. Other sources
	// never ask, so it tells text from vectors, too. An error of it becomes that of Read, and so
	// does a term twice; nil means no vocabulary.
	VocabularyLater func() ([]string, error)

	// keep the qid of each vector of an svmlight file as Corpus.Groups; a line without one is an
	// error
	Groups       bool
	Signed       bool // accept negative values; by default a negative count is an error
	MaxLineBytes int  // longest line accepted; default 64 MiB, or a quarter of MemoryBytes
	// bound on what reading holds, the corpus included; a source beyond it is a [*MemoryError];
	// default none
	MemoryBytes int64
	Progress    func(Progress) // called at most every 100 ms and once at the end, never concurrently; default none

	memory *allowance // counts against MemoryBytes; nil without a bound
}

// Progress tells how far a reader is.
type Progress struct {
	Done, Total int64 // bytes as stored; Total is 0 where it isn't known
	Documents   int64 // documents so far
}

// Format is a format that [Read] reads.
type Format string

// The formats.
const (
	FormatAuto         Format = ""             // from the name and the first bytes
	FormatSVMLight     Format = "svmlight"     // label index:value ..., as svm-train reads it
	FormatTSV          Format = "tsv"          // label<TAB>text, one document a line
	FormatFolder       Format = "folder"       // one sub-folder a class, one file a document
	FormatMatrixMarket Format = "matrixmarket" // coordinate, real, integer or pattern, general
	FormatIDX          Format = "idx"          // images of bytes, with a file of labels beside, as MNIST has them
)

const (
	defaultMaxLineBytes = 64 << 20
	defaultTextMinDF    = 2 // a word of one document matches nothing
	mostWorkers         = 1024
)

// Read reads the corpus that source names:
//
//	goroot                       the .go files of the local Go installation, labelled by the top folder below src
//	synthetic:docs=,terms=,...   documents drawn from class-wise Zipf-Mandelbrot multinomials, see [Synthetic]
//	a folder                     one sub-folder a class, one file a document; or files alone, documents without a class
//	a folder with idx files      the images that are called train-images-idx3-ubyte, as MNIST has them
//	a file                       svmlight/LIBSVM, label<TAB>text lines, MatrixMarket or idx, which Options.Format or the name or the first bytes tell
//
// Files may be gzipped, which the first bytes tell. A file or folder that is itself called goroot
// is read as ./goroot.
//
// Text becomes counts of terms, a term being a run of lower-cased letters; the vocabulary is
// sorted. In an svmlight file an index is the number of its column (so column 0 stays empty in
// files that count from 1, and training and test files agree whatever they count from). In a
// MatrixMarket file row i, column j, both from 1, is document i−1, column j−1, and there are no
// classes. The bytes v of an idx file of images become values v/255, in the column of their place
// in the image; labels are read from the file beside it that has "labels" in its name in the place
// of "images" (train-labels-idx1-ubyte for train-images-idx3-ubyte, each gzipped or not). Where
// Options.Vocabulary is given for vectors it names the columns, and columns beyond it are left out.
//
// Nothing is dropped in silence: documents without terms stay as empty rows, and they, blank lines,
// words outside Options.Vocabulary and the like are counted in Corpus.Warnings. The corpus doesn't
// depend on the number of workers.
//
// Errors: a [*SyntaxError] for the first bad line of the source, a [*MemoryError] for one that
// Options.MemoryBytes doesn't hold, a [*PanicError] where a function of opt panics, an error of the
// operating system, or ctx.Err(), within a second of cancellation.
func Read(ctx context.Context, source string, opt Options) (*Corpus, error) {
	if err := given(ctx); err != nil {
		return nil, err
	}
	if err := opt.check(); err != nil {
		return nil, err
	}
	if opt.Workers == 0 {
		opt.Workers = runtime.GOMAXPROCS(0)
	}
	opt.Workers = min(opt.Workers, mostWorkers)
	if opt.MaxLineBytes == 0 {
		opt.MaxLineBytes = defaultMaxLineBytes
	}
	opt.bound()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	reading, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	meter := startMeter(opt.Progress, cancel)
	c, err := read(reading, source, &opt, meter)
	if bad := meter.stop(); bad != nil {
		return nil, bad
	}
	if ctxErr := ctx.Err(); err != nil && ctxErr != nil {
		return nil, ctxErr // a file closed under the reader by cancellation reports something else
	}
	return c, err
}

func read(ctx context.Context, source string, opt *Options, meter *meter) (*Corpus, error) {
	if source == "goroot" {
		return readGoroot(ctx, findGoroot(gorootPlaces(ctx)), opt, meter)
	}
	if parameters, ok := strings.CutPrefix(source, "synthetic:"); ok || source == "synthetic" {
		s, err := ParseSynthetic(parameters)
		if err != nil {
			return nil, err
		}
		return readSynthetic(ctx, source, s, opt, meter)
	}
	info, err := os.Stat(source)
	if err != nil {
		return nil, fmt.Errorf("sparse: %w", err)
	}
	if info.IsDir() && (opt.Format == FormatAuto || opt.Format == FormatIDX) {
		images := findIDX(source)
		if images == "" && opt.Format == FormatIDX {
			return nil, &SyntaxError{
				File:     source,
				Found:    "no " + idxTrain[0],
				Expected: "a folder with it, or a file of images",
			}
		}
		if images != "" {
			if source = images; opt.Format == FormatAuto {
				opt.Format = FormatIDX
			}
			if info, err = os.Stat(source); err != nil {
				return nil, fmt.Errorf("sparse: %w", err)
			}
		}
	}
	switch {
	case info.IsDir() && (opt.Format == FormatAuto || opt.Format == FormatFolder):
		return readFolder(ctx, source, opt, meter)
	case info.IsDir():
		return nil, fmt.Errorf("sparse: %s: a folder, expected a file in the format %s", source, opt.Format)
	case opt.Format == FormatFolder:
		return nil, fmt.Errorf("sparse: %s: a file, expected a folder with one sub-folder a class", source)
	}
	if info.Mode().IsRegular() {
		meter.total.Store(info.Size())
	}
	in, err := openInput(ctx, source, meter, nil)
	if err != nil {
		return nil, err
	}
	defer in.close()
	format, guessed := opt.Format, ""
	if format == FormatAuto {
		if format, guessed, err = in.detect(); err != nil {
			return nil, err
		}
	}
	var c *Corpus
	switch format {
	case FormatTSV:
		c, err = readTSV(ctx, in, opt, meter)
	case FormatMatrixMarket:
		c, err = readMatrixMarket(ctx, in, opt, meter)
	case FormatIDX:
		c, err = readIDX(ctx, in, opt, meter)
	default:
		c, err = readSVMLight(ctx, in, opt, meter)
	}
	if bad, ok := err.(*SyntaxError); ok && bad.Err == nil { // damaged data are no matter of the format
		bad.Guessed = guessed
	}
	return c, err
}

// check reports options that contradict themselves.
func (o *Options) check() error {
	switch o.Format {
	case FormatAuto, FormatSVMLight, FormatTSV, FormatFolder, FormatMatrixMarket, FormatIDX:
	default:
		return fmt.Errorf("sparse: format %q, expected %s, %s, %s, %s or %s",
			string(o.Format), FormatSVMLight, FormatTSV, FormatFolder, FormatMatrixMarket, FormatIDX)
	}
	for _, x := range []struct {
		name  string
		value int
	}{{"Workers", o.Workers}, {"MinDF", o.MinDF}, {"MaxDF", o.MaxDF}, {"MaxLineBytes", o.MaxLineBytes}} {
		if x.value < 0 {
			return fmt.Errorf("sparse: %s is %d, expected at least 0", x.name, x.value)
		}
	}
	if o.MemoryBytes < 0 {
		return fmt.Errorf("sparse: MemoryBytes is %d, expected at least 0", o.MemoryBytes)
	}
	if o.MaxDF > 0 && o.MaxDF < o.MinDF {
		return fmt.Errorf("sparse: MaxDF is %d, expected at least MinDF, %d", o.MaxDF, o.MinDF)
	}
	if o.Vocabulary != nil && o.VocabularyLater != nil {
		return fmt.Errorf("sparse: Vocabulary and VocabularyLater are both given, expected one of them")
	}
	_, err := columnsOf(o.Vocabulary)
	return err
}

// askVocabulary sets Vocabulary where it comes later.
func (o *Options) askVocabulary() (err error) {
	if o.VocabularyLater != nil {
		defer caught("VocabularyLater", &err)
		o.Vocabulary, err = o.VocabularyLater()
	}
	return err
}

// Files returns the paths of the files that [Read] opens for a source in a format: the documents of
// a folder, a file of images with its labels beside it, the sources of Go for goroot, none for
// synthetic ones. So a program can tell whether it is about to overwrite one of them. Errors: an
// unknown source or format, or one that can't be listed.
func Files(ctx context.Context, source string, format Format) ([]string, error) {
	if err := given(ctx); err != nil {
		return nil, err
	}
	if err := (&Options{Format: format}).check(); err != nil {
		return nil, err
	}
	if source == "goroot" {
		root := findGoroot(gorootPlaces(ctx))
		if root == "" {
			return nil, nil
		}
		files, _, _, err := listFiles(ctx, filepath.Join(root, "src"), ".go")
		return paths(files), err
	}
	if source == "synthetic" || strings.HasPrefix(source, "synthetic:") {
		return nil, nil
	}
	info, err := os.Stat(source)
	if err != nil {
		return nil, fmt.Errorf("sparse: %w", err)
	}
	if !info.IsDir() {
		return withIDXLabels(ctx, source, info, format), nil
	}
	if format == FormatAuto || format == FormatIDX {
		if images := findIDX(source); images != "" {
			return append([]string{images}, idxLabels(images)...), nil
		}
	}
	files, loose, _, err := listFiles(ctx, source, "")
	if len(files) == 0 {
		files = loose
	}
	return paths(files), err
}

func paths(files []fileDocument) []string {
	var out []string
	for _, f := range files {
		out = append(out, f.path)
	}
	return out
}

// withIDXLabels returns a file and, if it holds idx images, the files that may hold their labels.
// It reads nothing of a pipe.
func withIDXLabels(ctx context.Context, file string, info os.FileInfo, format Format) []string {
	labels := idxLabels(file)
	if labels == nil || format != FormatIDX && format != FormatAuto || !info.Mode().IsRegular() {
		return []string{file}
	}
	if format == FormatAuto {
		in, err := openInput(ctx, file, startMeter(nil, nil), nil)
		if err != nil {
			return []string{file}
		}
		defer in.close()
		if found, _, err := in.detect(); err != nil || found != FormatIDX {
			return []string{file}
		}
	}
	return append([]string{file}, labels...)
}

// meter counts what was read and reports it from a goroutine of its own, so that reports never run
// concurrently and reading never waits for them.
type meter struct {
	done, documents, total atomic.Int64
	report                 func(Progress)
	quit, ended            chan struct{}
	bad                    error // of report, which isn't called again
}

const reportEvery = 100 * time.Millisecond

// startMeter starts reporting; report may be nil. Should it panic, fail is called with the error
// that stop returns.
func startMeter(report func(Progress), fail func(error)) *meter {
	m := &meter{report: report}
	if report == nil {
		return m
	}
	m.quit, m.ended = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(m.ended)
		if m.bad = m.reports(); m.bad != nil {
			fail(m.bad)
		}
	}()
	return m
}

// reports calls report until quit is closed.
func (m *meter) reports() (err error) {
	defer caught("Progress", &err)
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			m.report(m.state())
		case <-m.quit:
			m.report(m.state())
			return nil
		}
	}
}

func (m *meter) state() Progress {
	return Progress{Done: m.done.Load(), Total: m.total.Load(), Documents: m.documents.Load()}
}

// stop makes the last report, returns when it is made, and says how reporting went.
func (m *meter) stop() error {
	if m.report == nil {
		return nil
	}
	close(m.quit)
	<-m.ended
	return m.bad
}

// countingReader counts the bytes of a file as they are stored, below decompression.
type countingReader struct {
	r io.Reader
	m *meter
}

func (c countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.m.done.Add(int64(n))
	return n, err
}
