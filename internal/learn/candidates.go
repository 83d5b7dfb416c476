package learn

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// These lists hold candidate values of parameters. The first value of a list is used while other
// parameters are compared.
var (
	candidateCs           = []float64{10, 1, 100}
	candidateRegressionCs = []float64{1, 10, 100, 0.1} // C for regression, in units of the targets' spread
	candidateEpsilons     = []float64{0.1, 0.3, 0.03}  // epsilon for regression, in units of the targets' spread
	candidateScales       = []kernel.ParamGrid{
		{Name: "t", Values: []float64{2, 8, 4, 1, 0.5}}, {Name: "gamma", Values: []float64{1, 0.25, 4}},
	}

	histogramEmbeddings = []string{"tfidf-l1-sqrt", "logtf-l1-sqrt"} // for kernels on histograms
	vectorEmbeddings    = []string{"logtfidf-l2", "tfidf-l2"}        // for kernels on vectors

	// These embeddings are for documents without a vocabulary: values may not be counts.
	plainHistogramEmbeddings = []string{"tf-l1-sqrt", "tfidf-l1-sqrt"}
	plainVectorEmbeddings    = []string{"tf-l2", "tfidf-l2"}
)

const supervisedEmbedding = "tfkl-l1-sqrt"

// maxPairs is the maximum number of class pairs for which one-vs-one is tried. It equals the
// maximum number of documents in a sample, except in a last round.
const maxPairs = 6000

// Constraints holds the settings that the caller fixed. Other settings are chosen automatically.
type Constraints struct {
	solver.Regularization // 0 = chosen automatically

	Kernel      string   // specification, or name of a kernel whose t or gamma is chosen; "" = any kernel
	Embeddings  []string // allowed embeddings; nil = all that suit the kernel
	SchemeFixed bool
	WorkBudget  float64 // time budget of the automatic choice, in multiples of one training run
	Seed        uint64

	UseVectorKernels bool // true if values aren't term counts; the candidates are then kernels for vectors
}

// KernelFixed reports whether g.Kernel is set and has no parameter left to choose.
func (g *Constraints) KernelFixed() bool {
	if g.Kernel == "" || strings.ContainsAny(g.Kernel, ":(*+") {
		return g.Kernel != ""
	}
	k, err := kernel.Parse(g.Kernel)
	if err != nil {
		return true
	}
	_, noT := kernel.WithParam(k, "t", 1)
	_, noGamma := kernel.WithParam(k, "gamma", 1)
	return noT != nil && noGamma != nil
}

// Candidates returns the settings from which [tune.Choose] selects. Fixed settings have one value.
func (g *Constraints) Candidates(c *corpus.Corpus, s svm.Settings) (tune.Candidates, error) {
	out := tune.Candidates{Measure: s.Measure(), C: candidateCs, Nu: s.Nu, Epsilons: []float64{s.Epsilon},
		ParameterUnit: 1, Schemes: []solver.Scheme{s.Scheme}, WorkBudget: g.WorkBudget, Seed: g.Seed,
		FinalFolds: tune.DefaultFolds}
	regression := out.Measure == tune.MeanSquaredError
	if regression {
		out.ParameterUnit = spread(c)
		out.C = scaleValues(out.ParameterUnit, candidateRegressionCs)
		if s.Type == model.EpsilonSVR && g.Epsilon == 0 {
			out.Epsilons = scaleValues(out.ParameterUnit, candidateEpsilons)
		}
	}
	if g.C != 0 {
		out.C = []float64{g.C}
	}
	// for two classes, one-vs-rest and one-vs-one are the same
	if !g.SchemeFixed && !regression && s.Scheme == solver.OneVsOne && len(c.Classes) > 2 {
		out.Schemes = []solver.Scheme{solver.OneVsRest, solver.OneVsOne}
		if pairs := len(c.Classes) * (len(c.Classes) - 1) / 2; pairs > min(c.Documents.Rows(), maxPairs) {
			out.Schemes = out.Schemes[:1] // many binary classifiers with few documents each aren't worth their cost
		}
	}
	histograms, vectors := histogramEmbeddings, vectorEmbeddings
	switch {
	case c.Vocabulary == nil:
		histograms, vectors = plainHistogramEmbeddings, plainVectorEmbeddings
	case c.Tokenizer.Columns().HasNumbers(): // logarithms don't damp values below 1
		histograms, vectors = []string{"tfidf-l1-sqrt", "tf-l1-sqrt"}, []string{"tfidf-l2"}
	}
	var err error
	switch {
	case g.UseVectorKernels:
		out.Kernels, err = g.vectorKernels(c)
	case g.Kernel == "" && len(g.Embeddings) > 0:
		out.Kernels, err = kernelCombinations([]string{"diffusion", "linear"}, g.Embeddings)
	case g.Kernel == "":
		var linear, rbf []kernel.Kernel
		if out.Kernels, err = kernelCombinations([]string{"diffusion"}, histograms); err == nil {
			linear, err = kernelCombinations([]string{"linear"}, vectors)
		}
		if err == nil && c.Vocabulary == nil {
			rbf, err = kernelCombinations([]string{"rbf"}, plainVectorEmbeddings[:1])
		}
		out.Kernels = run.Interleave(out.Kernels, linear, rbf)
	case g.KernelFixed() && len(g.Embeddings) == 0:
		out.Kernels = make([]kernel.Kernel, 1)
		out.Kernels[0], err = kernel.Parse(g.Kernel)
	case g.KernelFixed() || len(g.Embeddings) > 0:
		out.Kernels, err = kernelCombinations([]string{g.Kernel}, g.Embeddings)
	default:
		out.Kernels, err = kernelVariants(g.Kernel, histograms, vectors)
	}
	// For independent labels, supervised embeddings aren't tried, because tuning thresholds on
	// folds would need a kernel matrix per fold.
	if err != nil || c.Vocabulary == nil || c.Tokenizer.Columns().HasNumbers() || s.Scheme == solver.MultiLabel ||
		len(g.Embeddings) > 0 || g.KernelFixed() || regression {
		return out, err
	}
	if k, err := kernel.Parse(cmp.Or(g.Kernel, "diffusion")); err != nil || k.Embedding() != sparse.SphereEmbedding {
		return out, err
	}
	out.SupervisedKernels, err = kernelCombinations([]string{cmp.Or(g.Kernel, "diffusion")}, []string{supervisedEmbedding})
	return out, err
}

