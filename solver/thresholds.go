package solver

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/gramengine/gram/internal/run"
)

// Thresholds say which labels an object gets by the decision values of separate labels: those whose
// value is above their threshold.
type Thresholds struct {
	Above []float64 // by label: its threshold, from -1 to 1; 0 is the sign

	// AtLeastOne gives an object for which no value is above its threshold the label whose value is
	// the least below it.
	AtLeastOne bool

	// F1 is the micro F1 of documents by thresholds that were found on the other parts, and Sign
	// that of the signs alone.
	F1, Sign float64
}

// TuneThresholds finds the thresholds of greatest micro F1 for decision values of documents that
// their machines weren't trained on. decisions[i][l] is the value of label l for document i, nil
// leaves the document out; sets[i] has its labels, and parts[i] its part, from 0 on.
//
// There are three rules: the sign, one threshold for all labels, and one for each; each of them with
// and without AtLeastOne. To choose among these, it finds thresholds without a part and applies them
// to that part. Of the rules whose micro F1 isn't clearly worse than the best, by more than the
// standard error of the difference, it takes the one of greatest macro F1. labels are what
// the chosen rule gives each document this way, so they are a fair sample of its predictions but for
// the choice; nil for one that is left out.
//
// For a value F, the cuts that maximise Σ 2·right - F·given need no other labels' cuts, and F is
// the greatest micro F1 where that maximum is F·Σ of (Dinkelbach 1967; for F-measures Ye and others,
// ICML 2012). Time: O(d log d) for d values above -1, times parts.
//
// Errors: no document, NaN.
func TuneThresholds(decisions [][]float64, sets [][]int, parts []int) (t *Thresholds, labels [][]int, err error) {
	k, err := newTuning(decisions, sets, parts)
	if err != nil {
		return nil, nil, err
	}
	var rules []rule
	best := 0
	for _, fit := range []func(part int) []float64{k.sign, k.common, k.each} {
		var above [][]float64 // by part: thresholds that were found without it
		for f := range k.parts {
			above = append(above, fit(f))
		}
		for _, atLeastOne := range []bool{false, true} {
			r := rule{fit: fit, atLeastOne: atLeastOne}
			r.labels = k.apply(above, atLeastOne)
			r.micro, r.macro, r.byDocument = k.score(r.labels)
			if rules = append(rules, r); r.micro > rules[best].micro {
				best = len(rules) - 1
			}
		}
	}
	chosen := rules[best]
	for _, r := range rules {
		if r.macro > chosen.macro && !r.clearlyWorse(rules[best]) {
			chosen = r
		}
	}
	return &Thresholds{
		Above: chosen.fit(-1), AtLeastOne: chosen.atLeastOne, F1: chosen.micro, Sign: rules[0].micro,
	}, chosen.labels, nil
}

// rule is a way to find thresholds, without a part unless that is -1, and how it does.
type rule struct {
	fit          func(part int) []float64
	atLeastOne   bool
	labels       [][]int // of each document, by thresholds that were found on the other parts
	micro, macro float64 // F1 of all documents
	byDocument   []counts
}

// counts are labels of documents: those that are right, and both those given and those that documents have.
type counts struct{ right, both int }

func (c counts) f1() float64 { return 2 * float64(c.right) / float64(max(c.both, 1)) }

// clearlyWorse says whether a rule's micro F1 is below another's by more than the standard error of their difference.
// F = 2·Σ right/Σ both changes with the weight of document i by (2·rightᵢ - F·bothᵢ)/Σ both, so the variance of a
// difference is the sum of the squares of such differences (the delta method). The few parts would tell it badly: of
// three, the standard error of a mean errs by half of itself.
func (r rule) clearlyWorse(than rule) bool {
	var sums [2]counts
	for i := range r.byDocument {
		for side, of := range [2]rule{r, than} {
			sums[side].right += of.byDocument[i].right
			sums[side].both += of.byDocument[i].both
		}
	}
	influence := func(side int, c counts) float64 {
		return (2*float64(c.right) - sums[side].f1()*float64(c.both)) / float64(max(sums[side].both, 1))
	}
	var variance float64
	for i := range r.byDocument {
		d := influence(1, than.byDocument[i]) - influence(0, r.byDocument[i])
		variance += d * d
	}
	return !(than.micro-r.micro <= math.Sqrt(variance))
}

