package learn

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/score"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/internal/space"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// EvaluateOptions selects what [Evaluate] computes in addition to scores. The zero value works.
type EvaluateOptions struct {
	MistakeCount int // number of worst mistakes to explain; 0 = 20, negative = none
	TermCount    int // number of terms to list per mistake and per class; 0 = 10

	Permutations int // number of permutations per column of a table, see [Importance]; 0 = 5, negative = none

	Training *corpus.Corpus // training corpus with the same columns, to find near-duplicates; nil = don't search
}

// Evaluation compares predictions of a model with the labels of documents.
type Evaluation struct {
	Score    *score.Score `json:"-"`
	Outcomes []Outcome    `json:"-"` // one outcome per document

	// CoverageCurve has a point for each distinct confidence. CoverageAtErrorRates has a point for
	// each of the error rates 1, 2, 5 and 10%: the point with the largest coverage at no larger error
	// rate, or the zero value. Both are nil for regression and independent labels.
	CoverageCurve        []CoveragePoint `json:"-"`
	CoverageAtErrorRates []CoveragePoint `json:"answered,omitempty"`

	// Curves holds the pooled curve, then a curve per class; nil for regression and one-class
	// models.
	Curves []Curve `json:"curves,omitempty"`

	NoveltyBins []NoveltyBin `json:"by_novelty,omitempty"` // counts by rank; nil for regression or without ranks

	Importances []Importance `json:"importance,omitempty"` // importance of a table's columns, in descending order

	Mistakes       []Mistake       `json:"mistakes"` // worst mistakes, in descending order of confidence
	Explanation    *Explanation    `json:"terms,omitempty"`
	NearDuplicates []NearDuplicate `json:"copies,omitempty"` // sorted by document
	NonDuplicates  *NonDuplicates  `json:"without_copies,omitempty"`
}

// Outcome describes the prediction of a document, and whether the prediction is correct.
type Outcome struct {
	PredictionRow
	Scored                    bool
	Correct                   bool
	TrueClass, PredictedClass int      // indices into Score.Classes; -1 = none
	wrongLabel                int      // index of the most confidently wrong label; -1 = none
	trueLabels                []string // true classes of the document, sorted for independent labels

	// Confidence is the prediction's probability, or |Margin| without probabilities. If independent
	// labels are wrong, it is the confidence in the most confidently wrong label. For regression,
	// it is the absolute error.
	Confidence float64
}

// CoveragePoint holds the Fraction and the ErrorRate of the documents that are predicted with a
// confidence of at least Confidence.
type CoveragePoint struct {
	Confidence float64 `json:"confidence"`
	Fraction   float64 `json:"documents"`
	ErrorRate  float64 `json:"error"`
}

var maxErrorRates = []float64{0.01, 0.02, 0.05, 0.1}

// NoveltyBin counts documents by rank, see [NoveltyScorer]. Ranks are at most MaxRank and above the
// MaxRank of the previous bin.
type NoveltyBin struct {
	MaxRank       float64 `json:"nearest_rank"`
	DocumentCount int     `json:"documents"`
	CorrectCount  int     `json:"correct"`
}

func (v *Evaluation) countByNovelty() {
	v.NoveltyBins = []NoveltyBin{{MaxRank: 0.01}, {MaxRank: 0.05}, {MaxRank: 0.25}, {MaxRank: 0.5}, {MaxRank: 1}}
	for i := range v.Outcomes {
		x := &v.Outcomes[i]
		if !x.Scored || x.Rank == nil {
			continue
		}
		at := &v.NoveltyBins[slices.IndexFunc(v.NoveltyBins, func(n NoveltyBin) bool { return *x.Rank <= n.MaxRank })]
		if at.DocumentCount++; x.Correct {
			at.CorrectCount++
		}
	}
}

// Mistake explains a wrong prediction.
type Mistake struct {
	Index int `json:"-"` // index of the document in the corpus
	PredictionRow
	WrongLabel  string               `json:"wrong,omitempty"` // most confidently wrong independent label: "x" or "not x"
	Explanation *DocumentExplanation `json:"why,omitempty"`   // explanation by words if the text was kept, else by terms
	Occurrences []WordOccurrence     `json:"marks,omitempty"` // positions of the explanation's words in the text

	Columns []ColumnEffect `json:"columns,omitempty"` // effects of a table's columns, if rows were kept
}

