package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

var benchCommand = command{
	name:    "bench",
	summary: "pairs/s, share of the machine's peak and bytes, by instruction set and kernel, against a merge of sorted lists",
	help: `
Measures how many pairs a second the engine computes, beside the usual way, which walks the sorted lists of two documents and adds up the products of
matching terms (as LIBSVM's Kernel::dot does), on one core; kernels of histograms, whose pairing is chi2 or js, stand beside a merge that adds up the
terms of that similarity instead. Every round runs the merge and then every instruction set, kernel and number of workers; figures
are medians over the rounds, and each ratio is one of two figures of the same round, so that a machine that changes its speed changes neither much.

The kernel "tiles" stands for dot products and c = 1 - cosine of all pairs without a matrix (dot tiles): each piece is computed and left. All others are
whole matrices with all n² values, stored in memory that was touched before, so that page faults are no part of their time.

Against the machine: the multiply-adds a second of the head stage (each value of a document that streams past a panel, times the documents in the panel)
as a share of the peak, which is multiply-adds in registers, measured just before each row in every round, the greatest counts; "useful" counts only terms that both documents of a pair
i < j have. Bytes are counted, not measured: 6 for each value streamed past a panel, 8 for each match in the tail, 4 for each value of the
matrix; panels and tiles stay in the caches. They stand beside the bandwidth of reading and of copying (bytes read and written) a buffer of four
times the last-level cache, measured in every round. Times of stages are shares of workers times seconds; what is left is waiting and switching.

-family measures whole matrices of every kernel of the catalogue that is a map of c, and of some more that take other ways, one worker, against a matrix
of the diffusion kernel that is computed before every fourth; the slowest comes first. The default is 3 rounds.
-maps measures the elementwise maps alone, on 4,096 values of c in [0, 1] in the first-level cache, one worker. gram share is the part of a whole
diffusion matrix of the documents that its map takes.
-explain measures the time of the tiles for a range of heads, the frequent terms that are multiplied through dense panels, beside what the
engine's cost model predicts (which leaves out what comes after the dot products).
-plot draws a roofline: the measured ceilings, and where stages and kernels stand below them.

Examples:
  grambench bench
  grambench bench -in synthetic:docs=10000,terms=40000 -kernel diffusion:t=0.5 -workers 1,2
  grambench bench -isa generic -docs 2000 -count 9 -json
  grambench bench -explain -in train.svm
  grambench bench -family -isa avx2
  grambench bench -plot roofline.png
`,
	setup: func(f *flags) func(context.Context, *env) error {
		b := &bench{flags: f, workers: workerList{1}}
		f.sourceFlags("goroot")
		f.kernelFlags("tiles, c and diffusion:t=0.5; tiles is c without a matrix")
		f.backendFlags()
		f.seedFlag("the choice of documents and pairs")
		f.set.Var(&b.workers, "workers", "compute with `N` goroutines, 0 for all processors; a list such as 1,2 gives a row for each")
		f.set.IntVar(&b.count, "count", 5, "take the median of `N` rounds")
		f.set.BoolVar(&b.family, "family", false, "measure every kernel's whole matrix against that of the diffusion kernel")
		f.set.IntVar(&b.docs, "docs", 0, "take `N` of the documents, chosen at random (default: all)")
		f.set.BoolVar(&b.maps, "maps", false, "measure the elementwise maps")
		f.set.BoolVar(&b.explain, "explain", false, "measure what the choice of the head is worth")
		f.set.StringVar(&b.plot, "plot", "", "also draw a roofline into `FILE`, a .png")
		f.writes("-plot", &b.plot)
		return b.run
	},
}

// bench is the command bench with its flags.
type bench struct {
	*flags
	workers       workerList
	count, docs   int
	maps, explain bool
	family        bool
	plot          string

	progress *progress
	corpus   *sparse.Corpus
	embedded map[sparse.Embedding]*sparse.Embedded
	held     int64 // bytes of documents and engines
}

// benchHead is what all reports of bench begin with.
type benchHead struct {
	Corpus  corpusLine `json:"corpus"`
	CPU     string     `json:"cpu"`
	Go      string     `json:"go"`
	Version string     `json:"version"`
	Date    string     `json:"date"`
	Rounds  int        `json:"rounds"`
}

func (h benchHead) String() string {
	return fmt.Sprintf("%s\n%s, %s, grambench %s, %s; median of %s\n", h.Corpus, orUnknown(h.CPU), h.Go, h.Version, h.Date, counted(h.Rounds, "round", "rounds"))
}

// check answers wrong usage before anything is read.
func (b *bench) check() error {
	if b.count < 1 {
		return usagef("-count %d is below 1", b.count)
	}
	if b.docs < 0 {
		return usagef("-docs %d is below 0", b.docs)
	}
	reports := 0
	for _, asked := range []bool{b.maps, b.explain, b.family, b.plot != ""} {
		if asked {
			reports++
		}
	}
	if reports > 1 {
		return usagef("-family, -maps, -explain and -plot are for one report each, expected one of them")
	}
	if (b.family || b.maps || b.explain) && b.backend == string(cudaBackend) {
		return usagef("-family, -maps and -explain measure the processor, expected -backend cpu")
	}
	if err := checkPlot(b.plot); err != nil {
		return err
	}
	if b.maps || b.explain {
		flag := map[bool]string{true: "-maps", false: "-explain"}[b.maps]
		if len(b.kernels) > 0 {
			return usagef("%s takes no -kernel", flag)
		}
		if !slices.Equal(b.workers, workerList{1}) {
			return usagef("%s measures one worker, expected no other -workers", flag)
		}
	}
	if b.family {
		if !slices.Equal(b.workers, workerList{1}) {
			return usagef("-family measures one worker, expected no other -workers")
		}
		given := false
		b.set.Visit(func(f *flag.Flag) { given = given || f.Name == "count" })
		if !given {
			b.count = 3 // of each kernel
		}
	}
	return nil
}

