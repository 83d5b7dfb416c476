package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles"
)

var verifyCommand = command{
	name:    "verify",
	summary: "every back end and kernel against the float64 reference; fails when out of tolerance",
	help: `
Compares what the engine computes in float32, for every instruction set that can run here and for every kernel, with the float64 reference,
and exits with status 1 when a value is out of tolerance.

Pairs: all of them up to 2,000 documents. Above that whole rows of the matrix are chosen at random (-seed), about 4 million pairs together,
and the 1,000 closest pairs of the corpus are added, at most half of them identical documents. Kernels of one embedding share the reference. Where no kernel is
named, those other than c, which all are computed from, are compared on one of eight of these rows and all of the closest pairs, and embeddings other than the first on
one of eight of the rows, and on the 250 closest pairs of every eighth document with those behind it. Variants of the examples, and kernels whose reference is slow, are compared on an eighth of the rows
of the others.
c = 1 - cosine itself is always verified, for every embedding in use: within 1e-6, and within 1e-5 relative where it isn't 0.

Also checked, for every instruction set and embedding: c is exactly 0 for identical documents; (i, j) and (j, i) have the same bits; and, on up
to 4,596 documents of up to 1,000,000 values (1,000 documents for all embeddings but the first), a matrix has the same bits from 1, 2 and 7 workers, and in stripes, by rows and with test
documents as rows the same as at once.

Where no kernel is named, the kernel of sets of points is held against its definition, on sets drawn at random (-seed).

Errors in the table: the greatest absolute error and where it is, with the tolerance at that place; the greatest relative error; the
greatest error in units of the last place (ulp) of float32; how many pairs took the exact form. Relative errors and ulps leave out pairs
whose reference is 0 and documents that share no term. The digest is that of the values compared, row by row. -json has full digests and
the places of all three.

Examples:
  grambench verify
  grambench verify -in train.svm -kernel diffusion:t=0.1 -kernel rbf:gamma=1,embed=tfidf-l2
  grambench verify -in synthetic:docs=1000,terms=5000 -isa generic -json
`,
	setup: func(f *flags) func(context.Context, *env) error {
		f.sourceFlags("goroot")
		f.kernelFlags("one or more of every kernel")
		f.computeFlags(0)
		f.seedFlag("the choice of rows")
		return func(ctx context.Context, e *env) error { return f.verify(ctx, e) }
	},
}

// verifier is one run of the command.
type verifier struct {
	*flags
	p      *progress
	stderr io.Writer
	corpus *sparse.Corpus
	report *verifyReport
	pairs  int             // of the sample of an embedding, whole rows together
	near   int             // closest pairs beside them
	share  int             // kernels other than c are compared on one whole row of so many
	few    map[string]bool // those that are compared on one of eight of these
	held   int64           // bytes of the program, the corpus, and of one embedding the documents and all engines
}

// isas returns what kernels are verified on.
func (v *verifier) isas() []asm.ISA { return v.backends() }

func (f *flags) verify(ctx context.Context, e *env) error {
	kernels, err := f.parseKernels(defaultKernels()...)
	if err != nil {
		return err
	}
	begin := time.Now()
	p := newProgress(e.stderr)
	defer p.clear()
	corpus, err := f.read(ctx, e, p)
	if err != nil {
		return err
	}
	if corpus.Documents.Rows() == 0 {
		return fmt.Errorf("%s holds no document, so there is nothing to verify", corpus.Source)
	}
	v := &verifier{flags: f, p: p, stderr: e.stderr, corpus: corpus}
	if len(f.kernels) == 0 {
		v.few = fewerPairs()
	}
	v.report = &verifyReport{Corpus: newCorpusLine(corpus), Tolerance: engine.ToleranceReason}
	for g, group := range groupByEmbedding(kernels) {
		v.pairs, v.near, v.share = samplePairs, closestPairs, 1
		switch {
		case len(f.kernels) > 0:
		case g == 0:
			v.share = defaultShare
		default:
			v.pairs, v.near = samplePairs/defaultShare, closestFewer
		}
		if err := v.embedding(ctx, group); err != nil {
			return err
		}
		limit := sameBitsDocuments
		if g > 0 {
			limit = sameBitsFewer
		}
		if err := v.sameBits(ctx, group[0].Embedding(), group[0], limit); err != nil { // when nothing of the above is held any more
			return err
		}
	}
	if len(f.kernels) == 0 && f.backend != string(cudaBackend) {
		if err := v.sets(ctx); err != nil {
			return err
		}
	}
	v.report.Seconds = time.Since(begin).Seconds()
	v.report.count()
	p.clear()
	if err := writeReport(e.stdout, f.timed(v.report), f.json); err != nil {
		return err
	}
	if !v.report.Passed {
		return errReported
	}
	return nil
}

