package solver

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/gramengine/gram/internal/run"
)

// Thresholds holds decision thresholds. An object gets the labels whose values exceed Above.
type Thresholds struct {
	Above []float64 // threshold by label, from -1 to 1

	// If AtLeastOneLabel is set, an object whose decision values are all at or below their thresholds
	// gets the label whose decision value is closest to its threshold.
	AtLeastOneLabel bool `json:"at_least_one"`

	// F1 is the cross-validated micro F1 with the tuned thresholds. Sign is the micro F1 with
	// thresholds of 0.
	F1, Sign float64
}

// TuneThresholds finds the thresholds that maximise micro F1 on held-out decision values.
// decisions[i][l] is the decision value of label l for document i; nil excludes the document.
// sets[i] lists the labels of document i, and folds[i] is its fold, from 0.
//
// It compares three rules: thresholds of 0, a common threshold for all labels, and a threshold per
// label. Each rule is tried with and without AtLeastOneLabel. For each fold, thresholds are tuned
// on the other folds and applied to the fold. Rules whose micro F1 is below the maximum by more
// than the standard error of the difference are excluded. Of the remaining rules, the rule with the
// largest macro F1 is chosen. labels holds the cross-validated predictions of this rule by
// document, or nil for an excluded document. These predictions are unbiased, except that the rule
// was chosen on the same documents.
//
// Let r, g and t be the numbers of correct, predicted and true labels. The maximum micro F1 is the
// F with
//
//	max Σ (2r - F·g) = F·Σ t,
//
// with sums over the labels. The terms of the first sum can be maximised separately for each label.
// F is found by iteration (Dinkelbach 1967; for F-measures Ye and others, ICML 2012). The time
// complexity is O(d log d) per fold for d decision values above -1.
//
// It fails if there are no documents, or if a decision value is NaN.
func TuneThresholds(decisions [][]float64, sets [][]int, folds []int) (t *Thresholds, labels [][]int, err error) {
	k, err := newThresholdTuner(decisions, sets, folds)
	if err != nil {
		return nil, nil, err
	}
	var rules []tuningRule
	best := 0
	for _, fit := range []func(fold int) []float64{k.zeroThresholds, k.commonThreshold, k.labelThresholds} {
		var above [][]float64 // thresholds for each fold, tuned on the other folds
		for f := range k.foldCount {
			above = append(above, fit(f))
		}
		for _, atLeastOne := range []bool{false, true} {
			r := tuningRule{fit: fit, atLeastOne: atLeastOne}
			r.labels = k.predictLabels(above, atLeastOne)
			r.microF1, r.macroF1, r.byDocument = k.score(r.labels)
			if rules = append(rules, r); r.microF1 > rules[best].microF1 {
				best = len(rules) - 1
			}
		}
	}
	chosen := rules[best]
	for _, r := range rules {
		if r.macroF1 > chosen.macroF1 && !r.isClearlyWorse(rules[best]) {
			chosen = r
		}
	}
	return &Thresholds{
		Above: chosen.fit(-1), AtLeastOneLabel: chosen.atLeastOne, F1: chosen.microF1, Sign: rules[0].microF1,
	}, chosen.labels, nil
}

// tuningRule is a rule with its results. fit tunes thresholds on all folds except fold, or on all
// folds if fold is -1.
type tuningRule struct {
	fit              func(fold int) []float64
	atLeastOne       bool
	labels           [][]int // cross-validated predictions by document
	microF1, macroF1 float64 // F1 over all documents
	byDocument       []labelCounts
}

type labelCounts struct{ correct, total int } // total: predicted plus true labels

func (c labelCounts) f1() float64 { return 2 * float64(c.correct) / float64(max(c.total, 1)) }

// isClearlyWorse reports whether the micro F1 of r is below the micro F1 of other by more than the
// standard error of the difference. The derivative of F = 2·Σ correct/Σ total with respect to the
// weight of document i is (2·correctᵢ - F·totalᵢ)/Σ total. So, by the delta method, the variance of
// the difference is the sum over i of the squared difference of these derivatives. A standard error
// computed from the F1 of three folds would have a relative error of one half.
func (r tuningRule) isClearlyWorse(other tuningRule) bool {
	var sums [2]labelCounts
	for i := range r.byDocument {
		for side, of := range [2]tuningRule{r, other} {
			sums[side].correct += of.byDocument[i].correct
			sums[side].total += of.byDocument[i].total
		}
	}
	influence := func(side int, c labelCounts) float64 {
		return (2*float64(c.correct) - sums[side].f1()*float64(c.total)) / float64(max(sums[side].total, 1))
	}
	var variance float64
	for i := range r.byDocument {
		d := influence(1, other.byDocument[i]) - influence(0, r.byDocument[i])
		variance += d * d
	}
	return !(other.microF1-r.microF1 <= math.Sqrt(variance))
}

