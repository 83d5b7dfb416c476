// Package gram compares documents by kernels of information geometry, and trains, applies and tunes
// classifiers and regression models.
//
// This package is the module's main interface for Go programs. Functions correspond to commands of
// the program gram and have the same defaults.
//
//	c, err := gram.Read(ctx, "mail/", gram.ReadOptions{})       // a folder with a sub-folder per class
//	m, err := gram.Train(ctx, c, gram.TrainOptions{})           // chooses terms, kernel and C by cross-validation
//	p, err := m.PredictTexts(ctx, []string{"client hello"})     // p.Label(0), p.Scores, p.KnownWordCounts
//	err = m.Save("mail.model")                                  // gram.Load reads models of any kind
//	k, err := gram.Gram(ctx, c, "diffusion:t=2", gram.Options{}) // a mat.Symmetric
//
// The list below names the functions for each command. The help of the command explains more.
//
//	corpus      Read, corpus.Corpus, sparse.CSR
//	matrix      Gram, CrossGram
//	neighbours  Neighbours
//	duplicates  Duplicates, NewIndex, Index.Query, Index.Add
//	train       Train, Model.Save
//	predict     Load, Model.Predict, Model.PredictTexts, Model.PredictRows
//	evaluate    Model.Evaluate
//	cv          CrossValidate
//	grid        Search
//	explain     Model.Explain, Model.ExplainText, Model.ExplainDocument
//	serve       Load, Model.WarmUp, Model.PredictTexts, Model.ExplainText, Index.Query
//	kernels     Kernels
//	spectrum    Spectrum, engine/spectrum.Lanczos
//	pca         PCA, Components.Project
//
// A [corpus.Corpus] holds documents as rows of counts, the text of each term, and the classes of
// each document. [Read], [ReadFrom], [FromTexts], [FromRows], [FromTerms], [FromMatrix] and
// [CorpusBuilder] create corpora. It is an error if a file or a list of texts contains no
// documents. A corpus built by [CorpusBuilder] may be empty; the matrix, neighbours and predictions
// of an empty corpus are empty. Documents and columns are numbered from 0. An error about a file
// contains the line number, counted from 1, or the document number if documents aren't lines.
//
// Package engine computes rows of a Gram matrix on demand. Package solver trains support vector
// machines on any matrix that provides rows.
//
// Results are reproducible for the same instruction set, and don't depend on the number of workers.
// There is one exception: if the kernel values of a training run don't all fit in memory, a support
// vector machine depends on Workers and MemoryBytes, within the tolerance. Functions may be called
// concurrently. A function returns the context's error within a second after its context is done.
// All computations run on the CPU.
//
// SPDX-License-Identifier: BSD-3-Clause
package gram

import (
	"context"
	"fmt"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/flagtext"
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Options holds the options common to all computations. The zero value works.
type Options struct {
	ISA     string // instruction set: generic, avx2 or avx512; default the fastest that the CPU supports
	Workers int    // number of goroutines; default one per CPU

	// MemoryBytes limits the memory of a function call, including documents and result. If the
	// limit is too low, the call fails with a [*corpus.MemoryError] that states the required
	// memory, usually before the work starts. Default: no limit.
	MemoryBytes int64

	// Kernels are user-defined kernels ([kernel.New]). Models, and specifications such as
	// sum(mine,linear), refer to these kernels by name. Default: none.
	Kernels []kernel.Kernel

	// Progress is called with the progress of a long computation, usually at least once a second. A
	// computation doesn't call Progress concurrently. Default: none.
	Progress func(Progress)

	// Warn is called for each warning, which is a sentence without a full stop. Default: none.
	Warn func(warning string)
}

// Must returns value, and panics if err isn't nil. It shortens small programs and tests:
//
//	c := gram.Must(gram.Read(ctx, "mail/", gram.ReadOptions{}))
func Must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// Progress describes the progress of a stage, such as reading or training.
type Progress struct {
	Stage       string // name of the stage, such as "reading" or "training"
	Done, Total int64  // completed and total bytes, documents, pairs or binary classifiers; Total is 0 if unknown
}

// check returns an error if Workers or MemoryBytes is negative.
func (o *Options) check() error {
	if o.Workers < 0 {
		return fmt.Errorf("gram: Workers must be positive, or 0 for one per CPU, got %d", o.Workers)
	}
	if o.MemoryBytes < 0 {
		return fmt.Errorf("gram: MemoryBytes must be positive, or 0 for no limit, got %d", o.MemoryBytes)
	}
	return nil
}

func (o *Options) reportProgress(stage string, done, total int64) {
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

// Errors of [Load], [LoadFrom], [LoadIndex] and [ReadIndex] about invalid files wrap one of these
// errors, unless the file is a model in LIBSVM's text format.
var (
	ErrFormat    = archive.ErrFormat    // the file isn't a model ([Load]) or an index ([LoadIndex])
	ErrVersion   = archive.ErrVersion   // the program doesn't read the file's format version
	ErrDamaged   = archive.ErrDamaged   // checksum mismatch, invalid contents, or truncated file
	ErrTruncated = archive.ErrTruncated // the file ends early; wraps ErrDamaged
)

// fieldError wraps an error of a lower-level package. It adds the prefix "gram: " to the message.
type fieldError struct{ error }

func (e fieldError) Error() string {
	return "gram: " + flagtext.TrimPackages(flagtext.FieldMessage(e.error))
}
func (e fieldError) Unwrap() error { return e.error }

// wrapError wraps err in a fieldError, unless err is nil or a fieldError. context.Canceled and
// context.DeadlineExceeded are unchanged, so that callers can compare these errors by ==.
func wrapError(err error) error {
	_, is := err.(fieldError)
	if err == nil || is || err == context.Canceled || err == context.DeadlineExceeded {
		return err
	}
	return fieldError{err}
}

// convertError converts *err, or a panic in a user-defined function, to an error of this package.
func convertError(err *error) {
	if v := recover(); v != nil {
		failed, ok := v.(*engine.PanicError)
		if !ok {
			panic(v)
		}
		*err = failed
	}
	*err = wrapError(*err)
}

func (o *Options) parseKernel(spec string) (kernel.Kernel, error) {
	return kernel.Parse(spec, o.Kernels...)
}

func (o *Options) engineOptions(x *sparse.Embedded, stage string) engine.Options {
	return engine.Options{ISA: o.ISA, Workers: o.Workers, MemoryBytes: o.MemoryBytes,
		Progress: func(p engine.Progress) { o.reportProgress(stage, p.Done, p.Total) }}
}