func (b *bench) run(ctx context.Context, e *env) error {
	if err := b.check(); err != nil {
		return err
	}
	var specs []benchSpec
	var err error
	if !b.family {
		if specs, err = b.benchKernels(); err != nil {
			return err
		}
	}
	b.progress = newProgress(e.stderr)
	defer b.progress.clear()
	if b.corpus, err = b.read(ctx, e, b.progress); err != nil {
		return err
	}
	if b.docs > 0 && b.docs < b.corpus.Documents.Rows() {
		chosen := rand.New(rand.NewPCG(b.seed, 0)).Perm(b.corpus.Documents.Rows())[:b.docs]
		slices.Sort(chosen)
		b.corpus = b.corpus.Select(chosen)
	}
	if b.corpus.Documents.Rows() < 2 {
		return fmt.Errorf("%s holds %s, expected 2 or more", b.corpus.Source, counted(b.corpus.Documents.Rows(), "document", "documents"))
	}
	b.held = runtimeBytes + b.corpus.Documents.Bytes()
	b.embedded = map[sparse.Embedding]*sparse.Embedded{}
	head := benchHead{Corpus: newCorpusLine(b.corpus), CPU: strings.TrimSpace(cpuid.CPU.BrandName), Go: runtime.Version(), Version: version,
		Date: time.Now().Format(time.DateOnly), Rounds: b.count}
	var r report
	switch {
	case b.maps:
		r, err = b.measureMaps(ctx, head)
	case b.explain:
		r, err = b.measureHeads(ctx, head)
	case b.family:
		r, err = b.measureFamily(ctx, head)
	default:
		r, err = b.measurePairs(ctx, head, specs)
	}
	if err != nil {
		return err
	}
	b.progress.clear()
	return writeReport(e.stdout, b.timed(r), b.json)
}

// benchSpec is a kernel that is to be measured: tiles says that c is computed and left.
type benchSpec struct {
	name   string
	tiles  bool
	kernel engine.Kernel
}

// tilesKernel is the name of what computes c and stores no matrix.
const tilesKernel = "tiles"

// benchKernels parses what was asked for, or the default.
func (b *bench) benchKernels() ([]benchSpec, error) {
	names := []string(b.kernels)
	if len(names) == 0 {
		names = []string{tilesKernel, "c", "diffusion:t=0.5"}
	}
	var out []benchSpec
	for _, name := range names {
		s := benchSpec{name: name}
		rest, ok := strings.CutPrefix(name, tilesKernel)
		if ok && (rest == "" || rest[0] == ':') {
			s.tiles, name = true, "c"+rest
		}
		b.kernels = stringList{name}
		k, err := b.parseKernels()
		if err != nil {
			return nil, err
		}
		s.kernel = k[0]
		out = append(out, s)
	}
	return out, nil
}

// embed returns the documents as a kernel wants them, embedded once.
func (b *bench) embed(ctx context.Context, e sparse.Embedding) (*sparse.Embedded, error) {
	if x := b.embedded[e]; x != nil {
		return x, nil
	}
	x, err := embed(ctx, b.corpus, e, 0)
	if err != nil {
		return nil, err
	}
	b.embedded[e] = x
	return x, nil
}

// newEngine makes an engine and counts what it holds.
func (b *bench) newEngine(x *sparse.Embedded, isa string, workers, headTerms int) (*engine.Engine, error) {
	opt := b.options(isa)
	opt.Workers, opt.HeadTerms, opt.Progress = workers, headTerms, b.progress.computing
	e, err := engine.New(x, opt)
	if err != nil {
		return nil, err
	}
	b.held += e.Bytes()
	return e, b.enough("the engines for "+counted(x.Rows(), "document", "documents"), 0)
}

// enough holds that bytes beside what is held stay within the budget.
func (b *bench) enough(what string, bytes int64) error {
	if err := b.fits(what, b.held+bytes); err != nil {
		return fmt.Errorf("%w; -docs takes a part of them", err)
	}
	return nil
}

// workerList is a flag: numbers of goroutines, separated by commas.
type workerList []int

func (l *workerList) String() string {
	var s []string
	for _, n := range *l {
		s = append(s, strconv.Itoa(n))
	}
	return strings.Join(s, ",")
}

func (l *workerList) Set(s string) error {
	var list workerList
	for part := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return fmt.Errorf("%q is not a list of numbers of goroutines, expected such as 1,2", s)
		}
		if n == 0 {
			n = runtime.GOMAXPROCS(0)
		}
		if slices.Contains(list, n) {
			return fmt.Errorf("%q names %d goroutines twice", s, n)
		}
		list = append(list, n)
	}
	*l = list
	return nil
}

// median returns the middle of values, or the mean of the two in the middle.
func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}

// over is a/b, or 0 where b is: a stage that did nothing has no rate.
func over(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
