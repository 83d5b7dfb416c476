package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// flags are the flags that commands share. A command declares the groups that it needs; the others keep their zero values.
type flags struct {
	set *flag.FlagSet

	in, format   string
	minDF, maxDF int
	signed       bool
	maxLine      byteSize
	onlyReads    bool     // nothing follows reading that takes memory
	learns       bool     // the source must be named: no command learns from documents that nobody named
	sets         string   // what says which points belong together, for commands that compare sets of them
	vocabulary   []string // if not nil: the terms to count, those of the training documents

	vocabularyLater func() ([]string, error) // if not nil: where the vocabulary comes from once text is counted

	kernels stringList
	embed   string

	isa, backend string
	gpuMemory    byteSize
	gpuTensor    bool
	gpu          gpu
	startsOver   bool // nothing is printed, and no file complete, before all is done: the work can be done once more
	workers      int
	memory       byteSize

	seed uint64
	json bool

	inputs  []input  // what flags name to be read
	outputs []output // and to be written

	args    []string                              // arguments that aren't flags
	maxArgs int                                   // how many of them the command takes
	rewrite func(args []string) ([]string, error) // brings other programs' forms into those of package flag
	check   func() error                          // holds what the command asks of its flags together

	usage, help string // instead of the command's, where they depend on the arguments; empty for the command's
}

func newFlags(name string) *flags {
	f := &flags{set: flag.NewFlagSet(name, flag.ContinueOnError)}
	f.set.SetOutput(io.Discard) // errors and help are printed by the caller, each to its own stream
	f.set.BoolVar(&f.json, "json", false, "print one JSON object instead of the table")
	return f
}

// sourceFlags declares what to read, by default the source fallback, and how.
func (f *flags) sourceFlags(fallback string) {
	f.inputFlags(fallback)
	f.set.IntVar(&f.minDF, "min-df", 0, "leave out terms that fewer than `N` documents have (default 2 for text, 1 for vectors)")
	f.set.IntVar(&f.maxDF, "max-df", 0, "leave out terms that more than `N` documents have (default: no limit)")
	f.set.BoolVar(&f.signed, "signed", false, "accept negative values")
}

// inputFlags declares what to read, by default the source fallback, for commands that take it as it is.
func (f *flags) inputFlags(fallback string) {
	f.set.StringVar(&f.in, "in", fallback, "read the documents from `SOURCE`: a file, a folder, goroot or synthetic:...")
	f.readsSource("-in", &f.in)
	f.set.StringVar(&f.format, "format", "", "`FORMAT` of a file: svmlight, tsv, folder, matrixmarket or idx (default: from the name and the first bytes)")
	f.set.Var(&f.maxLine, "max-line", "accept lines of at most `SIZE` (default: 64M, or what -m leaves for a line)")
	f.set.Var(&f.memory, "m", "use at most `SIZE` of memory, such as 500M or 4G; a plain number means MB (default: three quarters of what is free)")
}

// kernelFlags declares the kernels; fallback is the text that says which are taken when none is given.
func (f *flags) kernelFlags(fallback string) {
	f.set.Var(&f.kernels, "kernel", "compute the kernel `SPEC`, such as diffusion:t=0.5; may be given several times where a command takes several (default: "+fallback+")")
	f.set.StringVar(&f.embed, "embed", "", "embed documents as `EMBEDDING`, such as tfidf-l2, for all kernels that don't name their own (default: what each kernel wants)")
}

// computeFlags declares how to compute; workers is the default number of goroutines, 0 for all processors.
func (f *flags) computeFlags(workers int) {
	text := "compute with `N` goroutines"
	if workers == 0 {
		text += " (default: all processors)"
	}
	f.set.IntVar(&f.workers, "workers", workers, text)
	f.backendFlags()
}

// backendFlags declares what to compute on.
func (f *flags) backendFlags() {
	f.set.StringVar(&f.isa, "isa", "", "use the instruction set `ISA`: generic, avx2 or avx512; one that this processor lacks is an error (default: the best)")
	f.set.StringVar(&f.backend, "backend", "auto", "compute on `BACKEND`: cpu, cuda (an NVIDIA GPU; an error where there is none), or auto, the GPU for what takes the processor long, where there is one")
	f.set.Var(&f.gpuMemory, "gpu-mem", "take at most `SIZE` of the GPU's memory, such as 8G (default: 90 % of what is free)")
	f.set.BoolVar(&f.gpuTensor, "gpu-tensor", false, "have the GPU's tensor cores take the products of terms that at least a quarter of the documents have; whether that is faster has yet to be measured (default: off)")
}

// seedFlag declares the seed of a random choice.
func (f *flags) seedFlag(of string) {
	f.set.Uint64Var(&f.seed, "seed", 1, "seed of "+of)
}

