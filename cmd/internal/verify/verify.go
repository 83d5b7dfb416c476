// Package verify implements the command verify, which compares every back end and kernel with the
// float64 reference.
//
// For each kernel and back end, verify compares a sample of pairs, see [comparison]. The other
// checks are in bits.go.
package verify

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/sparse"
)

// Command is the command verify, which compares back ends and kernels with the reference.
var Command = &cli.Command{
	Name:    "verify",
	Summary: "compare every back end and kernel with a float64 reference",
	Help: `
Compares the engine's float32 results for every kernel, instruction set and device of this computer
with a float64 reference. The exit status is 1 if a value is out of tolerance.

For up to ` + report.FormatCount(allPairsUpTo) +
		` documents it compares all pairs; for more, random rows with about 4
million pairs, and the 1,000 closest pairs. By default it compares c, the basis of all kernels, on
all of these pairs, and other kernels and embeddings on an eighth.
It also checks that c is 0 for identical documents,
that (i, j) and (j, i) have the same bits, and that a matrix of up to ` +
		report.FormatCount(sameBitsDocuments) + ` documents has the same
bits from 1, 2 and 7 workers, in stripes, by rows and with test documents as rows.

The table lists the largest absolute error with its indices and tolerance, the largest relative
error, and the largest error in units in the last place (ulp) of float32. -json adds the documents
of the largest absolute error, and full digests.`,
	Examples: `
grambench verify
grambench verify -in train.svm -kernel diffusion:t=0.1 -kernel rbf:gamma=1,embed=tfidf-l2
grambench verify -in synthetic:docs=1000,terms=5000 -isa generic -json`,
	Setup: func(f *cli.Flags) cli.RunFunc {
		v := &verifier{f: f}
		f.DeclareReport()
		v.Documents.Declare(f, "goroot", &v.Limits)
		f.StartGroup("Kernels", "")
		v.Kernels.Declare(f, "one or more of each kernel family")
		f.Uint64Var(&v.seed, "seed", 1, "random `SEED` for sampling rows")
		v.ComputeFlags.Declare(f)
		f.AddCheck(func() (err error) {
			v.kernels, err = v.Parse(source.ExampleSpecs()...)
			return err
		})
		return v.run
	},
}

// verifier holds the flags and the state of a run of verify.
type verifier struct {
	source.Documents
	source.Kernels
	backend.ComputeFlags
	f       *cli.Flags
	seed    uint64
	kernels []kernel.Kernel

	e          *cli.Env
	p          *cli.Progress
	corpus     *corpus.Corpus
	report     *verifyReport
	numPairs   int             // number of pairs in whole rows of the sample
	numClosest int             // number of additional closest pairs
	rowStep    int             // for kernels other than c, every rowStep-th whole row is compared
	reduced    map[string]bool // names of kernels that are compared on only an eighth of the whole rows
	heldBytes  int64           // memory in use in bytes: program, corpus, embedded documents and engines
}

// defaultRowStep is the value of rowStep if -kernel isn't set.
const defaultRowStep = 8

// reducedKernels returns the kernels that are compared on one eighth of the rows: the variants, and
// the example whose reference computes an integral for each pair.
func reducedKernels() map[string]bool {
	few := map[string]bool{}
	for _, spec := range append(source.VariantSpecs(), "arccos:n=0,bias=0.3") {
		few[kernel.MustParse(spec).String()] = true
	}
	return few
}