type thresholdTuner struct {
	decisions  [][]float64
	sets       [][]int
	foldOf     []int
	labelCount int
	foldCount  int
	uncertain  [][]labelDecision // decision values in (-1, 1] by label, decreasing
	confident  [][]labelDecision // decision values above 1 by label
}

type labelDecision struct {
	value    float64
	doc      int32
	hasLabel bool
}

func newThresholdTuner(decisions [][]float64, sets [][]int, folds []int) (*thresholdTuner, error) {
	k := &thresholdTuner{decisions: decisions, sets: sets, foldOf: folds}
	for i, own := range decisions {
		if own == nil {
			continue
		}
		if k.uncertain == nil {
			k.labelCount = len(own)
			k.uncertain, k.confident = make([][]labelDecision, k.labelCount), make([][]labelDecision, k.labelCount)
		}
		k.foldCount = max(k.foldCount, folds[i]+1)
		for l, v := range own {
			at := labelDecision{v, int32(i), slices.Contains(sets[i], l)}
			switch {
			case math.IsNaN(v):
				return nil, userError("decision value of label %d for document %d is NaN", l, i)
			case v > 1:
				k.confident[l] = append(k.confident[l], at)
			case v > -1:
				k.uncertain[l] = append(k.uncertain[l], at)
			}
		}
	}
	if k.uncertain == nil {
		return nil, userError("there are no documents to tune thresholds on")
	}
	for _, near := range k.uncertain {
		slices.SortStableFunc(near, func(a, b labelDecision) int { return cmp.Compare(b.value, a.value) })
	}
	return k, nil
}

func (k *thresholdTuner) zeroThresholds(int) []float64 { return make([]float64, k.labelCount) }

func (k *thresholdTuner) commonThreshold(fold int) []float64 {
	all := slices.Concat(k.uncertain...)
	slices.SortStableFunc(all, func(a, b labelDecision) int { return cmp.Compare(b.value, a.value) })
	sure := slices.Concat(k.confident...)
	return slices.Repeat(k.tuneJointly([][]labelDecision{all}, [][]labelDecision{sure}, fold), k.labelCount)
}

func (k *thresholdTuner) labelThresholds(fold int) []float64 {
	return k.tuneJointly(k.uncertain, k.confident, fold)
}

// tuneJointly tunes a threshold for each list of decision values, so that the micro F1 over all
// lists is maximal. uncertain[l] and confident[l] form list l.
func (k *thresholdTuner) tuneJointly(uncertain, confident [][]labelDecision, fold int) []float64 {
	of := 0 // number of true labels
	for i, own := range k.decisions {
		if own != nil && k.foldOf[i] != fold {
			of += len(k.sets[i])
		}
	}
	above := make([]float64, len(uncertain))
	const rounds = 50 // about five rounds suffice
	for f, round := 0.0, 0; round < rounds; round++ {
		correct, predicted := 0, 0
		for l := range uncertain {
			above[l] = k.bestThreshold(uncertain[l], confident[l], fold, f, &correct, &predicted)
		}
		next := 0.0
		if predicted+of > 0 {
			next = 2 * float64(correct) / float64(predicted+of)
		}
		if !(next > f) {
			break
		}
		f = next
	}
	return above
}

// bestThreshold returns the threshold of a list that maximises 2r - f·g, where r and g are the
// numbers of correct and predicted labels. Ties are broken in favour of the smallest absolute
// value. It adds r and g at this threshold to correct and predicted.
func (k *thresholdTuner) bestThreshold(
	uncertain, confident []labelDecision, fold int, f float64, correct, predicted *int,
) float64 {
	r, g := 0, 0
	for _, v := range confident {
		if k.foldOf[v.doc] != fold {
			g++
			if v.hasLabel {
				r++
			}
		}
	}
	above, last := 1.0, 1.0 // best threshold so far; previous decision value
	best, bestR, bestG := math.Inf(-1), r, g
	try := func(cut float64) {
		gain := 2*float64(r) - float64(f*float64(g))
		if gain > best || gain == best && math.Abs(cut) < math.Abs(above) {
			best, above, bestR, bestG = gain, cut, r, g
		}
	}
	between := func(lo, hi float64) float64 { // returns 0 if 0 is in [lo, hi), else the midpoint
		if lo <= 0 && hi > 0 {
			return 0
		}
		return lo + float64((hi-lo)/2)
	}
	for _, v := range uncertain {
		if k.foldOf[v.doc] == fold {
			continue
		}
		if v.value < last {
			try(between(v.value, last))
		}
		last = v.value
		g++
		if v.hasLabel {
			r++
		}
	}
	try(between(-1, last))
	*correct, *predicted = *correct+bestR, *predicted+bestG
	return above
}