// parse reads the flags and checks what can be checked without reading anything.
func (f *flags) parse(args []string) error {
	if err := f.parseArgs(args); err != nil {
		return err
	}
	if f.workers < 0 {
		return usagef("-workers %d is below 0", f.workers)
	}
	if f.minDF < 0 || f.maxDF < 0 {
		return usagef("-min-df and -max-df can't be negative")
	}
	if f.maxDF > 0 && f.maxDF < f.minDF {
		return usagef("-max-df %d is below -min-df %d: no term could stay", f.maxDF, f.minDF)
	}
	if f.embed != "" {
		if _, err := sparse.ParseEmbedding(f.embed); err != nil {
			return usageError{fmt.Errorf("-embed: %w", err)}
		}
	}
	if known := []string{"", "auto", "svmlight", "libsvm", "tsv", "folder", "matrixmarket", "idx"}; !slices.Contains(known, f.format) {
		return usagef("-format %q, expected svmlight, tsv, folder, matrixmarket or idx", f.format)
	}
	if parameters, ok := strings.CutPrefix(f.in, "synthetic:"); ok {
		if _, err := sparse.ParseSynthetic(parameters); err != nil {
			return usageError{err}
		}
	}
	if err := f.checkBackend(); err != nil {
		return err
	}
	if f.check != nil {
		if err := f.check(); err != nil {
			return err
		}
	}
	if f.learns && f.in == "" {
		return noSource("learn from")
	}
	return nil
}

// parseArgs reads flags and the arguments between and behind them.
func (f *flags) parseArgs(args []string) error {
	if f.rewrite != nil {
		var err error
		if args, err = f.rewrite(args); err != nil {
			return err
		}
	}
	for {
		if err := f.set.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return err
			}
			return usageError{err}
		}
		switch {
		case f.set.NArg() == 0:
			return nil
		case f.maxArgs == 0:
			return usagef("unexpected argument %q, expected flags only (a source is given by -in)", f.set.Arg(0))
		case len(f.args) == f.maxArgs:
			return usagef("unexpected argument %q behind %s", f.set.Arg(0), join(f.args))
		}
		f.args, args = append(f.args, f.set.Arg(0)), f.set.Args()[1:]
	}
}

// checkISA holds that an instruction set that is asked for is there.
func (f *flags) checkISA() error {
	if f.isa == "" {
		return nil
	}
	known := []asm.ISA{asm.Generic, asm.AVX2, asm.AVX512}
	if !slices.Contains(known, asm.ISA(f.isa)) {
		return usagef("-isa %q, expected one of %s", f.isa, join(known))
	}
	_, err := asm.For(asm.ISA(f.isa))
	return err
}

// isas returns the instruction sets to go through: the one that was asked for, or all that can run here.
func (f *flags) isas() []asm.ISA {
	if f.isa != "" {
		return []asm.ISA{asm.ISA(f.isa)}
	}
	return asm.Available()
}

// parseKernels parses the kernels that were asked for, or else the given ones.
func (f *flags) parseKernels(fallback ...string) ([]engine.Kernel, error) {
	specs := []string(f.kernels)
	if len(specs) == 0 {
		specs = fallback
	}
	embedding, err := sparse.ParseEmbedding(f.embed)
	if err != nil && f.embed != "" {
		return nil, usageError{err}
	}
	var out []engine.Kernel
	for _, spec := range specs {
		if engine.IsHyperbolic(spec) {
			return nil, usagef("-kernel %s compares sets of points: gram, spectrum, train, cv and predict take it, with -sets", spec)
		}
		k, err := engine.ParseKernel(spec)
		if f.embed != "" {
			k, err = engine.ParseKernelIn(spec, embedding)
		}
		if err != nil {
			return nil, usageError{err}
		}
		out = append(out, k)
	}
	return out, nil
}

// sparseFormat returns the format as package sparse names it.
func (f *flags) sparseFormat() sparse.Format {
	switch f.format {
	case "auto":
		return sparse.FormatAuto
	case "libsvm":
		return sparse.FormatSVMLight
	}
	return sparse.Format(f.format)
}

// stringList is a flag that may be given several times.
type stringList []string

func (s *stringList) String() string     { return strings.Join(*s, " ") }
func (s *stringList) Set(v string) error { *s = append(*s, v); return nil }

// byteSize is a number of bytes, written with a unit: 500M, 4G, 1.5g, 2GiB. Units are powers of 1024. A plain number is in MB, as
// svm-train's -m has it. Zero means that none was given.
type byteSize int64

func (b *byteSize) String() string {
	if b == nil || *b == 0 {
		return ""
	}
	return formatBytes(int64(*b))
}

func (b *byteSize) Set(s string) error {
	digits := strings.TrimRight(s, "BIKMGTbikmgt")
	unit := strings.ToUpper(s[len(digits):])
	shifts := map[string]int{"": 20, "B": 0, "K": 10, "M": 20, "G": 30, "T": 40}
	shift, ok := shifts[strings.TrimSuffix(strings.TrimSuffix(unit, "B"), "I")]
	if unit == "B" {
		shift = 0
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || !ok || !(v > 0) || !(math.Ldexp(v, shift) < math.MaxInt64) {
		return fmt.Errorf("%q is not a size, expected a positive number with K, M, G or T, such as 4G", s)
	}
	*b = byteSize(math.Ldexp(v, shift))
	return nil
}

// join writes names separated by commas.
func join[S ~string](names []S) string {
	var b strings.Builder
	for i, n := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(n))
	}
	return b.String()
}