// tuning is what thresholds are found from.
type tuning struct {
	decisions [][]float64
	sets      [][]int
	of        []int // by document: its part
	labels    int
	parts     int
	near      [][]valued // by label: its values in (-1, 1], the greatest first
	sure      [][]valued // by label: those above
}

// valued is a decision value of a label for a document, which has the label or doesn't.
type valued struct {
	value float64
	doc   int32
	right bool
}

func newTuning(decisions [][]float64, sets [][]int, parts []int) (*tuning, error) {
	k := &tuning{decisions: decisions, sets: sets, of: parts}
	for i, own := range decisions {
		if own == nil {
			continue
		}
		if k.near == nil {
			k.labels = len(own)
			k.near, k.sure = make([][]valued, k.labels), make([][]valued, k.labels)
		}
		k.parts = max(k.parts, parts[i]+1)
		for l, v := range own {
			at := valued{v, int32(i), slices.Contains(sets[i], l)}
			switch {
			case math.IsNaN(v):
				return nil, errUser("decision value %v of label %d for document %d, expected a number", v, l, i)
			case v > 1:
				k.sure[l] = append(k.sure[l], at)
			case v > -1:
				k.near[l] = append(k.near[l], at)
			}
		}
	}
	if k.near == nil {
		return nil, errUser("no document to find thresholds by")
	}
	for _, near := range k.near {
		slices.SortStableFunc(near, func(a, b valued) int { return cmp.Compare(b.value, a.value) })
	}
	return k, nil
}

// sign is the rule of the sign.
func (k *tuning) sign(int) []float64 { return make([]float64, k.labels) }

// common finds one threshold for all labels, without a part.
func (k *tuning) common(part int) []float64 {
	all := slices.Concat(k.near...)
	slices.SortStableFunc(all, func(a, b valued) int { return cmp.Compare(b.value, a.value) })
	sure := slices.Concat(k.sure...)
	return slices.Repeat(k.cuts([][]valued{all}, [][]valued{sure}, part), k.labels)
}

// each finds a threshold for each label, without a part.
func (k *tuning) each(part int) []float64 { return k.cuts(k.near, k.sure, part) }

// cuts finds the thresholds of lists of values, together, without a part.
func (k *tuning) cuts(near, sure [][]valued, part int) []float64 {
	of := 0 // labels of documents
	for i, own := range k.decisions {
		if own != nil && k.of[i] != part {
			of += len(k.sets[i])
		}
	}
	above := make([]float64, len(near))
	const rounds = 50 // some five suffice
	for f, round := 0.0, 0; round < rounds; round++ {
		right, given := 0, 0
		for l := range near {
			above[l] = k.cut(near[l], sure[l], part, f, &right, &given)
		}
		next := 0.0
		if given+of > 0 {
			next = 2 * float64(right) / float64(given+of)
		}
		if !(next > f) {
			break
		}
		f = next
	}
	return above
}

// cut finds the threshold of a list that maximises 2·right - f·given, the one nearest to 0 of
// several, and adds its counts.
func (k *tuning) cut(near, sure []valued, part int, f float64, right, given *int) float64 {
	r, g := 0, 0
	for _, v := range sure {
		if k.of[v.doc] != part {
			g++
			if v.right {
				r++
			}
		}
	}
	above, last := 1.0, 1.0 // the cut before the value that comes next, and the value before
	best, bestR, bestG := math.Inf(-1), r, g
	take := func(cut float64) {
		gain := 2*float64(r) - float64(f*float64(g))
		if gain > best || gain == best && math.Abs(cut) < math.Abs(above) {
			best, above, bestR, bestG = gain, cut, r, g
		}
	}
	between := func(lo, hi float64) float64 { // the point of [lo, hi) that is nearest to 0, half-way on either side
		if lo <= 0 && hi > 0 {
			return 0
		}
		return lo + float64((hi-lo)/2)
	}
	for _, v := range near {
		if k.of[v.doc] == part {
			continue
		}
		if v.value < last {
			take(between(v.value, last))
		}
		last = v.value
		g++
		if v.right {
			r++
		}
	}
	take(between(-1, last))
	*right, *given = *right+bestR, *given+bestG
	return above
}

