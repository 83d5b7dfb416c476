// Package score compares predictions with labels.
package score

import (
	"math"
	"slices"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/model"
)

// Score compares predictions with the true labels. Metrics that don't apply to the predictions,
// such as the mean squared error of classes, are NaN.
type Score struct {
	Documents int     // number of scored documents
	Correct   int     // number of documents with the right class, or with exactly the right labels
	Accuracy  float64 // Correct / Documents, NaN without documents; for several labels, the subset accuracy

	// Classes holds counts per class: first for the model's classes in the model's order, then for
	// other classes of the documents.
	Classes []ClassScore

	// Confusion[t][p] is the number of documents of class t with predicted class p. Only the
	// model's classes can be predicted, so p is less than the number of these classes. Confusion is
	// nil for independent labels.
	Confusion [][]int

	MicroF1 float64 // 2·ΣTruePositives / Σ(Documents + Predicted) over classes; Accuracy if documents have one class
	MacroF1 float64 // mean F1 of the classes that occur as a true or predicted class
	Hamming float64 // fraction of wrong decisions over documents × classes, for independent labels

	// Metrics of a regression: the mean squared error, and the squared correlation coefficient of
	// estimates and targets, as in svm-predict.
	MeanSquaredError, Correlation float64

	Regression *Regression `json:",omitempty"` // further metrics of a regression, or nil

	Answers *Answers `json:",omitempty"` // counts for models with a probability threshold, else nil

	Calibration *Calibration `json:",omitempty"` // calibration of probabilities; nil without probabilities
}

// Answers counts the scored documents with an answer and with the right answer. Documents whose
// largest probability is below the model's threshold have no answer.
type Answers struct{ Answered, Correct int }

// Interval returns Wilson's 95% score interval for the accuracy,
//
//	(p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n),   p = Correct/n, n = Documents, z = 1.959964,
//
// or 0 and 1 without documents. Source: Wilson, JASA 22 (1927).
func (s *Score) Interval() (low, high float64) {
	n := float64(s.Documents)
	if n <= 0 {
		return 0, 1
	}
	const z = 1.959963984540054
	p, by := float64(s.Correct)/n, 1+z*z/n
	middle, half := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, (middle-half)/by), min(1, (middle+half)/by)
}

// ClassScore counts the predictions of one class.
type ClassScore struct {
	Name          string `json:"class"`
	Documents     int    `json:"documents"`      // number of documents of the class
	Predicted     int    `json:"predicted"`      // number of documents for which the class is predicted
	TruePositives int    `json:"true_positives"` // number of correct predictions of the class

	Precision float64 `json:"precision"` // TruePositives/Predicted, 0 if Predicted is 0
	Recall    float64 `json:"recall"`    // TruePositives/Documents, 0 if Documents is 0
	F1        float64 `json:"f1"`        // 2·TruePositives/(Documents+Predicted), 0 if both are 0
}

// Of compares predictions with the labels of truth, which has the same documents and may list
// classes in any order. It scores numbers if p.Value isn't nil, else independent labels if p.Labels
// isn't nil, else classes.
//
//   - Classes are indices into classes; documents with class -1 or without labels are left out. A
//     document with several labels is counted under the predicted class if it has that label, else
//     under its first label.
//   - Independent labels are ascending indices into classes; documents with nil labels are left out.
//   - Numbers are compared with labels, see [Numbers].
//
// Of fails only if Numbers fails.
func Of(classes []string, p *model.Prediction, truth *corpus.Corpus) (*Score, error) {
	if p.Value != nil {
		return Numbers(p.Value, nil, truth)
	}
	t := newTally(classes, truth)
	if p.Labels != nil {
		t.labels(p.Labels)
	} else {
		t.classes(p.Class)
	}
	s := t.s
	if p.Probabilities != nil {
		s.Calibration = t.probabilities(p.Probabilities, p.Labels != nil)
	}
	if len(p.Rejected) > 0 {
		class := slices.Clone(p.Class)
		for i, rejected := range p.Rejected {
			if rejected {
				class[i] = -1
			}
		}
		answered := newTally(classes, truth)
		answered.classes(class)
		s.Answers = &Answers{Answered: answered.s.Documents, Correct: answered.s.Correct}
	}
	return s, nil
}