// spread returns the unit of C, epsilon and tolerance in regression: half the distance between the
// 16th and 84th percentiles of the targets, rounded to one significant digit. If this distance is
// 0, spread returns the standard deviation, or 1 if all targets are equal.
func spread(c *corpus.Corpus) float64 {
	var targets []float64
	for i := range c.Documents.Rows() {
		for _, id := range c.Labels.Classes(i) {
			v, _ := strconv.ParseFloat(c.Classes[id], 64) // other code rejects targets that aren't numbers
			targets = append(targets, v)
		}
	}
	if len(targets) == 0 {
		return 1
	}
	slices.Sort(targets)
	rank := func(percent int) float64 { return targets[(len(targets)-1)*percent/100] }
	v := rank(84)/2 - rank(16)/2
	if v == 0 {
		v = math.Sqrt(stat.PopVariance(targets, nil))
	}
	if v = run.RoundSignificant(v, 1); !(v > 0) || math.IsInf(v, 0) {
		return 1
	}
	return v
}

func scaleValues(by float64, numbers []float64) (out []float64) {
	for _, v := range numbers {
		out = append(out, run.RoundSignificant(by*v, 12))
	}
	return out
}

// vectorKernels returns the candidate kernels for vectors. Columns are standardized, or embedded by
// the first of g.Embeddings. Kernels on unscaled columns are added if no embedding is set and all
// columns have similar scales.
func (g *Constraints) vectorKernels(c *corpus.Corpus) (out []kernel.Kernel, err error) {
	terms, _ := c.Documents.TermFrequencies()
	gamma, scaled := 1/float64(max(len(terms), 1)), "standard"
	specs := []string{"rbf:gamma=$1,embed=$e", "linear:embed=$e", "polynomial:gamma=$1,r=1,degree=3,embed=$e",
		"rbf:gamma=$less,embed=$e", "rbf:gamma=$more,embed=$e"}
	if len(g.Embeddings) > 0 {
		scaled = g.Embeddings[0]
	} else if ScalingReason(c.Documents) == "" {
		specs = append(specs, "linear", "rbf:gamma=$1")
	}
	text := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	values := strings.NewReplacer("$1", text(gamma), "$less", text(gamma/4), "$more", text(4*gamma), "$e", scaled)
	for _, spec := range specs {
		if !strings.HasPrefix(spec, g.Kernel) {
			continue
		}
		k, err := kernel.Parse(values.Replace(spec))
		if err != nil {
			return nil, err
		}
		out = append(out, k)
	}
	return out, nil
}

// VectorDefaults holds default settings for vectors whose values aren't counts.
type VectorDefaults struct {
	Kernel    string           // default kernel for SVMs and other kernel methods
	Embedding sparse.Embedding // default embedding for linear models
	Reason    string           // reason for these defaults; "" for a table with value columns

	hasTermWeights bool // true if values are term weights, false if they are measurements
}

// WeightsKernel is the default kernel for term weights such as tf-idf. This kernel has no
// parameters.
const WeightsKernel = "bhattacharyya"