// groupByEmbedding groups kernels in the order of the first of each embedding, without repetitions, and puts c at the head of each group.
func groupByEmbedding(kernels []engine.Kernel) [][]engine.Kernel {
	var groups [][]engine.Kernel
	seen := map[string]bool{}
	index := map[sparse.Embedding]int{}
	for _, k := range kernels {
		e := k.Embedding()
		at, ok := index[e]
		if !ok {
			at = len(groups)
			index[e] = at
			c := engine.MustParseKernel("c:embed=" + e.String())
			seen[c.String()] = true
			groups = append(groups, []engine.Kernel{c})
		}
		if !seen[k.String()] {
			seen[k.String()] = true
			groups[at] = append(groups[at], k)
		}
	}
	return groups
}

// embedding verifies the kernels of one embedding; the first of them is c.
func (v *verifier) embedding(ctx context.Context, kernels []engine.Kernel) (err error) {
	emb := kernels[0].Embedding()
	embedded, inEngine := workBytes(v.corpus.Documents)
	v.held = runtimeBytes + v.corpus.Documents.Bytes()
	if err := v.fits("embedding the documents and making an engine", v.held+inEngine); err != nil {
		return err
	}
	x, err := embed(ctx, v.corpus, emb, v.workers)
	if err != nil {
		return err
	}
	v.held += x.Bytes()
	warnEmptied(v.stderr, v.corpus, x)
	engines, err := v.engines(ctx, x, inEngine-embedded)
	defer func() {
		for _, eng := range engines {
			err = errors.Join(err, eng.Close())
		}
	}()
	if err != nil {
		return err
	}
	s, err := v.choose(ctx, x, engines[v.isas()[len(engines)-1]], kernels[0])
	if err != nil {
		return err
	}
	if err := v.reference(ctx, x, s); err != nil {
		return err
	}
	v.report.Embeddings = append(v.report.Embeddings, s.describe(x))
	recomputedBefore := map[asm.ISA]int64{}
	for isa, eng := range engines {
		recomputedBefore[isa] = eng.Stats().Recomputed
	}

	asymmetric := map[asm.ISA]int64{}
	var mirrored int64
	source := map[asm.ISA]rowSource{}
	room := &compareRoom{}
	for isa, eng := range engines {
		source[isa] = eng
	}
	recomputed := map[asm.ISA]int64{}
	for n, k := range kernels {
		if n == 1 {
			s = s.part(v.share)
		}
		if n == 1 && v.share > 1 || n == 0 && v.share == 1 && len(kernels) > 1 {
			if err := v.keepRows(x, s, engines, source); err != nil {
				return err
			}
		}
		shown := k.String() // a gamma that depends on the data makes it long
		k = engine.Resolve(k, len(x.Embedder.Terms))
		v.p.stage(fmt.Sprintf("%-28s", shorten(k.String(), 28)))
		pairs := s
		if v.few[shown] {
			pairs = s.part(defaultShare)
		}
		results, err := v.compare(ctx, x, pairs, source, k, room)
		if err != nil {
			return err
		}
		mirrored += pairs.mirrored()
		for _, isa := range v.isas() {
			r := results[isa]
			r.row.shown = shown
			if n == 0 {
				recomputed[isa] = engines[isa].Stats().Recomputed - recomputedBefore[isa]
			}
			r.row.Recomputed = recomputed[isa]
			v.report.Rows = append(v.report.Rows, r.row)
			asymmetric[isa] += r.asymmetric
			if n == 0 {
				v.check(isa, emb, "c is exactly 0 for identical documents", r.notZero == 0,
					fmt.Sprintf("%s, %s not 0", counted(r.identical, "pair", "pairs"), formatCount(r.notZero)))
			}
		}
	}
	for _, isa := range v.isas() {
		v.check(isa, emb, "(i, j) and (j, i) have the same bits", asymmetric[isa] == 0,
			fmt.Sprintf("%s of %s, %s differ", counted(mirrored, "pair", "pairs"), counted(len(kernels), "kernel", "kernels"), formatCount(asymmetric[isa])))
	}
	return nil
}

// engines makes an engine for each instruction set, each of which takes at most so many bytes: at the same time, since each is made on one goroutine for the most part, or where
// memory doesn't hold that many one after the other, as long as there is room. It returns those that were made with an error, too.
func (v *verifier) engines(ctx context.Context, x *sparse.Embedded, bytes int64) (map[asm.ISA]*engine.Engine, error) {
	isas, beside := v.isas(), v.numWorkers()
	if budget := v.budget(); budget > 0 && v.held+int64(len(isas))*bytes > budget {
		beside = 1
	}
	var mu sync.Mutex // guards made and v.held
	made := map[asm.ISA]*engine.Engine{}
	err := tiles.Run(ctx, beside, len(isas), func(_ context.Context, _, i int) error {
		mu.Lock()
		err := v.fits("an engine for each instruction set", v.held+bytes)
		mu.Unlock()
		if err != nil {
			return err
		}
		eng, err := v.newEngine(x, string(isas[i]), v.workers, v.p)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		made[isas[i]] = eng
		v.held += eng.Bytes() - x.Bytes()
		return nil
	})
	return made, err
}
