// Package bench implements the command bench, which compares the engine with a merge of sorted
// lists and with the computer's peak performance. -explain and -suite select other measurements.
package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/instrument"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/sparse"
)

// Command is the command bench, which measures the speed of the engine.
var Command = &cli.Command{
	Name:    "bench",
	Summary: "measure pairs/s by instruction set and kernel",
	Help: `
Measures how many pairs of documents the engine computes per second. The baseline merges sorted
lists on one core, as LIBSVM does. Each round runs the baseline, and then each combination of
instruction set, kernel and number of workers. Results are medians over the rounds; ratios compare
measurements of the same round.

The kernel "tiles" computes c = 1 - cosine of all pairs without storing it, "neighbours" finds the
10 nearest neighbours of each document, "digest" sums hashes of c; all others fill whole matrices.
A second table compares multiply-adds with the peak rate of the CPU ("useful": for terms that both
documents have), and memory traffic with the memory bandwidth.`,
	Examples: `
grambench bench -in synthetic:docs=10000,terms=40000 -kernel diffusion:t=0.5 -workers 1,2
grambench bench -explain -in train.svm
grambench bench -kernel arccos:n=0.5 -kernel ngd -isa avx2`,
	Setup: func(f *cli.Flags) cli.RunFunc {
		b := &bench{f: f, workers: workerList{1}}
		f.DeclareReport()
		b.Documents.Declare(f, "goroot", &b.Limits)
		f.StartGroup("Kernels", "")
		b.Kernels.Declare(f, "tiles, neighbours, c and diffusion:t=0.5")
		f.StartGroup("Measuring", "")
		f.Var(&b.workers, "workers",
			"worker counts `LIST`, such as 1,2 or 1,2,4,...,all; all or 0 = one per CPU")
		f.IntVar(&b.rounds, "count", 5, "take the median of `N` rounds")
		f.IntVar(&b.numDocuments, "docs", 0, "use `N` documents, chosen at random (default: all)")
		f.Uint64Var(&b.seed, "seed", 1, "random `SEED` for sampling documents and pairs")
		f.StartGroup("Other reports", "")
		f.BoolVar(&b.explain, "explain", false, "compare measured times with the cost model by number of head terms")
		b.suite.declare(f)
		b.DeclareBackend(f)
		f.AddCheck(b.check)
		return b.run
	},
}

type bench struct {
	source.Documents
	source.Kernels
	backend.ComputeFlags
	f                    *cli.Flags
	workers              workerList
	rounds, numDocuments int
	seed                 uint64
	explain              bool
	suite                suite

	specs     []spec
	progress  *cli.Progress
	corpus    *corpus.Corpus
	embedded  map[sparse.Embedding]*sparse.Embedded
	engines   map[engineConfig]*engine.Engine
	heldBytes int64 // estimated memory in use, in bytes
}

type engineConfig struct {
	embedding          sparse.Embedding
	isa                asm.ISA
	workers, headTerms int
}

type environment struct {
	CPU       string `json:"cpu"`
	Go        string `json:"go"`
	Version   string `json:"version"`
	Date      string `json:"date"`
	NumRounds int    `json:"rounds"`
}

func newEnvironment(rounds int) environment {
	return environment{strings.TrimSpace(cpuid.CPU.BrandName), runtime.Version(), cli.Version,
		time.Now().Format(time.DateOnly), rounds}
}

func (a environment) line() string {
	return fmt.Sprintf("%s, %s, grambench %s, %s; median of %s", report.OrUnknown(a.CPU), a.Go, a.Version, a.Date,
		report.FormatCountOf(a.NumRounds, "round", "rounds"))
}

// header holds the first fields of reports on documents.
type header struct {
	Corpus source.Summary `json:"corpus"`
	environment
}

// Describe sets the title of d and adds the header lines.
func (h header) Describe(d *report.Document) {
	d.Title = "Benchmark on " + filepath.Base(h.Corpus.Source)
	d.AddLine(h.Corpus)
	d.AddLinef("%s\n", h.line())
}

// check parses the kernels, and returns a usage error if flags are invalid or can't be combined.
func (b *bench) check() (err error) {
	if err := b.checkSuite(); err != nil || b.suite.size != "" {
		return err
	}
	switch {
	case b.rounds < 1:
		return cli.Usagef("-count must be at least 1, got %d", b.rounds)
	case b.numDocuments < 0:
		return cli.Usagef("-docs must not be negative, got %d", b.numDocuments)
	case b.explain && b.OnGPU():
		return cli.Usagef("-explain requires -backend cpu")
	case b.explain && !slices.Equal(b.workers, workerList{1}):
		return cli.Usagef("-explain requires -workers 1")
	case b.explain && len(b.Specs) > 0:
		return cli.Usagef("-explain and -kernel cannot be combined")
	}
	b.specs, err = b.parseKernels()
	return err
}