// NearDuplicate is a document with a nearly identical training document. Distance is 1 minus the
// cosine of the square roots of the documents' relative term frequencies. At the maximum distance,
// 0.02, about two words in a hundred differ. Distance is computed from all words if texts were
// kept, else from the known terms.
type NearDuplicate struct {
	Document         int     `json:"document"` // number of the document, from 1
	TrainingDocument int     `json:"training"` // number of the nearest training document, from 1
	Distance         float64 `json:"c"`
}

// NonDuplicates counts the scored documents that have no [NearDuplicate], and the correct
// predictions for these documents.
type NonDuplicates struct {
	DocumentCount int `json:"documents"`
	CorrectCount  int `json:"correct"`
}

// Evaluate compares predictions p of model m for corpus c with the labels of c. The corpus must
// have the model's columns. It explains mistakes like [ExplainDocument], with one prediction per
// word or term.
//
// It fails if the model knows no label of c, if e.TermCount is negative, or if a prediction fails.
func Evaluate(
	ctx context.Context, m Model, p *model.Prediction, c *corpus.Corpus, o Options, e EvaluateOptions,
) (*Evaluation, error) {
	rows, err := PredictionRows(m, p, c)
	if err != nil {
		return nil, err
	}
	if e.TermCount < 0 {
		return nil, fmt.Errorf("learn: number of terms must not be negative, got %d", e.TermCount)
	}
	a := m.About()
	score, err := a.Score(p, c)
	if err != nil {
		return nil, err
	}
	if known := func(name string) bool { return slices.Contains(a.Classes, name) }; len(c.Labels.IDs) == 0 ||
		score.Documents == 0 || a.Classes != nil && !slices.ContainsFunc(c.Classes, known) {
		found := "no labels"
		if len(c.Labels.IDs) > 0 && len(c.Classes) > 0 {
			found = fmt.Sprintf("labels such as %q", c.Classes[0])
		}
		return nil, fmt.Errorf("learn: %s has %s, but none of the model's labels: %.60q", c.Source, found,
			a.Classes[:min(len(a.Classes), 3)])
	}
	v := &Evaluation{Score: score, Outcomes: outcomesOf(&a, p, c, rows, score), Mistakes: []Mistake{}}
	if !a.IsRegression && a.Scheme != solver.MultiLabel {
		v.computeCoverage()
	}
	if !a.IsRegression && !a.OneClass {
		v.computeCurves(&a, p)
	}
	if p.Ranks != nil && !a.IsRegression {
		v.countByNovelty()
	}
	e.MistakeCount, e.TermCount, e.Permutations = cmp.Or(e.MistakeCount, 20), cmp.Or(e.TermCount, 10),
		cmp.Or(e.Permutations, 5)
	if a.Tokenizer.HasColumns() && e.Permutations > 0 {
		if err := v.computeImportances(ctx, &a, p, c, o, e); err != nil {
			return nil, err
		}
	}
	if err := v.explain(ctx, m, c, o, e); err != nil {
		return nil, err
	}
	if terms, err := explainBy(ctx, m, o.Predictor, e.TermCount, ""); err == nil {
		v.Explanation = terms // explainBy fails if the model has no weights
	}
	if e.Training != nil {
		if err := v.findNearDuplicates(ctx, c, e.Training, o); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func outcomesOf(a *About, p *model.Prediction, c *corpus.Corpus, rows []PredictionRow, score *score.Score) []Outcome {
	number := map[string]int{}
	for k := range score.Classes {
		number[score.Classes[k].Name] = k
	}
	out := make([]Outcome, len(rows))
	for i := range out {
		x := &out[i]
		x.PredictionRow, x.TrueClass, x.PredictedClass, x.wrongLabel, x.Confidence = rows[i], -1, -1, -1,
			math.Abs(rows[i].Margin)
		if x.Probability != nil {
			x.Confidence = *x.Probability
		}
		var own []string
		for _, id := range c.Labels.Classes(i) {
			own = append(own, c.Classes[id])
		}
		given := a.Labels(p, i)
		if p.Rejected != nil { // CoverageCurve includes rejected predictions
			given = []string{a.Classes[p.ClassIndices[i]]}
		}
		x.trueLabels = own
		switch {
		case a.IsRegression:
			if x.Scored = len(own) == 1; x.Scored {
				truth, _ := strconv.ParseFloat(own[0], 64) // a.Score has checked that targets are numbers
				x.Confidence = math.Abs(p.Values[i] - truth)
				x.Correct = x.Confidence == 0
			}
		case a.Scheme == solver.MultiLabel:
			slices.Sort(own)
			x.trueLabels = slices.Compact(own)
			x.Scored, x.Correct = p.Labels[i] != nil, isCorrect(a, given, x.trueLabels)
			if x.Scored && !x.Correct {
				x.findWorst(a, p, i)
			}
		case len(own) > 0:
			x.Scored, x.Correct, x.TrueClass, x.PredictedClass = true, isCorrect(a, given, own), number[own[0]], number[given[0]]
			if x.Correct {
				x.TrueClass = x.PredictedClass
			}
		}
	}
	return out
}

// findWorst sets wrongLabel and Confidence to the label of document i that is predicted wrongly
// with the highest confidence, and this confidence. Labels unknown to the model are ignored. If no
// label is wrong, Confidence is 0.
func (x *Outcome) findWorst(a *About, p *model.Prediction, i int) {
	x.Confidence = 0
	for k, name := range a.Classes {
		given := slices.Contains(p.Labels[i], k)
		if given == slices.Contains(x.trueLabels, name) {
			continue
		}
		sure := math.Abs(p.DecisionValues[i][k])
		if len(p.Probabilities) > 0 {
			if sure = p.Probabilities[i][k]; !given {
				sure = 1 - sure
			}
		}
		if x.wrongLabel < 0 || sure > x.Confidence {
			x.wrongLabel, x.Confidence = k, sure
		}
	}
}

func (v *Evaluation) computeCoverage() {
	var sure []*Outcome
	for i := range v.Outcomes {
		if v.Outcomes[i].Scored {
			sure = append(sure, &v.Outcomes[i])
		}
	}
	slices.SortStableFunc(sure, func(a, b *Outcome) int { return cmp.Compare(b.Confidence, a.Confidence) })
	wrong, n := 0, float64(len(sure))
	v.CoverageAtErrorRates = make([]CoveragePoint, len(maxErrorRates))
	for k, x := range sure {
		if !x.Correct {
			wrong++
		}
		if k+1 == len(sure) || sure[k+1].Confidence != x.Confidence {
			at := CoveragePoint{x.Confidence, float64(k+1) / n, float64(wrong) / float64(k+1)}
			v.CoverageCurve = append(v.CoverageCurve, at)
			for e, most := range maxErrorRates {
				if at.ErrorRate <= most {
					v.CoverageAtErrorRates[e] = at
				}
			}
		}
	}
}

func (v *Evaluation) explain(ctx context.Context, m Model, c *corpus.Corpus, o Options, e EvaluateOptions) error {
	var wrong []int
	for i, x := range v.Outcomes {
		if x.Scored && !x.Correct && x.Prediction != RejectedLabel {
			wrong = append(wrong, i)
		}
	}
	slices.SortStableFunc(wrong, func(i, j int) int {
		return cmp.Compare(v.Outcomes[j].Confidence, v.Outcomes[i].Confidence)
	})
	for _, i := range wrong[:min(len(wrong), max(e.MistakeCount, 0))] {
		v.Mistakes = append(v.Mistakes, Mistake{Index: i, PredictionRow: v.Outcomes[i].PredictionRow})
	}
	a := m.About()
	for k := range v.Mistakes {
		x := &v.Mistakes[k]
		if of := &v.Outcomes[x.Index]; of.wrongLabel >= 0 {
			if x.WrongLabel = a.Classes[of.wrongLabel]; slices.Contains(of.trueLabels, x.WrongLabel) {
				x.WrongLabel = "not " + x.WrongLabel
			}
		}
	}
	if a.Kernel == model.Precomputed || len(v.Mistakes) == 0 {
		return nil // no terms, or no mistakes
	}
	quiet := o
	quiet.Progress = nil
	var counter *corpus.Counter
	var err error
	if c.Texts != nil && a.Vocabulary != nil && !a.Tokenizer.HasColumns() {
		if counter, err = corpus.NewCounter(a.Tokenizer, a.Vocabulary); err != nil {
			return err
		}
	}
	for k := range v.Mistakes {
		x := &v.Mistakes[k]
		if counter != nil {
			x.Explanation, x.Occurrences, err = explainWords(ctx, m, counter, x.Text, e.TermCount,
				v.Outcomes[x.Index].wrongLabel, quiet)
		} else {
			x.Explanation, err = explainTerms(ctx, m, c.Documents, x.Index, e.TermCount, v.Outcomes[x.Index].wrongLabel, quiet)
		}
		if err == nil && c.Rows != nil {
			x.Columns, err = explainColumns(ctx, m, c.Documents, c.Raw, x.Index, v.Outcomes[x.Index].wrongLabel, quiet)
		}
		if err != nil {
			return err
		}
		o.ReportProgress("explaining", int64(k+1), int64(len(v.Mistakes)))
	}
	return nil
}

func corpusOfAllWords(ctx context.Context, c *corpus.Corpus, o Options) (*corpus.Corpus, error) {
	if c.Texts == nil {
		return c, nil
	}
	own := corpus.Options{MinDF: 1, Workers: o.Workers, MemoryBytes: MemoryLeft(o.MemoryBytes, o.HeldBytes),
		Tokenizer: corpus.NearDuplicateTokenizer}
	all, err := corpus.FromTexts(ctx, c.Texts, nil, own)
	if err != nil {
		return nil, fmt.Errorf("learn: words of %s: %w", c.Source, err)
	}
	return all, nil
}

func (v *Evaluation) findNearDuplicates(ctx context.Context, c, training *corpus.Corpus, o Options) error {
	const within = 0.02
	both := [2]*corpus.Corpus{c, training}
	if c.Texts != nil && training.Texts != nil {
		for at, one := range both {
			var err error
			if both[at], err = corpusOfAllWords(ctx, one, o); err != nil {
				return err
			}
		}
	}
	need := o.HeldBytes
	for at, one := range []*corpus.Corpus{c, training} {
		m := both[at].Documents
		if need += sparse.EmbeddedBytes(m.Rows(), m.NNZ()); both[at] != one {
			need += 2 * m.Bytes()
		}
	}
	err := run.CheckMemory(need, o.MemoryBytes, "learn: the search for near-duplicates in %s", training.Source)
	if err != nil {
		return err
	}
	s, err := space.New(sparse.SphereEmbedding, both[1], both[0], true)
	if err != nil {
		return fmt.Errorf("learn: near-duplicates: %w", err)
	}
	x, err := s.Embedder.TransformRows(ctx, s.Columns, nil, o.Workers)
	if err != nil {
		return training.DescribeError(err)
	}
	rows, err := s.Embedder.TransformRows(ctx, s.Rows, nil, o.Workers)
	if err != nil {
		return c.DescribeError(err)
	}
	nearest := map[int]NearDuplicate{}
	own := engine.Options{ISA: o.ISA, Workers: o.Workers,
		MemoryBytes: MemoryLeft(o.MemoryBytes, o.HeldBytes+rows.Bytes()),
		Progress:    func(p engine.Progress) { o.ReportProgress("copies", p.Done, p.Total) }}
	_, err = engine.EachCrossPair(ctx, rows, x, within, own, func(i, j int, near float64) error {
		if best, known := nearest[i]; !known || near < best.Distance || near == best.Distance && j+1 < best.TrainingDocument {
			nearest[i] = NearDuplicate{i + 1, j + 1, near}
		}
		return nil
	})
	if err != nil {
		return err
	}
	v.NonDuplicates = &NonDuplicates{}
	for i, x := range v.Outcomes {
		if near, ok := nearest[i]; ok {
			v.NearDuplicates = append(v.NearDuplicates, near)
		} else if x.Scored {
			v.NonDuplicates.DocumentCount++
			if x.Correct {
				v.NonDuplicates.CorrectCount++
			}
		}
	}
	return nil
}