func (k *thresholdTuner) predictLabels(above [][]float64, atLeastOne bool) [][]int {
	labels := make([][]int, len(k.decisions))
	for i, own := range k.decisions {
		if own != nil {
			labels[i] = appendLabels([]int{}, own, above[k.foldOf[i]], atLeastOne)
		}
	}
	return labels
}

// score returns the micro F1, the macro F1 and the counts of each document. The macro F1 excludes
// labels that are neither true nor predicted in any document.
func (k *thresholdTuner) score(labels [][]int) (micro, macro float64, byDocument []labelCounts) {
	all, byLabel := labelCounts{}, make([]labelCounts, k.labelCount)
	byDocument = make([]labelCounts, len(labels))
	for i, given := range labels {
		if k.decisions[i] == nil {
			continue
		}
		own := &byDocument[i]
		for _, l := range given {
			if slices.Contains(k.sets[i], l) {
				own.correct++
				byLabel[l].correct++
			}
			byLabel[l].total++
		}
		for _, l := range k.sets[i] {
			byLabel[l].total++
		}
		own.total = len(given) + len(k.sets[i])
		all.correct += own.correct
		all.total += own.total
	}
	known := 0
	for _, c := range byLabel {
		if c.total > 0 {
			known++
			macro += c.f1()
		}
	}
	return all.f1(), macro / float64(max(known, 1)), byDocument
}

// appendLabels appends the labels whose values exceed above, or 0 if above is nil. If no value
// exceeds above and atLeastOne is set, it appends the label whose value exceeds above most.
func appendLabels(dst []int, values, above []float64, atLeastOne bool) []int {
	best, most, had := -1, math.Inf(-1), len(dst)
	for i, v := range values {
		if above != nil {
			v -= above[i]
		}
		if v > 0 {
			dst = append(dst, i)
		}
		if v > most {
			best, most = i, v
		}
	}
	if atLeastOne && len(dst) == had && best >= 0 {
		dst = append(dst, best)
	}
	return dst
}

// Apply applies the thresholds to a classifier of labels. It adds each threshold to the Rho of its
// decision function, so that labels are predicted by the sign of the decision value. Probabilities
// don't change. It fails unless the scheme is [MultiLabel] with one threshold per decision
// function.
func (t *Thresholds) Apply(c *Classifier) error {
	if c.Scheme != MultiLabel || len(t.Above) != len(c.Functions) {
		return userError("thresholds require scheme %s and one threshold per decision function, got scheme %s with %d "+
			"thresholds for %d functions", MultiLabel, c.Scheme, len(t.Above), len(c.Functions))
	}
	for l, m := range c.Functions {
		own := *m
		own.Rho += t.Above[l]
		if m.Sigmoid != nil {
			own.Sigmoid = &Sigmoid{m.Sigmoid.A, m.Sigmoid.B + m.Sigmoid.A*t.Above[l]}
		}
		c.Functions[l] = &own
	}
	c.AtLeastOneLabel = t.AtLeastOneLabel
	return nil
}

func (t *Training) foldCount(n int) (int, error) {
	if t.Folds == nil {
		return 0, nil
	}
	switch {
	case t.LabelSets == nil:
		return 0, userError("tuning thresholds requires LabelSets")
	case len(t.Folds) != n || n == 0:
		return 0, userError("tuning thresholds requires one fold per document, got %d for %d documents", len(t.Folds), n)
	}
	return slices.Max(t.Folds) + 1, nil
}

// tuneThresholds tunes thresholds for a trained classifier, and applies them to it. Each fold is
// warm-started from the solution for all documents.
func (t *Training) tuneThresholds(
	ctx context.Context, m *checkedMatrix, open []*problem, c *Classifier, parts int, report *reporter, opt *Options,
) (err error) {
	decisions := make([][]float64, m.n)
	for i, set := range t.LabelSets {
		if set == nil {
			continue
		}
		decisions[i] = make([]float64, len(c.Functions))
		for l, machine := range c.Functions {
			decisions[i][l] = -machine.Rho // constant decision functions
		}
	}
	var jobs []solverJob
	for _, p := range open {
		jobs = append(jobs, solverJob{len(p.docs), p.classes, func(ctx context.Context, s *singleSMO, bytes int64) error {
			own, err := p.heldOutDecisions(ctx, s, run.Select(t.Folds, p.docs), parts,
				initialSolutionFrom(c.Functions[p.index]), bytes)
			if err != nil {
				return err
			}
			for k, v := range own {
				decisions[p.docs[k]][p.index] = v
			}
			report.countSolved()
			return nil
		}})
	}
	if err := runJobs(ctx, m, jobs, report, opt); err != nil {
		return err
	}
	if c.Thresholds, _, err = TuneThresholds(decisions, t.LabelSets, t.Folds); err != nil {
		return err
	}
	return c.Thresholds.Apply(c)
}