func (b *bench) run(ctx context.Context, e *cli.Env) (err error) {
	if most, have := slices.Max(b.workers), runtime.GOMAXPROCS(0); most > have {
		e.Warnf("-workers %d exceeds the %s available, so timings are unreliable", most,
			report.FormatCountOf(have, "CPU", "CPUs"))
	}
	if b.suite.size != "" {
		return b.runSuite(ctx, e)
	}
	b.progress = e.NewProgress(false)
	defer b.progress.Clear()
	if b.corpus, err = b.Read(ctx, e, b.progress); err != nil {
		return err
	}
	n := b.corpus.Documents.Rows()
	if b.numDocuments > 0 && b.numDocuments < n {
		chosen := rand.New(rand.NewPCG(b.seed, 0)).Perm(n)[:b.numDocuments]
		slices.Sort(chosen)
		b.corpus = b.corpus.Select(chosen)
		n = b.numDocuments
	}
	if n < 2 {
		return fmt.Errorf("%s has %s, but at least 2 are required", b.corpus.Source, report.FormatDocuments(n))
	}
	b.heldBytes = backend.RuntimeBytes + b.corpus.Documents.Bytes()
	b.embedded, b.engines = map[sparse.Embedding]*sparse.Embedded{}, map[engineConfig]*engine.Engine{}
	measure := b.measurePairs
	if b.explain {
		measure = b.measureHeads
	}
	r, err := measure(ctx, header{source.NewSummary(b.corpus), newEnvironment(b.rounds)})
	if err != nil {
		return err
	}
	b.progress.Clear()
	return b.PrintReport(e, b.f, r)
}

// spec is a kernel to measure. The measurement computes the whole matrix or runs a pass.
type spec struct {
	name   string
	pass   pass
	kernel kernel.Kernel
}

// pass computes tiles, a digest or neighbours of all pairs. It doesn't store the matrix.
type pass func(ctx context.Context, e *engine.Engine, k kernel.Kernel) error

// passes lists the passes, each with its kernel: the cosine distance c, or a kernel that decreases
// with c.
var passes = []struct {
	name, kernel string
	pass         pass
}{
	{"tiles", "c", func(ctx context.Context, e *engine.Engine, _ kernel.Kernel) error {
		return e.EachTile(ctx, nil, engine.Request{OmitSymmetric: true}, func(*engine.Tile) error { return nil })
	}},
	{"digest", "c", func(ctx context.Context, e *engine.Engine, k kernel.Kernel) error {
		_, err := e.Digest(ctx, k)
		return err
	}},
	{"neighbours", "bhattacharyya", func(ctx context.Context, e *engine.Engine, k kernel.Kernel) error {
		_, err := e.Neighbours(ctx, k, engine.NeighbourOptions{Count: 10})
		return err
	}},
}

func (b *bench) parseKernels() (out []spec, err error) {
	names := b.Specs
	if len(names) == 0 {
		names = cli.StringList{"tiles", "neighbours", "c", "diffusion:t=0.5"}
	}
	for _, name := range names {
		s := spec{name: name}
		for _, p := range passes {
			if rest, ok := strings.CutPrefix(name, p.name); ok && (rest == "" || rest[0] == ':') {
				s.pass, name = p.pass, p.kernel+rest
			}
		}
		one := source.Kernels{Specs: cli.StringList{name}, Embedding: b.Embedding}
		k, err := one.Parse()
		if err != nil {
			return nil, err
		}
		s.kernel = k[0]
		out = append(out, s)
	}
	return out, nil
}

// fastestISA returns the fastest instruction set that -isa allows.
func (b *bench) fastestISA() asm.ISA {
	if b.ISA != "" {
		return asm.ISA(b.ISA)
	}
	return asm.BestKernels().ISA
}

// engine returns the engine for s and the embedded documents. It creates the engine if necessary.
func (b *bench) engine(ctx context.Context, s engineConfig) (e *engine.Engine, x *sparse.Embedded, err error) {
	if x = b.embedded[s.embedding]; x == nil {
		if x, err = source.Embed(ctx, b.corpus, s.embedding, 0); err != nil {
			return nil, nil, err
		}
		b.embedded[s.embedding] = x
	}
	if e = b.engines[s]; e != nil {
		return e, x, nil
	}
	opt := b.EngineOptions(s.isa, b.progress)
	opt.Workers, opt.HeadTerms = s.workers, s.headTerms
	if e, err = engine.New(x, opt); err != nil {
		return nil, nil, err
	}
	b.engines[s] = e
	return e, x, b.reserve("the engines for "+report.FormatDocuments(x.Rows()), e.Info().Bytes)
}

// allocate allocates float32 values. It touches every page, so that the measured times don't
// include page faults.
func (b *bench) allocate(what string, floats int) ([]float32, error) {
	if err := b.reserve(what, 4*int64(floats)); err != nil {
		return nil, err
	}
	buffer := make([]float32, floats)
	instrument.TouchPages(buffer)
	return buffer, nil
}

// reserve adds bytes to the memory in use. It fails if the sum exceeds the memory limit.
func (b *bench) reserve(what string, bytes int64) error {
	b.heldBytes += bytes
	if err := b.CheckMemory(what, b.heldBytes); err != nil {
		return fmt.Errorf("%w; -docs N uses fewer documents", err)
	}
	return nil
}

// workerList is the value of -workers: numbers of workers, separated by commas.
type workerList []int

func (l *workerList) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint([]int(*l)), " ", ","), "[]")
}

func (l *workerList) Set(s string) error {
	var list workerList
	for _, part := range expandRanges(s) {
		n, err := strconv.Atoi(part)
		if part == "all" {
			n, err = 0, nil
		}
		if err != nil || n < 0 {
			return fmt.Errorf("%q is not a list of worker counts, such as 1,2", s)
		}
		if n == 0 {
			n = runtime.GOMAXPROCS(0)
		}
		if named := strings.Contains(s, "all"); slices.Contains(list, n) && named {
			continue // "all" may equal a listed number
		} else if slices.Contains(list, n) {
			return fmt.Errorf("%q contains %d twice", s, n)
		}
		list = append(list, n)
	}
	*l = list
	return nil
}
