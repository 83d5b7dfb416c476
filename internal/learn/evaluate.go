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
	Mistakes int // number of worst mistakes to explain; 0 = 20, negative = none
	Terms    int // number of terms to name per mistake and per class; 0 = 10

	Permutations int // number of permutations per column of a table, see [Importance]; 0 = 5, negative = none

	Training *corpus.Corpus // training corpus with the same columns, to find near-duplicates; nil = don't search
}

// Evaluation compares predictions of a model with the labels of documents.
type Evaluation struct {
	Score    *score.Score `json:"-"`
	Outcomes []Outcome    `json:"-"` // one outcome per document

	// Coverage has an element for each distinct confidence, with the error rate of the documents
	// that have at least this confidence. Answered holds four elements of Coverage, with the
	// maximum number of documents at error rates up to 1, 2, 5 and 10%. Coverage and Answered are
	// nil for regression and independent labels.
	Coverage []Coverage `json:"-"`
	Answered []Coverage `json:"answered,omitempty"`

	// Curves holds the pooled curve, then a curve per class; nil for regression and one-class
	// models.
	Curves []Curve `json:"curves,omitempty"`

	Novel []NoveltyBin `json:"by_novelty,omitempty"` // documents counted by rank; nil if predictions have no ranks

	Importance []Importance `json:"importance,omitempty"` // importance of a table's columns, in descending order

	Mistakes      []Mistake      `json:"mistakes"` // worst mistakes, in descending order of confidence
	Terms         *Explanation   `json:"terms,omitempty"`
	Copies        []Copy         `json:"copies,omitempty"` // sorted by document
	NonDuplicates *NonDuplicates `json:"without_copies,omitempty"`
}

// Outcome describes the prediction of a document, and whether the prediction is correct.
type Outcome struct {
	Row
	Scored          bool
	Correct         bool
	True, Predicted int      // indices into Score.Classes of the true and the predicted class; -1 = none
	wrong           int      // index of the most confidently wrong label; -1 = none
	own             []string // true classes of the document, sorted for independent labels

	// Confidence is the prediction's probability, or |Margin| without probabilities. For
	// independent labels, it is the confidence in Mistake.Wrong. For regression, it is the absolute
	// error.
	Confidence float64
}

// Coverage holds the fraction (Documents) and the error rate (Error) of the documents that have at
// least the given Confidence.
type Coverage struct {
	Confidence float64 `json:"confidence"`
	Documents  float64 `json:"documents"`
	Error      float64 `json:"error"`
}

// answered holds the maximum error rates of Evaluation.Answered.
var answered = []float64{0.01, 0.02, 0.05, 0.1}

// NoveltyBin counts documents by the rank of their nearest training document, see [Novelty]. Ranks
// are at most Max and above the previous bin's Max.
type NoveltyBin struct {
	Max       float64 `json:"nearest_rank"`
	Documents int     `json:"documents"`
	Correct   int     `json:"correct"`
}

func (v *Evaluation) byNovelty() {
	v.Novel = []NoveltyBin{{Max: 0.01}, {Max: 0.05}, {Max: 0.25}, {Max: 0.5}, {Max: 1}}
	for i := range v.Outcomes {
		x := &v.Outcomes[i]
		if !x.Scored || x.Rank == nil {
			continue
		}
		at := &v.Novel[slices.IndexFunc(v.Novel, func(n NoveltyBin) bool { return *x.Rank <= n.Max })]
		if at.Documents++; x.Correct {
			at.Correct++
		}
	}
}

// Mistake is a wrong prediction.
type Mistake struct {
	Index int `json:"-"` // index of the document in the corpus; Row.Document is its name, or its number from 1
	Row
	Wrong string               `json:"wrong,omitempty"` // most confidently wrong independent label: "x" or "not x"
	Why   *DocumentExplanation `json:"why,omitempty"`   // explanation by words if the text was kept, else by terms
	Marks []Mark               `json:"marks,omitempty"` // positions of the explanation's words in the text

	Columns []ColumnEffect `json:"columns,omitempty"` // effects of a table's columns, if rows were kept
}

// Copy is a document with a nearly identical training document. Distance is 1 minus the cosine of
// the square roots of the documents' relative term frequencies. Distance is at most 0.02, as if
// about two words in a hundred differ. It is computed from all words if texts were kept, else from
// the known terms.
type Copy struct {
	Document int     `json:"document"` // number of the document, from 1
	Training int     `json:"training"` // number of the nearest training document, from 1
	Distance float64 `json:"c"`
}

// NonDuplicates counts scored documents that have no Copy, and how many are predicted correctly.
type NonDuplicates struct {
	Documents int `json:"documents"`
	Correct   int `json:"correct"`
}

