package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/spectrum"
	"github.com/gramengine/gram/sparse"
)

var spectrumCommand = command{
	name:    "spectrum",
	summary: "eigenvalues of a Gram matrix, the smallest against t, spectral sums",
	help: `
Prints eigenvalues of the Gram matrix of one kernel or several on the same documents: the -k largest and smallest, whether the matrix is positive
semidefinite beyond rounding, and spectral sums. Up to ` + formatCount(mostWhole) + ` documents all eigenvalues are computed, in float64 from the float32 matrix; that takes
8 bytes a value and time in proportion to n³, which standard error tells beforehand where it is long. Above, or with -lanczos, the extremes are found by the method of
Lanczos with full reorthogonalisation, each with the norm of its residual: there is an eigenvalue within it. One of them whose residual is above 2⁻²⁴ of
the largest value is marked as not converged; a smallest value from Lanczos is never below the true one. The matrix is kept where memory allows it, and
computed again for each product where not.

Rounding: values are float32, so an eigenvalue nearer to 0 than n·2⁻²⁴·|λ|max may owe its sign to rounding; the likely size of that is 2⁻²⁴ of the root of the sum of
squared values, printed as "likely". The verdict is "not psd" where the smallest eigenvalue is below 0 by more than the first, "undecided" between the two, and
"psd to rounding" otherwise; where Lanczos has not converged to the smallest eigenvalue and it isn't "not psd", the verdict is "not converged", and -steps helps.
That is what these documents show: it proves nothing for others.

-centre takes the mean off rows and columns: the matrix of a conditionally positive definite kernel, such as ngd, is then positive semidefinite, with one eigenvalue 0.

-sets takes sets of points for documents, as grambench gram does; the kernel is hyperbolic then.

-t gives each kernel that has a parameter t all these values, for the smallest eigenvalue against t.

Spectral sums: Σ min(r, λ_j) for the radii -r, over the eigenvalues λ_j of K/n, and its root, the Rademacher term of Lafferty and Lebanon, JMLR 6 (2005), §4: the
smaller it is, the fewer functions of norm 1 the kernel offers on these documents. From Lanczos it is a pair of bounds, by the largest
eigenvalues, the trace and the sum of squares.

-plot draws the eigenvalues, largest first, on logarithmic axes and, for several t, the smallest against t.

Examples:
  grambench spectrum -in train.svm
  grambench spectrum -in train.svm -kernel diffusion -t 0.1,0.5,1,2,8 -plot spectrum.png
  grambench spectrum -in train.svm -kernel ngd -centre -k 3
  grambench spectrum -in points.svm -sets qid -kernel hyperbolic -t 0.1,1,10
  grambench spectrum -in large.svm -kernel arccos:n=1 -kernel linear -lanczos -k 20 -json
`,
	setup: func(f *flags) func(context.Context, *env) error {
		f.startsOver = true
		s := &spectrumCall{flags: f}
		f.sourceFlags("goroot")
		f.kernelFlags("diffusion:t=0.5")
		f.computeFlags(0)
		f.setsFlag()
		f.seedFlag("the start vector of Lanczos")
		f.set.IntVar(&s.k, "k", 6, "print the `K` largest and smallest eigenvalues")
		f.set.StringVar(&s.t, "t", "", "compute each kernel for the values of t in `LIST`, such as 0.1,0.5,1,2,8 or 0.1..10*10")
		f.set.StringVar(&s.r, "r", "1e-4,1e-3,1e-2,0.1,1", "the radii of the spectral sums: `LIST`")
		f.set.BoolVar(&s.centre, "centre", false, "centre the matrix: take the mean off its rows and columns")
		f.set.BoolVar(&s.lanczos, "lanczos", false, "find the extremes alone, for few documents too")
		f.set.IntVar(&s.steps, "steps", spectrum.DefaultSteps, "at most `N` products for Lanczos, which ends sooner where all values have converged")
		f.set.StringVar(&s.plot, "plot", "", "draw the eigenvalues into `FILE`, a PNG picture")
		f.writes("-plot", &s.plot)
		f.check = s.check
		return s.run
	},
}

// mostWhole is the greatest number of documents all of whose eigenvalues are computed.
const mostWhole = 4000

// spectrumCall is a call of the command.
type spectrumCall struct {
	*flags
	k, steps        int
	t, r, plot      string
	centre, lanczos bool

	asked []engine.Kernel
	ofSet []engine.Hyperbolic // the kernels asked for where they compare sets of points
	radii []float64
}