// apply gives each document its labels by the thresholds of its part.
func (k *tuning) apply(above [][]float64, atLeastOne bool) [][]int {
	labels := make([][]int, len(k.decisions))
	for i, own := range k.decisions {
		if own != nil {
			labels[i] = labelsOf([]int{}, own, above[k.of[i]], atLeastOne)
		}
	}
	return labels
}

// score returns the micro F1 of labels that documents were given, their macro F1, of the labels that
// any document has or was given, and the counts of each document.
func (k *tuning) score(labels [][]int) (micro, macro float64, byDocument []counts) {
	all, byLabel := counts{}, make([]counts, k.labels)
	byDocument = make([]counts, len(labels))
	for i, given := range labels {
		if k.decisions[i] == nil {
			continue
		}
		own := &byDocument[i]
		for _, l := range given {
			if slices.Contains(k.sets[i], l) {
				own.right++
				byLabel[l].right++
			}
			byLabel[l].both++
		}
		for _, l := range k.sets[i] {
			byLabel[l].both++
		}
		own.both = len(given) + len(k.sets[i])
		all.right += own.right
		all.both += own.both
	}
	known := 0
	for _, c := range byLabel {
		if c.both > 0 {
			known++
			macro += c.f1()
		}
	}
	return all.f1(), macro / float64(max(known, 1)), byDocument
}

// labelsOf appends the labels whose values are above their thresholds, nil for 0.
func labelsOf(dst []int, values, above []float64, atLeastOne bool) []int {
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

// Apply makes the thresholds part of a classifier of separate labels: each machine's Rho grows by
// its threshold, so that its sign says whether an object has the label; probabilities stay. Errors:
// another scheme, another number of thresholds than of machines.
func (t *Thresholds) Apply(c *Classifier) error {
	if c.Scheme != Labels || len(t.Above) != len(c.Functions) {
		return errUser("%d thresholds for %d machines (%s), expected as many, of scheme %s", len(t.Above),
			len(c.Functions), c.Scheme, Labels)
	}
	for l, m := range c.Functions {
		own := *m
		own.Rho += t.Above[l]
		if m.Sigmoid != nil {
			own.Sigmoid = &Sigmoid{m.Sigmoid.A, m.Sigmoid.B + m.Sigmoid.A*t.Above[l]}
		}
		c.Functions[l] = &own
	}
	c.AtLeastOne = t.AtLeastOne
	return nil
}

// parts returns how many parts there are to tune thresholds on, 0 for none.
func (t *Training) parts(n int) (int, error) {
	if t.Folds == nil {
		return 0, nil
	}
	if t.Sets == nil || len(t.Folds) != n || n == 0 {
		return 0, errUser("parts of %d documents to tune thresholds of sets of labels on, expected %d and sets",
			len(t.Folds), n)
	}
	return slices.Max(t.Folds) + 1, nil
}

// tune tunes the thresholds of trained labels, and makes them part of the classifier. The machines of
// a part begin at those of all documents.
func (t *Training) tune(
	ctx context.Context, m *source, open []*problem, c *Classifier, parts int, report *reporter, opt *Options,
) (err error) {
	decisions := make([][]float64, m.n)
	for i, set := range t.Sets {
		if set == nil {
			continue
		}
		decisions[i] = make([]float64, len(c.Functions))
		for l, machine := range c.Functions {
			decisions[i][l] = -machine.Rho // of those that say the same of all
		}
	}
	var jobs []job
	for _, p := range open {
		jobs = append(jobs, job{len(p.docs), p.classes, func(ctx context.Context, s *search, bytes int64) error {
			own, err := p.heldOut(ctx, s, run.Pick(t.Folds, p.docs), parts, startFrom(c.Functions[p.place]), bytes)
			if err != nil {
				return err
			}
			for k, v := range own {
				decisions[p.docs[k]][p.place] = v
			}
			report.solved()
			return nil
		}})
	}
	if err := runAll(ctx, m, jobs, report, opt); err != nil {
		return err
	}
	if c.Thresholds, _, err = TuneThresholds(decisions, t.Sets, t.Folds); err != nil {
		return err
	}
	return c.Thresholds.Apply(c)
}