func (v *verifier) run(ctx context.Context, e *cli.Env) (err error) {
	begin := time.Now()
	v.e, v.p = e, e.NewProgress(false)
	defer v.p.Clear()
	if v.corpus, err = v.Read(ctx, e, v.p); err != nil {
		return err
	}
	if v.corpus.Documents.Rows() == 0 {
		return fmt.Errorf("%s contains no documents to verify", v.corpus.Source)
	}
	byDefault := len(v.Specs) == 0
	if byDefault {
		v.reduced = reducedKernels()
	}
	v.report = &verifyReport{Corpus: source.NewSummary(v.corpus), ToleranceReason: kernel.ToleranceTerms}
	for g, group := range groupByEmbedding(v.kernels) {
		v.numPairs, v.numClosest, v.rowStep = numSamplePairs, numClosestPairs, 1
		limit := sameBitsDocuments
		if g > 0 {
			limit = sameBitsFewerDocuments
		}
		switch {
		case byDefault && g == 0:
			v.rowStep = defaultRowStep
		case byDefault:
			v.numPairs, v.numClosest = numSamplePairs/defaultRowStep, numClosestFewer
		}
		if err := v.verifyEmbedding(ctx, group); err != nil {
			return err
		}
		// This runs after the comparison has released its memory.
		if err := v.checkSameBits(ctx, group[0], limit); err != nil {
			return err
		}
	}
	v.report.Seconds = time.Since(begin).Seconds()
	v.report.countChecks()
	v.p.Clear()
	if err := v.PrintReport(e, v.f, v.report); err != nil {
		return err
	}
	if !v.report.Passed {
		return cli.ErrReported
	}
	return nil
}

// groupByEmbedding groups kernels by embedding, in order of first occurrence and without
// duplicates. Each group starts with the kernel c, the cosine distance.
func groupByEmbedding(kernels []kernel.Kernel) [][]kernel.Kernel {
	var groups [][]kernel.Kernel
	seen := map[string]bool{}
	index := map[sparse.Embedding]int{}
	add := func(at int, k kernel.Kernel) {
		if !seen[k.String()] {
			seen[k.String()] = true
			groups[at] = append(groups[at], k)
		}
	}
	for _, k := range kernels {
		e := k.Embedding()
		at, ok := index[e]
		if !ok {
			at = len(groups)
			index[e] = at
			groups = append(groups, nil)
			add(at, kernel.MustParse("c:embed="+e.String()))
		}
		add(at, k)
	}
	return groups
}

// backendRun is a back end (an instruction set or the GPU) for one embedding.
type backendRun struct {
	isa           asm.ISA
	engine        *engine.Engine
	rows          rowSource
	numRecomputed int64 // number of pairs for which c was recomputed by the exact formula
	numAsymmetric int64 // number of pairs i < j whose two values differ in any bit, summed over kernels
}

// rowSource computes rows of Gram matrices.
type rowSource interface {
	Rows(ctx context.Context, k kernel.Kernel, q engine.Request, to *engine.Dense) (*engine.Dense, error)
}

// verifyEmbedding verifies the kernels of one embedding. The first kernel must be c.
func (v *verifier) verifyEmbedding(ctx context.Context, kernels []kernel.Kernel) (err error) {
	emb := kernels[0].Embedding()
	embedded, inEngine := source.ScratchBytes(v.corpus.Size())
	v.heldBytes = backend.RuntimeBytes + v.corpus.Documents.Bytes()
	if err := v.CheckMemory("the embedding of the documents", v.heldBytes+inEngine); err != nil {
		return err
	}
	x, err := source.Embed(ctx, v.corpus, emb, v.Workers)
	if err != nil {
		return err
	}
	v.heldBytes += x.Bytes()
	source.WarnEmptyDocuments(v.e, v.corpus, x)
	backends, err := v.newBackends(ctx, x, inEngine-embedded)
	defer func() {
		for _, b := range backends {
			if b.engine != nil {
				err = errors.Join(err, b.engine.Close())
			}
		}
	}()
	if err != nil {
		return err
	}
	s, err := v.chooseSample(ctx, x, backends[len(backends)-1].engine, kernels[0], len(backends))
	if err != nil {
		return err
	}
	if err := v.computeReference(ctx, x, s); err != nil {
		return err
	}
	v.report.Embeddings = append(v.report.Embeddings, s.describe(x))
	for _, b := range backends {
		b.numRecomputed = -b.engine.Stats().RecomputedPairs
	}
	var mirrored int64
	r := &chunkBuffers{}
	for n, k := range kernels {
		if n == 1 {
			s = s.subsample(v.rowStep)
		}
		if n == 1 && v.rowStep > 1 || n == 0 && v.rowStep == 1 && len(kernels) > 1 {
			if err := v.cacheRows(x, s, backends); err != nil {
				return err
			}
		}
		shown := k.String() // formatted before Resolve sets gamma from the data, because that gamma has many digits
		k = kernel.Resolve(k, len(x.Embedder.Terms))
		v.p.StartStage(report.Pad(report.TruncateStart(k.String(), 28), 28))
		pairs := s
		if v.reduced[shown] {
			pairs = s.subsample(defaultRowStep)
		}
		results, err := v.compare(ctx, x, pairs, backends, k, r)
		if err != nil {
			return err
		}
		mirrored += pairs.numMirrored()
		for i, b := range backends {
			found := results[i]
			if n == 0 {
				b.numRecomputed += b.engine.Stats().RecomputedPairs
				v.addCheck(b.isa, emb, "c is exactly 0 for identical documents", found.result.numNonzero == 0, "%s, %s not 0",
					report.FormatCountOf(found.result.numIdentical, "pair", "pairs"), report.FormatCount(found.result.numNonzero))
			}
			b.numAsymmetric += found.numAsymmetric
			found.row.displayName, found.row.NumRecomputed = shown, b.numRecomputed
			v.report.Rows = append(v.report.Rows, found.row)
		}
	}
	for _, b := range backends {
		v.addCheck(b.isa, emb, "(i, j) and (j, i) are bit-identical", b.numAsymmetric == 0, "%s of %s, %s differ",
			report.FormatCountOf(mirrored, "pair", "pairs"), report.FormatCountOf(len(kernels), "kernel", "kernels"),
			report.FormatCount(b.numAsymmetric))
	}
	return nil
}