// check reads what can be read before the documents.
func (s *spectrumCall) check() error {
	switch {
	case s.k < 1:
		return usagef("-k %d is below 1", s.k)
	case s.steps < 1:
		return usagef("-steps %d is below 1", s.steps)
	}
	err := checkPlot(s.plot)
	if err != nil {
		return err
	}
	if s.ofSets() {
		if s.ofSet, err = s.checkSets(); err != nil {
			return err
		}
	} else if s.asked, err = s.parseKernels("diffusion:t=0.5"); err != nil {
		return err
	}
	radii, err := parseGridList("r=" + s.r)
	if err != nil {
		return usageError{fmt.Errorf("-r: %w", err)}
	}
	for _, r := range radii.Values {
		if !(r > 0) {
			return usagef("-r %v, expected numbers above 0", r)
		}
	}
	s.radii = radii.Values
	if s.t == "" {
		return nil
	}
	list, err := parseGridList("t=" + s.t)
	if err != nil {
		return usageError{fmt.Errorf("-t: %w", err)}
	}
	if s.ofSet != nil {
		s.ofSet, err = hyperbolicOn(s.ofSet, list.Values)
		return err
	}
	var unused []string
	if s.asked, unused, err = kernelsOn(s.asked, []gridList{list}); err != nil {
		return usageError{fmt.Errorf("-t: %w", err)}
	}
	if len(unused) > 0 {
		return usagef("-t %s: none of the kernels has a parameter t", s.t)
	}
	return nil
}

func (s *spectrumCall) run(ctx context.Context, e *env) error {
	p := newProgress(e.stderr)
	defer p.clear()
	corpus, err := s.read(ctx, e, p)
	if err != nil {
		return err
	}
	n := corpus.Documents.Rows()
	if n < 1 {
		return fmt.Errorf("%s holds no documents, expected 1 or more", corpus.Source)
	}
	r := &spectrumReport{Corpus: newCorpusLine(corpus), Centred: s.centre, Seed: s.seed, k: s.k}
	if s.ofSet != nil {
		err = s.runSets(ctx, e, p, corpus, r)
	} else {
		err = s.runDocuments(ctx, e, p, corpus, r)
	}
	if err != nil {
		return err
	}
	p.clear()
	if s.plot != "" {
		if err := writeSpectrum(s.plot, r); err != nil {
			return err
		}
	}
	return writeReport(e.stdout, s.timed(r), s.json)
}

// runDocuments adds the rows of kernels of documents.
func (s *spectrumCall) runDocuments(ctx context.Context, e *env, p *progress, corpus *sparse.Corpus, r *spectrumReport) (err error) {
	n := corpus.Documents.Rows()
	embedded, inEngine := workBytes(corpus.Documents)
	if err := s.fits("embedding the documents for "+gramOf(n), runtimeBytes+corpus.Documents.Bytes()+embedded+inEngine); err != nil {
		return err
	}
	var x *sparse.Embedded
	var eng *engine.Engine
	for i, k := range s.asked {
		if i == 0 || k.Embedding() != s.asked[i-1].Embedding() {
			if eng != nil {
				if err := eng.Close(); err != nil {
					return err
				}
			}
			x, eng = nil, nil // their memory is needed
			if x, err = embed(ctx, corpus, k.Embedding(), s.workers); err != nil {
				return err
			}
			warnEmptied(e.stderr, corpus, x)
			if eng, err = s.newEngine(x, s.jobBackend(x.Rows()), s.workers, p); err != nil {
				return err
			}
		}
		k = engine.Resolve(k, len(x.Embedder.Terms))
		known := engine.PropertiesOf(k)
		row := &spectrumRow{Kernel: k.String(), Embedding: k.Embedding().String(), ISA: eng.Backend(), Why: s.gpu.why, Documents: n, Definite: known.Definite.String(), Condition: known.Condition}
		begin := time.Now()
		if n <= mostWhole && !s.lanczos {
			err = s.whole(ctx, e, p, eng, k, row)
		} else {
			err = s.extremes(ctx, p, eng, k, corpus.Documents.Bytes(), row)
		}
		if err != nil {
			return err
		}
		row.Seconds = time.Since(begin).Seconds()
		row.PeakBytes = peakBytes()
		row.T, row.family = parameterT(row.Kernel)
		r.Rows = append(r.Rows, row)
	}
	return nil
}

// parameterT returns the t of a kernel's specification, if it has one, and the specification without it.
func parameterT(spec string) (t float64, family string) {
	name, parameters, _ := strings.Cut(spec, ":")
	var rest []string
	for part := range strings.SplitSeq(parameters, ",") {
		if v, ok := strings.CutPrefix(part, "t="); ok && t == 0 {
			if x, err := strconv.ParseFloat(v, 64); err == nil {
				t = x
				continue
			}
		}
		if part != "" {
			rest = append(rest, part)
		}
	}
	if t == 0 || strings.ContainsAny(name, "(+*") {
		return 0, spec
	}
	return t, strings.Join(append([]string{name}, rest...), " ")
}