type tally struct {
	s     *Score
	truth *corpus.Corpus
	model int   // number of the model's classes
	class []int // index into s.Classes for each class of truth
	own   []int // buffer for the classes of a document
	asked int   // number of calls of [tally.of]
	met   []int // per class, value of asked when [tally.of] last returned the class
}

func newTally(classes []string, truth *corpus.Corpus) *tally {
	none := math.NaN()
	t := &tally{s: &Score{Hamming: none, MeanSquaredError: none, Correlation: none}, truth: truth,
		model: len(classes)}
	at := make(map[string]int, len(classes))
	add := func(name string) int {
		c, ok := at[name]
		if !ok {
			c = len(t.s.Classes)
			at[name] = c
			t.s.Classes = append(t.s.Classes, ClassScore{Name: name})
		}
		return c
	}
	for _, name := range classes {
		add(name)
	}
	for _, name := range truth.Classes {
		t.class = append(t.class, add(name))
	}
	t.met = make([]int, len(t.s.Classes))
	return t
}

// classes scores one class per document.
func (t *tally) classes(predicted []int) {
	t.s.Confusion = make([][]int, len(t.s.Classes))
	for c := range t.s.Confusion {
		t.s.Confusion[c] = make([]int, t.model) // only the model's classes, because documents may have many others
	}
	for i, given := range predicted {
		own := t.of(i)
		if len(own) == 0 || given < 0 {
			continue
		}
		is := own[0]
		if slices.Contains(own, given) {
			is = given
		}
		t.add([]int{is}, []int{given})
		t.s.Confusion[is][given]++
	}
	t.finish()
}

// labels scores any number of labels per document.
func (t *tally) labels(predicted [][]int) {
	wrong := 0
	for i, given := range predicted {
		if given != nil {
			wrong += t.add(t.of(i), given)
		}
	}
	t.finish()
	t.s.Hamming = float64(wrong) / float64(t.s.Documents*len(t.s.Classes))
}

// add counts a document, given its true and its predicted classes. It returns the number of wrong
// decisions: one for each class that is in only one of own and given.
func (t *tally) add(own, given []int) (wrong int) {
	both := 0
	for _, c := range given {
		t.s.Classes[c].Predicted++
		if slices.Contains(own, c) {
			t.s.Classes[c].TruePositives++
			both++
		}
	}
	for _, c := range own {
		t.s.Classes[c].Documents++
	}
	t.s.Documents++
	if both == len(own) && both == len(given) {
		t.s.Correct++
	}
	return len(own) + len(given) - 2*both
}

// of returns the classes of document i. The slice is valid until the next call.
func (t *tally) of(i int) []int {
	t.own = t.own[:0]
	t.asked++
	for _, id := range t.truth.Labels.Of(i) {
		if c := t.class[id]; t.met[c] != t.asked { // truth may have two classes of the same name
			t.own, t.met[c] = append(t.own, c), t.asked
		}
	}
	return t.own
}

func (t *tally) finish() {
	s := t.s
	s.Accuracy = float64(s.Correct) / float64(s.Documents)
	var right, both, known int
	ratio := func(a, b int) float64 {
		if b == 0 {
			return 0
		}
		return float64(a) / float64(b)
	}
	for c := range s.Classes {
		k := &s.Classes[c]
		k.Precision, k.Recall = ratio(k.TruePositives, k.Predicted), ratio(k.TruePositives, k.Documents)
		k.F1 = ratio(2*k.TruePositives, k.Documents+k.Predicted)
		right += k.TruePositives
		both += k.Documents + k.Predicted
		if k.Documents+k.Predicted > 0 {
			known++
			s.MacroF1 += k.F1
		}
	}
	s.MicroF1 = ratio(2*right, both)
	s.MacroF1 /= float64(max(known, 1))
}