// newBackends creates an engine for each back end. bytes is an upper bound on the memory of each
// engine. If memory suffices, it creates engines concurrently, because most of the work for an
// engine uses one CPU. On an error it also returns the engines created so far.
func (v *verifier) newBackends(ctx context.Context, x *sparse.Embedded, bytes int64) ([]*backendRun, error) {
	var list []*backendRun
	for _, isa := range v.Backends() {
		list = append(list, &backendRun{isa: isa})
	}
	parallel := v.NumWorkers()
	if budget := v.Budget(); budget > 0 && v.heldBytes+int64(len(list))*bytes > budget {
		parallel = 1
	}
	var mu sync.Mutex // guards v.heldBytes
	err := run.Tasks(ctx, parallel, len(list), func(_ context.Context, _, i int) error {
		mu.Lock()
		err := v.CheckMemory("an engine for each instruction set", v.heldBytes+bytes)
		mu.Unlock()
		if err != nil {
			return err
		}
		eng, err := v.NewEngine(x, list[i].isa, v.p)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		list[i].engine, list[i].rows = eng, eng
		v.heldBytes += eng.Info().Bytes - x.Bytes()
		return nil
	})
	return list, err
}

// cachedRows computes rows from tiles of c that the kernels share.
type cachedRows struct{ *engine.Cache }

func (s cachedRows) Rows(
	ctx context.Context, k kernel.Kernel, q engine.Request, to *engine.Dense,
) (*engine.Dense, error) {
	rows := make([][]float32, to.Rows)
	for r := range rows {
		rows[r] = to.Row(r)
	}
	return to, s.Cache.Rows(ctx, k, q.RowIndices, [][2]int{{0, to.Cols}}, rows)
}

// cacheRows adds a cache of c for the sample's rows to every CPU engine, if memory suffices. Each
// kernel then only maps cached values.
func (v *verifier) cacheRows(x *sparse.Embedded, s *sample, backends []*backendRun) error {
	// Tiles are slightly larger than their values, and each worker of an engine needs scratch
	// memory.
	bytes := 5*int64(len(s.rows))*int64(s.n) + int64(v.NumWorkers())<<20 + 1<<20
	need := v.heldBytes + int64(len(backends))*bytes + s.comparisonBytes(x, len(backends), v.NumWorkers())
	if budget := v.Budget(); budget > 0 && need > budget {
		return nil
	}
	for _, b := range backends {
		if b.isa == backend.CUDA {
			continue // a cache of c would bypass the GPU's kernel functions
		}
		c, err := b.engine.NewCache(engine.CacheOptions{CacheBytes: bytes})
		if err != nil {
			return err
		}
		b.rows = cachedRows{c}
	}
	return nil
}