// Evaluate compares predictions p with the labels of corpus c, which must have the model's columns.
// It explains mistakes like [ExplainDocument], with one prediction per word or term.
//
// It fails if no label of c is known to the model, if p doesn't hold predictions of m for c, or if
// a prediction fails.
func Evaluate(
	ctx context.Context, m Model, p *model.Prediction, c *corpus.Corpus, o Options, e EvaluateOptions,
) (*Evaluation, error) {
	rows, err := RowsOf(m, p, c)
	if err != nil {
		return nil, err
	}
	if e.Terms < 0 {
		return nil, fmt.Errorf("learn: number of terms must not be negative, got %d", e.Terms)
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
	if !a.Numbers && a.Scheme != solver.Labels {
		v.cover()
	}
	if !a.Numbers && !a.OneClass {
		v.curves(&a, p)
	}
	if p.Rank != nil && !a.Numbers {
		v.byNovelty()
	}
	e.Mistakes, e.Terms, e.Permutations = cmp.Or(e.Mistakes, 20), cmp.Or(e.Terms, 10), cmp.Or(e.Permutations, 5)
	if a.Tokenizer.HasColumns() && e.Permutations > 0 {
		if err := v.importance(ctx, &a, p, c, o, e); err != nil {
			return nil, err
		}
	}
	if err := v.explain(ctx, m, c, o, e); err != nil {
		return nil, err
	}
	if terms, err := explainBy(ctx, m, o.Ready, e.Terms, ""); err == nil {
		v.Terms = terms // explainBy fails if the model has no weights
	}
	if e.Training != nil {
		if err := v.copies(ctx, c, e.Training, o); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func outcomesOf(a *About, p *model.Prediction, c *corpus.Corpus, rows []Row, score *score.Score) []Outcome {
	number := map[string]int{}
	for k := range score.Classes {
		number[score.Classes[k].Name] = k
	}
	out := make([]Outcome, len(rows))
	for i := range out {
		x := &out[i]
		x.Row, x.True, x.Predicted, x.wrong, x.Confidence = rows[i], -1, -1, -1, math.Abs(rows[i].Margin)
		if x.Probability != nil {
			x.Confidence = *x.Probability
		}
		var own []string
		for _, id := range c.Labels.Of(i) {
			own = append(own, c.Classes[id])
		}
		given := a.Labels(p, i)
		if p.Rejected != nil { // Coverage uses the confidence even if the prediction was rejected
			given = []string{a.Classes[p.Class[i]]}
		}
		x.own = own
		switch {
		case a.Numbers:
			if x.Scored = len(own) == 1; x.Scored {
				truth, _ := strconv.ParseFloat(own[0], 64) // a.Score has checked that it is a number
				x.Confidence = math.Abs(p.Value[i] - truth)
				x.Correct = x.Confidence == 0
			}
		case a.Scheme == solver.Labels:
			slices.Sort(own)
			x.own = slices.Compact(own)
			x.Scored, x.Correct = p.Labels[i] != nil, right(a, given, x.own)
			if x.Scored && !x.Correct {
				x.worst(a, p, i)
			}
		case len(own) > 0:
			x.Scored, x.Correct, x.True, x.Predicted = true, right(a, given, own), number[own[0]], number[given[0]]
			if x.Correct {
				x.True = x.Predicted
			}
		}
	}
	return out
}

// worst finds the most confidently wrong label of document i, and the model's confidence in this
// label. Labels unknown to the model are ignored. If no label is wrong, the confidence is 0.
func (x *Outcome) worst(a *About, p *model.Prediction, i int) {
	x.Confidence = 0
	for k, name := range a.Classes {
		given := slices.Contains(p.Labels[i], k)
		if given == slices.Contains(x.own, name) {
			continue
		}
		sure := math.Abs(p.Decisions[i][k])
		if len(p.Probabilities) > 0 {
			if sure = p.Probabilities[i][k]; !given {
				sure = 1 - sure
			}
		}
		if x.wrong < 0 || sure > x.Confidence {
			x.wrong, x.Confidence = k, sure
		}
	}
}

// cover computes the error rate of the most confident documents, for each distinct confidence.
func (v *Evaluation) cover() {
	var sure []*Outcome
	for i := range v.Outcomes {
		if v.Outcomes[i].Scored {
			sure = append(sure, &v.Outcomes[i])
		}
	}
	slices.SortStableFunc(sure, func(a, b *Outcome) int { return cmp.Compare(b.Confidence, a.Confidence) })
	wrong, n := 0, float64(len(sure))
	v.Answered = make([]Coverage, len(answered))
	for k, x := range sure {
		if !x.Correct {
			wrong++
		}
		if k+1 == len(sure) || sure[k+1].Confidence != x.Confidence {
			at := Coverage{x.Confidence, float64(k+1) / n, float64(wrong) / float64(k+1)}
			v.Coverage = append(v.Coverage, at)
			for e, most := range answered {
				if at.Error <= most {
					v.Answered[e] = at
				}
			}
		}
	}
}

func (v *Evaluation) explain(ctx context.Context, m Model, c *corpus.Corpus, o Options, e EvaluateOptions) error {
	var wrong []int
	for i, x := range v.Outcomes {
		if x.Scored && !x.Correct && x.Prediction != NoAnswer {
			wrong = append(wrong, i)
		}
	}
	slices.SortStableFunc(wrong, func(i, j int) int {
		return cmp.Compare(v.Outcomes[j].Confidence, v.Outcomes[i].Confidence)
	})
	for _, i := range wrong[:min(len(wrong), max(e.Mistakes, 0))] {
		v.Mistakes = append(v.Mistakes, Mistake{Index: i, Row: v.Outcomes[i].Row})
	}
	a := m.About()
	for k := range v.Mistakes {
		x := &v.Mistakes[k]
		if of := &v.Outcomes[x.Index]; of.wrong >= 0 {
			if x.Wrong = a.Classes[of.wrong]; slices.Contains(of.own, x.Wrong) {
				x.Wrong = "not " + x.Wrong
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
			x.Why, x.Marks, err = explainWords(ctx, m, counter, x.Text, e.Terms, v.Outcomes[x.Index].wrong, quiet)
		} else {
			x.Why, err = explainTerms(ctx, m, c.Documents, x.Index, e.Terms, v.Outcomes[x.Index].wrong, quiet)
		}
		if err == nil && c.Rows != nil {
			x.Columns, err = explainColumns(ctx, m, c.Documents, c.Raw, x.Index, v.Outcomes[x.Index].wrong, quiet)
		}
		if err != nil {
			return err
		}
		o.Tell("explaining", int64(k+1), int64(len(v.Mistakes)))
	}
	return nil
}

// allWords returns a corpus of all words in the texts of c, or c itself if its texts weren't kept.
func allWords(ctx context.Context, c *corpus.Corpus, o Options) (*corpus.Corpus, error) {
	if c.Texts == nil {
		return c, nil
	}
	own := corpus.Options{MinDF: 1, Workers: o.Workers, MemoryBytes: MemoryLeft(o.MemoryBytes, o.HeldBytes),
		Tokenizer: corpus.NearTokenizer}
	all, err := corpus.FromTexts(ctx, c.Texts, nil, own)
	if err != nil {
		return nil, fmt.Errorf("learn: words of %s: %w", c.Source, err)
	}
	return all, nil
}

func (v *Evaluation) copies(ctx context.Context, c, training *corpus.Corpus, o Options) error {
	const within = 0.02
	both := [2]*corpus.Corpus{c, training}
	if c.Texts != nil && training.Texts != nil {
		for at, one := range both {
			var err error
			if both[at], err = allWords(ctx, one, o); err != nil {
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
	err := run.Fits(need, o.MemoryBytes, "learn: the search for near-duplicates in %s", training.Source)
	if err != nil {
		return err
	}
	s, err := space.New(sparse.Sphere, both[1], both[0], true)
	if err != nil {
		return fmt.Errorf("learn: near-duplicates: %w", err)
	}
	x, err := s.Embedder.TransformRows(ctx, s.Columns, nil, o.Workers)
	if err != nil {
		return training.NameValue(err)
	}
	rows, err := s.Embedder.TransformRows(ctx, s.Rows, nil, o.Workers)
	if err != nil {
		return c.NameValue(err)
	}
	nearest := map[int]Copy{}
	own := engine.Options{ISA: o.ISA, Workers: o.Workers,
		MemoryBytes: MemoryLeft(o.MemoryBytes, o.HeldBytes+rows.Bytes()),
		Progress:    func(p engine.Progress) { o.Tell("copies", p.Done, p.Total) }}
	_, err = engine.CrossWithin(ctx, rows, x, within, own, func(i, j int, near float64) error {
		if best, known := nearest[i]; !known || near < best.Distance || near == best.Distance && j+1 < best.Training {
			nearest[i] = Copy{i + 1, j + 1, near}
		}
		return nil
	})
	if err != nil {
		return err
	}
	v.NonDuplicates = &NonDuplicates{}
	for i, x := range v.Outcomes {
		if near, ok := nearest[i]; ok {
			v.Copies = append(v.Copies, near)
		} else if x.Scored {
			v.NonDuplicates.Documents++
			if x.Correct {
				v.NonDuplicates.Correct++
			}
		}
	}
	return nil
}
