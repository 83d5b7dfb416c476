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
	Accuracy  float64 // Correct / Documents, NaN without documents; for independent labels, the subset accuracy

	// Classes holds counts per class: first for the model's classes in the model's order, then for
	// other classes of the documents.
	Classes []ClassScore

	// Confusion[t][p] is the number of documents of class t with predicted class p. Only the
	// model's classes can be predicted, so p is less than the number of these classes. Confusion is
	// nil for independent labels and regression.
	Confusion [][]int

	MicroF1 float64 // 2·ΣTruePositives / Σ(Documents + PredictedCount); equal to Accuracy if documents have one class
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

// AccuracyInterval returns Wilson's 95% score interval for the accuracy,
//
//	(p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n),   p = Correct/n, n = Documents, z = 1.959964,
//
// or 0 and 1 if there are no documents. Source: Wilson, JASA 22 (1927).
func (s *Score) AccuracyInterval() (low, high float64) {
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
	Name           string `json:"class"`
	Documents      int    `json:"documents"`      // number of documents of the class
	PredictedCount int    `json:"predicted"`      // number of documents for which the class is predicted
	TruePositives  int    `json:"true_positives"` // number of correct predictions of the class

	Precision float64 `json:"precision"` // TruePositives/PredictedCount, 0 if PredictedCount is 0
	Recall    float64 `json:"recall"`    // TruePositives/Documents, 0 if Documents is 0
	F1        float64 `json:"f1"`        // 2·TruePositives/(Documents+PredictedCount), 0 if both are 0
}

// Compute compares predictions with the labels of truth, which has the same documents and may list
// classes in any order. It scores numbers if p.Values isn't nil, else independent labels if
// p.Labels isn't nil, else classes.
//
//   - Classes are indices into classes; documents with class -1 or without labels are left out. A
//     document with several labels is counted under the predicted class if it has that label, else
//     under its first label.
//   - Independent labels are ascending indices into classes; documents with nil predictions are
//     left out.
//   - Numbers are compared with labels, see [ComputeRegression].
//
// Compute fails only if [ComputeRegression] fails.
func Compute(classes []string, p *model.Prediction, truth *corpus.Corpus) (*Score, error) {
	if p.Values != nil {
		return ComputeRegression(p.Values, nil, truth)
	}
	t := newTally(classes, truth)
	if p.Labels != nil {
		t.scoreLabels(p.Labels)
	} else {
		t.scoreClasses(p.ClassIndices)
	}
	s := t.s
	if p.Probabilities != nil {
		s.Calibration = t.calibration(p.Probabilities, p.Labels != nil)
	}
	if len(p.Rejected) > 0 {
		class := slices.Clone(p.ClassIndices)
		for i, rejected := range p.Rejected {
			if rejected {
				class[i] = -1
			}
		}
		answered := newTally(classes, truth)
		answered.scoreClasses(class)
		s.Answers = &Answers{Answered: answered.s.Documents, Correct: answered.s.Correct}
	}
	return s, nil
}

type tally struct {
	s               *Score
	truth           *corpus.Corpus
	numModelClasses int
	classIndices    []int // index into s.Classes for each class of truth
	buffer          []int // result of [tally.classesOf]
	numCalls        int   // number of calls of [tally.classesOf]
	lastCalls       []int // per class, value of numCalls when [tally.classesOf] last returned the class
}

func newTally(classes []string, truth *corpus.Corpus) *tally {
	none := math.NaN()
	t := &tally{s: &Score{Hamming: none, MeanSquaredError: none, Correlation: none}, truth: truth,
		numModelClasses: len(classes)}
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
		t.classIndices = append(t.classIndices, add(name))
	}
	t.lastCalls = make([]int, len(t.s.Classes))
	return t
}

func (t *tally) scoreClasses(predicted []int) {
	t.s.Confusion = make([][]int, len(t.s.Classes))
	for c := range t.s.Confusion {
		t.s.Confusion[c] = make([]int, t.numModelClasses) // only the model's classes, because documents may have many others
	}
	for i, given := range predicted {
		own := t.classesOf(i)
		if len(own) == 0 || given < 0 {
			continue
		}
		is := own[0]
		if slices.Contains(own, given) {
			is = given
		}
		t.addDocument([]int{is}, []int{given})
		t.s.Confusion[is][given]++
	}
	t.finish()
}

func (t *tally) scoreLabels(predicted [][]int) {
	wrong := 0
	for i, given := range predicted {
		if given != nil {
			wrong += t.addDocument(t.classesOf(i), given)
		}
	}
	t.finish()
	t.s.Hamming = float64(wrong) / float64(t.s.Documents*len(t.s.Classes))
}

// addDocument counts a document with true classes own and predicted classes given. It returns the
// number of wrong decisions: one for each class that is in only one of own and given.
func (t *tally) addDocument(own, given []int) (wrong int) {
	both := 0
	for _, c := range given {
		t.s.Classes[c].PredictedCount++
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

// classesOf returns the classes of document i. The slice is valid until the next call.
func (t *tally) classesOf(i int) []int {
	t.buffer = t.buffer[:0]
	t.numCalls++
	for _, id := range t.truth.Labels.Classes(i) {
		if c := t.classIndices[id]; t.lastCalls[c] != t.numCalls { // truth may have two classes of the same name
			t.buffer, t.lastCalls[c] = append(t.buffer, c), t.numCalls
		}
	}
	return t.buffer
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
		k.Precision, k.Recall = ratio(k.TruePositives, k.PredictedCount), ratio(k.TruePositives, k.Documents)
		k.F1 = ratio(2*k.TruePositives, k.Documents+k.PredictedCount)
		right += k.TruePositives
		both += k.Documents + k.PredictedCount
		if k.Documents+k.PredictedCount > 0 {
			known++
			s.MacroF1 += k.F1
		}
	}
	s.MicroF1 = ratio(2*right, both)
	s.MacroF1 /= float64(max(known, 1))
}