// Vectors are treated as term weights, such as tf-idf, if their values are nonnegative fractions,
// there are at least minTermColumns columns, and at most a fraction maxTermDensity of the entries
// is nonzero. In addition, columns that are nonzero in at least half of the rows must hold less
// than half of the nonzero entries. Term weights aren't standardized, because rare terms would
// dominate.
const (
	minTermColumns = 100
	maxTermDensity = 0.1
)

// VectorDefaultsOf returns the defaults for a corpus of vectors, or nil for text and counts.
// Vectors come from a file of vectors or from the value columns of a table. The default kernel is a
// text kernel for term weights, and a vector kernel for measurements. Linear models standardize
// value columns. They standardize other measurements only if [ScalingReason] returns a reason.
func VectorDefaultsOf(c *corpus.Corpus) *VectorDefaults {
	if c.Tokenizer.HasValues() {
		return &VectorDefaults{Kernel: VectorKernel, Embedding: sparse.Embedding{Weighting: sparse.StandardScaling}}
	}
	if c.Vocabulary != nil {
		return nil
	}
	why := NonCountReason(c.Documents)
	if why == "" {
		return nil
	}
	columns, rowsWith := c.Documents.TermFrequencies()
	common := int64(0) // number of values in columns that are nonzero in at least half of the rows
	for _, n := range rowsWith {
		if 2*int(n) >= c.Documents.Rows() {
			common += int64(n)
		}
	}
	values := c.Documents.NNZ()
	filled := float64(values) / float64(c.Documents.Rows()) / float64(len(columns))
	if why == ReasonFractions && len(columns) >= minTermColumns && filled <= maxTermDensity && 2*common < values {
		return &VectorDefaults{WeightsKernel, sparse.Embedding{Norm: sparse.NormL2},
			fmt.Sprintf("non-negative fractions in %d columns, %.2g%% nonzero, look like term weights such as tf-idf, "+
				"so the default is the text kernel %s; use -kernel %s for "+
				"measurements", len(columns), 100*filled, WeightsKernel, VectorKernel),
			true}
	}
	v := &VectorDefaults{Kernel: VectorKernel, Reason: why + " are not term counts, so the default is a kernel for " +
		"vectors, with columns scaled to mean 0 and variance 1 (-scale standard)"}
	if ScalingReason(c.Documents) != "" {
		v.Embedding.Weighting = sparse.StandardScaling
	}
	return v
}

// kernelVariants returns the named kernel with each suitable embedding and each candidate value of
// t or gamma.
func kernelVariants(name string, histograms, vectors []string) ([]kernel.Kernel, error) {
	k, err := kernel.Parse(name)
	if err != nil {
		return nil, err
	}
	switch e := k.Embedding(); {
	case e == sparse.SphereEmbedding:
		return kernelCombinations([]string{name}, histograms)
	case e.Pairing == sparse.Cosine:
		return kernelCombinations([]string{name}, vectors)
	default:
		return kernelCombinations([]string{name}, []string{e.String()})
	}
}

// kernelCombinations returns all combinations of names, embeddings, and values of t or gamma (for
// kernels with such a parameter). Kernels with the first value of t or gamma come first, so that a
// search with a small time budget still compares different kernels.
func kernelCombinations(names, embeddings []string) ([]kernel.Kernel, error) {
	var lists [][]kernel.Kernel
	for _, name := range names {
		for _, embedding := range embeddings {
			e, err := sparse.ParseEmbedding(embedding)
			if err != nil {
				return nil, err
			}
			k, err := kernel.ParseIn(name, e)
			if err != nil {
				return nil, err
			}
			some, _, err := kernel.ExpandGrid([]kernel.Kernel{k}, candidateScales)
			if err != nil {
				return nil, err
			}
			lists = append(lists, some)
		}
	}
	return run.Interleave(lists...), nil
}

// IsDiffusion reports whether k is a diffusion kernel. Because the automatic choice tries diffusion
// kernels, training doesn't warn that a diffusion kernel may not be positive definite.
func IsDiffusion(k kernel.Kernel) bool { return kernel.FamilyName(k) == "diffusion" }

// NeighbourKernels returns k with t or gamma halved and doubled, if the new value is in [1/64,
// 256]. On scaled columns the minimum is 2⁻²⁰, because gamma is small if there are many columns.
func NeighbourKernels(k kernel.Kernel) (out []kernel.Kernel) {
	least, most := 1.0/64, 256.0
	if k.Embedding().Scales() {
		least = 0x1p-20
	}
	for _, name := range []string{"t", "gamma"} {
		v, ok := kernel.ParamOf(k, name)
		if !ok {
			continue
		}
		for _, v := range []float64{v / 2, 2 * v} {
			if other, err := kernel.WithParam(k, name, v); err == nil && v >= least && v <= most {
				out = append(out, other)
			}
		}
	}
	return out
}
