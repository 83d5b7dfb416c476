// Package gram compares documents by kernels of information geometry, and trains, applies and
// searches classifiers on them.
//
// It is the door to this module: each function here is what the command grambench does, with the
// command's defaults where options are zero.
//
//	c, err := gram.Read(ctx, "mail/", gram.ReadOptions{})       // a folder with a sub-folder per class
//	m, err := gram.Train(ctx, c, gram.TrainOptions{})           // chooses kernel, C and scheme by cross-validation
//	p, err := m.PredictTexts(ctx, []string{"client hello"})     // p.Label(0), p.Scores, p.Known
//	err = m.Save("mail.model")                                  // gram.Load reads models of any kind
//	k, err := gram.Gram(ctx, c, "diffusion:t=2", gram.Options{}) // a mat.Symmetric
//
// The functions of each command of grambench, whose help says more about what it does:
//
//	corpus      Read, SelectTerms, sparse.Corpus, sparse.CSR
//	gram        Gram, Cross
//	neighbours  Neighbours
//	duplicates  Duplicates
//	train       Train, Model.Save
//	predict     Load, Model.Predict, Model.PredictTexts
//	cv          CrossValidate
//	grid        Search
//	explain     Model.Explain
//	kernels     Kernels
//	spectrum    Spectrum, engine/spectrum.Lanczos
//	pca         PCA, Components.Project
//	geometry    engine/geometry.Table, engine/geometry.At
//
// Documents are a [sparse.Corpus]: rows of counts, with the texts of their terms and their classes.
// [Read], [ReadFrom], [Texts], [Terms], [FromMatrix] and [Rows] make one.
//
// There is no mathematics here. Kernels and their matrices are those of package engine, learners
// those of package learn and the packages below it. Programs that need more than this package
// offers, such as rows of a matrix on demand, use them directly.
//
// Results don't depend on the number of workers, and are the same from run to run on one instruction
// set. Functions may be called concurrently, and return within a second of the end of their context,
// with its error. They compute on the processor.
package gram

import (
	"fmt"
	"slices"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// Options say how something is computed, not what. The zero value works.
type Options struct {
	ISA     string // instruction set: generic, avx2 or avx512; default the best that the processor can run
	Workers int    // goroutines; default one per processor. Results don't depend on it

	// MemoryBytes bounds what a call holds, its documents and its result included. Where that isn't
	// enough, the call fails before the work, with an error that names the need. Default: no bound.
	MemoryBytes int64

	// Kernels are the program's own ([engine.NewKernel]), which specifications and models know by
	// their name. Default: none.
	Kernels []engine.Kernel

	// Progress is called with how far long work is, at least once a second while there is something
	// to tell, never concurrently by one call. Default: none.
	Progress func(Progress)

	// Warn is called with what deserves notice but is no error, in a sentence without a full stop.
	// Default: warnings are dropped.
	Warn func(warning string)
}

// Must returns a value, and panics where err isn't nil. It makes short programs and tests shorter:
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

func (o *Options) tell(stage string, done, total int64) {
	if o.Progress != nil {
		o.Progress(Progress{stage, done, total})
	}
}

func (o *Options) warn(format string, args ...any) {
	if o.Warn != nil {
		o.Warn(fmt.Sprintf(format, args...))
	}
}

// kernel returns the kernel of a specification: one of the program's own, or one that package engine
// knows.
func (o *Options) kernel(spec string) (engine.Kernel, error) {
	at := slices.IndexFunc(o.Kernels, func(k engine.Kernel) bool { return k != nil && k.String() == spec })
	if at >= 0 {
		return o.Kernels[at], nil
	}
	return engine.ParseKernel(spec)
}

// engine makes an engine on embedded documents.
func (o *Options) engine(x *sparse.Embedded, stage string) engine.Options {
	return engine.Options{ISA: o.ISA, Workers: o.Workers, MemoryBytes: o.MemoryBytes,
		Progress: func(p engine.Progress) { o.tell(stage, p.Done, p.Total) }}
}
