// Package gram compares documents by kernels of information geometry, and trains, applies and
// searches classifiers on them.
//
// It is the module's interface for Go programs. Each function does what a command of gram does; zero options
// mean that command's defaults.
//
//	c, err := gram.Read(ctx, "mail/", gram.ReadOptions{})       // a folder with a sub-folder per class
//	m, err := gram.Train(ctx, c, gram.TrainOptions{})           // chooses terms, kernel and C by cross-validation
//	p, err := m.PredictTexts(ctx, []string{"client hello"})     // p.Label(0), p.Scores, p.Known
//	err = m.Save("mail.model")                                  // gram.Load reads models of any kind
//	k, err := gram.Gram(ctx, c, "diffusion:t=2", gram.Options{}) // a mat.Symmetric
//
// These functions correspond to commands, whose help says more:
//
//	corpus      Read, corpus.Corpus, sparse.CSR
//	matrix      Gram, Cross
//	neighbours  Neighbours
//	duplicates  Duplicates, NewIndex, Index.Query, Index.Add
//	train       Train, Model.Save
//	predict     Load, Model.Predict, Model.PredictTexts
//	evaluate    Model.Evaluate
//	cv          CrossValidate
//	grid        Search
//	explain     Model.Explain, Model.ExplainText, Model.ExplainDocument
//	serve       Load, Model.Warm, Model.PredictTexts, Model.ExplainText, Index.Query
//	kernels     Kernels
//	spectrum    Spectrum, engine/spectrum.Lanczos
//	pca         PCA, Components.Project
//
// Documents are a [corpus.Corpus]: rows of counts, with the texts of their terms and their classes. [Read],
// [ReadFrom], [Texts], [Terms], [FromMatrix] and [Rows] make one. A file or texts without any document are an error,
// since that is most likely a slip; a corpus of [Rows] may be empty, and so are matrices, neighbours and predictions
// of it. Documents and columns are numbered from 0; messages about a file number its lines from 1, or its documents
// if these aren't lines.
//
// Programs that need more than this package offers call those below it: package engine computes rows of a matrix on
// demand, and package solver trains on any matrix that serves rows.
//
// Results don't depend on the number of workers, and are the same from run to run on one instruction
// set. Functions may be called concurrently, and return within a second of the end of their context,
// with its error. They compute on the processor.
package gram

import (
	"context"
	"fmt"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/flagtext"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Options say how something is computed, not what. The zero value works.
type Options struct {
	ISA     string // instruction set: generic, avx2 or avx512; default the best that the processor can run
	Workers int    // goroutines; default one per processor. Results don't depend on it

	// MemoryBytes bounds what a call holds, including its documents and its result. If that isn't enough, the call
	// fails before the work with a [*corpus.MemoryError], which says how much it needs. Default: no bound.
	MemoryBytes int64

	// Kernels are the program's own ([kernel.New]); specifications such as sum(mine,linear) and models refer to them by
	// name. Default: none.
	Kernels []kernel.Kernel

	// Progress is called with the progress of long work, at least once a second while there is something to tell, and
	// never concurrently by one call. Default: none.
	Progress func(Progress)

	// Warn is called with what deserves notice but isn't an error, as a sentence without a full stop. Default:
	// warnings are dropped.
	Warn func(warning string)
}

// Must returns value, and panics if err isn't nil. It makes short programs and tests shorter:
//
//	c := gram.Must(gram.Read(ctx, "mail/", gram.ReadOptions{}))
func Must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// Progress is how far a stage of the work is.
type Progress struct {
	Stage       string // such as "reading" or "training"
	Done, Total int64  // of bytes, documents, pairs or machines; Total is 0 where it isn't known
}

// check checks what packages below name differently.
func (o *Options) check() error {
	if o.Workers < 0 {
		return fmt.Errorf("gram: Workers %d, expected 1 or more, or 0 for one per processor", o.Workers)
	}
	if o.MemoryBytes < 0 {
		return fmt.Errorf("gram: MemoryBytes %d, expected 1 or more, or 0 for no bound", o.MemoryBytes)
	}
	return nil
}

func (o *Options) tell(stage string, done, total int64) {
	if o.Progress != nil {
		defer run.Rethrow("gram: Options.Progress")
		o.Progress(Progress{stage, done, total})
	}
}

func (o *Options) warn(format string, args ...any) {
	if o.Warn != nil {
		defer run.Rethrow("gram: Options.Warn")
		o.Warn(flagtext.Sprintf(format, args...))
	}
}

// Errors that [Load], [LoadFrom], [LoadIndex] and [ReadIndex] wrap, for [errors.Is]. Models in LIBSVM's form are
// text, whose errors wrap none of them.
var (
	ErrFormat    = model.ErrFormat    // the file isn't a model, or not an index
	ErrVersion   = model.ErrVersion   // another version of the program wrote it
	ErrDamaged   = model.ErrDamaged   // its checksum or its contents are wrong, or it is truncated
	ErrTruncated = model.ErrTruncated // it ends too early; wraps ErrDamaged
)

// fieldError is an error of the packages below in the words of this one: it begins with "gram: ", once.
type fieldError struct{ error }

func (e fieldError) Error() string {
	return "gram: " + flagtext.TrimPackages(flagtext.InFields(e.error))
}
func (e fieldError) Unwrap() error { return e.error }

// inFields returns an error as one of this package; that of a context stays what it is, since callers compare.
func inFields(err error) error {
	_, is := err.(fieldError)
	if err == nil || is || err == context.Canceled || err == context.DeadlineExceeded {
		return err
	}
	return fieldError{err}
}

// facade makes the error of an exported function one of this package, as is the panic of a callback.
func facade(err *error) {
	if v := recover(); v != nil {
		failed, ok := v.(*engine.PanicError)
		if !ok {
			panic(v)
		}
		*err = failed
	}
	*err = inFields(*err)
}

// kernel returns the kernel of a specification: one of the program's own, or one that package engine
// knows.
func (o *Options) kernel(spec string) (kernel.Kernel, error) {
	return kernel.Parse(spec, o.Kernels...)
}

// engine makes an engine on embedded documents.
func (o *Options) engine(x *sparse.Embedded, stage string) engine.Options {
	return engine.Options{ISA: o.ISA, Workers: o.Workers, MemoryBytes: o.MemoryBytes,
		Progress: func(p engine.Progress) { o.tell(stage, p.Done, p.Total) }}
}
