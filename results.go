package gram

import (
	"math"
	"time"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/score"
	"github.com/gramengine/gram/solver"
)

// About describes a model.
type About struct {
	solver.Regularization // zero for parameters that the learner doesn't have

	Type      string // learner with its parameters, as in TrainOptions.Type
	Kernel    string // specification; "" if the learner has no kernel
	Embedding string // embedding of the documents; "" if the learner uses them unchanged
	Scheme    string // one-vs-one, one-vs-rest or labels; "" for regression and one-class models, and if Votes is set

	Classes           []string // class names; nil for regression and one-class models
	DecisionFunctions []string // names of the decision functions, the columns of Predictions.Scores
	OneClass          bool     // one-class model: predicts 1 for documents like the training documents, else -1
	Numbers           bool     // the model is a regression
	Votes             bool     // scores are votes or energies instead of decision values
	Probabilities     bool     // predictions have probabilities
	MinProbability    float64  // documents whose largest probability is smaller get the class ?; 0 for no threshold

	Tokenizer  corpus.Tokenizer // tokenizer of texts
	Vocabulary []string         // terms indexed by column; nil for vectors
	Columns    int              // number of columns of the training documents; 0 if unknown
	Terms      int              // number of columns with values in training documents
	Support    int              // number of support vectors
	Bytes      int64            // approximate size in memory

	Unfinished int      // number of decision functions whose training stopped before convergence
	Notes      []string // training warnings, as sentences without a full stop
	Report     []string // lines of the training report
	Rows       []any    // report of each decision function, for package encoding/json: gap, passes, bias and so on
}

func aboutOf(a *learn.About) About {
	return About{
		Type: a.Type, Kernel: a.Kernel, Embedding: a.Embedding, Scheme: a.SchemeName(), Regularization: a.Regularization,
		Classes:           a.Classes,
		DecisionFunctions: a.DecisionFunctions, OneClass: a.OneClass, Numbers: a.Numbers, Votes: a.Votes,
		Probabilities:  a.Probabilities,
		MinProbability: a.MinProbability, Tokenizer: a.Tokenizer, Vocabulary: a.Vocabulary, Columns: a.Width, Terms: a.Terms,
		Support: a.Support, Bytes: a.Bytes, Unfinished: a.Ended.Unfinished, Notes: a.Notes, Report: a.Text, Rows: a.Rows,
	}
}

// Score compares predictions with labels. Measures that don't apply are NaN.
type Score struct {
	Documents int     // number of documents with labels
	Correct   int     // number of documents whose predicted class, or set of labels, is correct
	Accuracy  float64 // Correct / Documents; for label sets the subset accuracy

	Classes   []ClassScore // scores of the model's classes, then of other classes in the labels
	Confusion [][]int      // [t][p] is the number of documents of class t predicted as class p; nil for label sets

	MicroF1     float64 // 2·TP / (2·TP + FP + FN) with counts summed over the classes
	MacroF1     float64 // mean F1 over the classes that occur in labels or predictions
	HammingLoss float64 // fraction of wrong decisions, over documents × classes; for label sets

	MeanSquaredError   float64 // mean squared error of a regression
	R2                 float64 // coefficient of determination, 1 - MeanSquaredError / variance of the labels
	SquaredCorrelation float64 // squared correlation of estimates and labels, as printed by LIBSVM's svm-predict

	Regression *Regression // further measures of a regression; nil for classification

	LogLoss float64 // mean of -log of the true class's probability, clipped to at least 10⁻¹⁵
	ECE     float64 // expected calibration error over 15 bins (Guo et al., ICML 2017)
}

// ClassScore compares predictions of one class with labels.
type ClassScore struct {
	Name          string
	Documents     int // number of documents of the class
	Predicted     int // number of documents for which the class was predicted
	TruePositives int // number of documents of the class for which the class was predicted

	// Precision is TruePositives/Predicted, Recall is TruePositives/Documents, and F1 is their
	// harmonic mean. Each is 0 if its denominator is 0.
	Precision, Recall, F1 float64
}

// Regression compares estimates of a regression with labels.
type Regression struct {
	R2   Figure // coefficient of determination
	MAE  Figure // mean absolute error
	RMSE Figure // root mean squared error

	TrainingMean *RegressionMean // scores of the mean training label as a constant estimate; nil if unknown
}

// RegressionMean holds the scores of the mean training label as a constant estimate.
type RegressionMean struct{ R2, MAE, RMSE float64 }

// Figure is a value with its 95% confidence interval, from Student's t distribution and the delta
// method.
type Figure struct{ Value, Low, High float64 }

func scoreOf(s *score.Score) *Score {
	out := &Score{Documents: s.Documents, Correct: s.Correct, Accuracy: s.Accuracy, Confusion: s.Confusion,
		MicroF1: s.MicroF1, MacroF1: s.MacroF1, HammingLoss: s.Hamming, MeanSquaredError: s.MeanSquaredError,
		R2: math.NaN(), SquaredCorrelation: s.Correlation, LogLoss: math.NaN(), ECE: math.NaN()}
	if r := s.Regression; r != nil {
		out.R2, out.Regression = r.R2.Value, &Regression{R2: Figure(r.R2), MAE: Figure(r.MAE), RMSE: Figure(r.RMSE)}
		if r.Mean != nil {
			out.Regression.TrainingMean = &RegressionMean{r.Mean.R2, r.Mean.MAE, r.Mean.RMSE}
		}
	}
	for _, c := range s.Classes {
		out.Classes = append(out.Classes, ClassScore(c))
	}
	if s.Calibration != nil {
		out.LogLoss, out.ECE = s.Calibration.LogLoss, s.Calibration.ECE
	}
	return out
}

// Validation is the result of a cross-validation.
type Validation struct {
	Measure    string    // accuracy, micro_f1 (label sets) or mean_squared_error (regression)
	FoldScores []float64 // value of the measure on each fold
	Mean       float64   // mean of FoldScores
	SD         float64   // standard deviation of FoldScores, with n-1 in the denominator
	SE         float64   // standard error of Mean: SD / √folds

	Score        *Score        // score over the documents of all folds
	Type, Kernel string        // see About
	Support      float64       // mean number of support vectors
	Unfinished   int           // number of decision functions whose training stopped before convergence
	Elapsed      time.Duration // elapsed time of all folds
}

func validationOf(v *learn.Validation) *Validation {
	return &Validation{Measure: string(v.Measure), FoldScores: v.Figures, Mean: v.Mean, SD: v.SD,
		SE: v.SE, Score: scoreOf(v.Score), Type: v.About.Type, Kernel: v.About.Kernel,
		Support: v.Support, Unfinished: v.Ended.Unfinished, Elapsed: v.Elapsed}
}

// Explanation lists the strongest terms for and against each class.
type Explanation struct {
	Kind string       `json:"kind"` // type of the model, with its kernel or embedding
	Rows []ClassTerms `json:"rows"`

	// Documents is the number of training documents over which effects are averaged, and Held is
	// the number of documents that the model stores. Documents is 0 if weights are coefficients of
	// a linear function.
	Documents int `json:"documents,omitempty"`
	Held      int `json:"documents_held,omitempty"`
}

// ClassTerms lists the strongest terms for and against a class. For a linear function, a weight is
// the coefficient of the term's value in the embedded document. For other kernels it is the mean of
// f(x) - f(x without the term) over documents x, where f is the decision value. Documents without
// the term contribute 0.
type ClassTerms struct {
	Class    string       `json:"class"`
	Against  string       `json:"against,omitempty"` // second class; "" for all other classes
	Positive []TermWeight `json:"terms_for"`         // positive weights in descending order
	Negative []TermWeight `json:"terms_against"`     // negative weights in ascending order
	Known    int          `json:"terms"`             // number of terms with a nonzero weight
	Norm     float64      `json:"length"`            // Euclidean norm of the weights
}

// TermWeight is a term with its weight. Without a vocabulary, the term is the column number.
type TermWeight struct {
	Term   string  `json:"term"`
	Weight float64 `json:"weight"`
}

func explanationOf(x *learn.Explanation) *Explanation {
	out := &Explanation{Kind: x.Kind, Documents: x.Documents, Held: x.Held}
	weight := func(w learn.TermWeight) TermWeight { return TermWeight(w) }
	for _, r := range x.Rows {
		out.Rows = append(out.Rows, ClassTerms{r.Class, r.Against, each(r.Positive, weight), each(r.Negative, weight),
			r.Known,
			r.Norm})
	}
	return out
}

// DocumentExplanation explains the prediction for a document x by a number f(x): larger values
// favour Label. If the model compares pairs of classes, f is the decision value of Label against
// Against. If the model has a decision function per class, f is the value for Label minus the value
// for Against. For label sets and regression f is the decision value. For one-class models f is the
// decision value, negated if the prediction is -1.
type DocumentExplanation struct {
	Label   string  `json:"label"`             // predicted label
	Against string  `json:"against,omitempty"` // second class; "" if f depends on Label only
	Value   float64 `json:"value"`             // f(x)
	Known   int     `json:"terms_known"`       // number of distinct terms of the document that the model knows

	Columns []ColumnEffect  `json:"columns,omitempty"`         // effects of a table row's columns, descending by |Effect|
	Terms   []TermEffect    `json:"terms"`                     // effects of terms, descending by |Effect|
	Support []SupportEffect `json:"support_vectors,omitempty"` // contributions of support vectors for an SVM, else nil
}

// ColumnEffect is the effect of a row's column on f: f(x) - f(x without the terms of the column).
type ColumnEffect struct {
	Column string  `json:"column"` // name of the column; columns of one text view are joined by commas
	Value  string  `json:"value"`
	Note   string  `json:"note,omitempty"` // remark if the value is missing or new; else ""
	Effect float64 `json:"effect"`
	For    string  `json:"-"` // see [TermEffect]
}

// TermEffect is the effect of a term on f: f(x) - f(x without the term). It is positive if the term
// favours the label.
type TermEffect struct {
	Term   string   `json:"term"`
	Count  float64  `json:"count"` // count in the document
	Effect float64  `json:"effect"`
	For    string   `json:"-"`               // class that the term favours, or "a greater value" for regression
	Slope  *float64 `json:"slope,omitempty"` // ∂f/∂Count for SVMs; nil if unknown
}

// SupportEffect is the contribution α·k(s, x) of a support vector s to f.
type SupportEffect struct {
	Document int64   `json:"document"` // number in the training corpus, from 1; 0 if unknown
	Class    string  `json:"class,omitempty"`
	Kernel   float64 `json:"kernel"` // k(s, x)
	Effect   float64 `json:"effect"`
	For      string  `json:"-"` // see TermEffect
}

func documentExplanationOf(x *learn.DocumentExplanation, columns []learn.ColumnEffect) *DocumentExplanation {
	if x == nil {
		return nil
	}
	return &DocumentExplanation{x.Label, x.Against, x.Value, x.Known,
		each(columns, func(e learn.ColumnEffect) ColumnEffect { return ColumnEffect(e) }),
		each(x.Terms, func(e learn.TermEffect) TermEffect { return TermEffect(e) }),
		each(x.Support, func(e learn.SupportEffect) SupportEffect { return SupportEffect(e) })}
}

// Evaluation compares a model's predictions with the labels of documents.
type Evaluation struct {
	Score    *Score
	Outcomes []Outcome  // one per document
	Coverage []Coverage // error rates at descending confidence thresholds; nil for label sets
	Curves   []Curve    // ROC and precision-recall curves: first the micro-average over all classes, then each class
	Mistakes []Mistake  // most confident mistakes, in descending order of confidence
	Copies   []Copy     // near copies of training documents, ascending by Document

	Importance []Importance // importances of table columns in descending order; nil without a table
}

// Importance is the mean drop in accuracy, or in R² of a regression, when the values of a column
// are permuted among the documents. SE is the standard error of the mean drop over documents. The
// columns of one text view are treated as one column, with their names joined by commas.
type Importance struct {
	Column   string
	Drop, SE float64
}

// Outcome compares the prediction of a document with its labels.
type Outcome struct {
	Truth, Prediction string  // labels, separated by commas if there are several
	Scored            bool    // the document has labels to compare with
	Correct           bool    // the predicted class, or set of labels, is correct
	Margin            float64 // value f(x) of DocumentExplanation
	Confidence        float64 // probability of the prediction or, without probabilities, |Margin|; for regression |error|
}

// Coverage holds the fraction of documents whose confidence is at least Confidence, and their error
// rate.
type Coverage struct{ Confidence, Documents, Error float64 }

// Curve describes how well scores separate documents of a class from all others, over all
// thresholds. With TP and FP the numbers of positives and negatives at or above the threshold, and
// P and N the total numbers of positives and negatives,
//
//	ROC: (FP/N, TP/P),   AUC = ∫ TP/P d(FP/N),   PrecisionRecall: (TP/P, TP/(TP+FP)),
//	AveragePrecision = Σₖ (Rₖ - Rₖ₋₁) Pₖ over the thresholds, descending
//
// as in scikit-learn. Scores are probabilities or, without probabilities, decision values.
type Curve struct {
	Class                 string // "" for all classes together
	Documents             int    // number of positives
	AUC, AveragePrecision float64
	ROC, PrecisionRecall  [][2]float64 // points at least 1/200 apart
}

// Mistake is a wrong prediction.
type Mistake struct {
	Document int                  // number of the document
	Label    string               // for label sets, the wrong label as "x" or "not x"; else ""
	Why      *DocumentExplanation // explanation by words or, if texts are unknown, terms; nil for precomputed kernels
	Marks    []Mark               // positions in the text of the words in Why
}

// Mark is the position of a word, bytes From to To-1 of a text, with the effect of the word.
type Mark struct {
	From, To int
	Effect   float64
}

// Copy is a near copy of a training document. Distance is 1 − cosine of the square roots of the two
// documents' term frequencies. Distance is at most 0.02, as if about two words in a hundred
// differed.
type Copy struct {
	Document, Training int // numbers of the document and of the nearest training document
	Distance           float64
}

func evaluationOf(v *learn.Evaluation) *Evaluation {
	out := &Evaluation{Score: scoreOf(v.Score),
		Coverage: each(v.Coverage, func(c learn.Coverage) Coverage { return Coverage{c.Confidence, c.Documents, c.Error} }),
		Copies:   each(v.Copies, func(c learn.Copy) Copy { return Copy{c.Document - 1, c.Training - 1, c.Distance} })}
	for _, x := range v.Importance {
		out.Importance = append(out.Importance, Importance(x))
	}
	for i := range v.Outcomes {
		x := &v.Outcomes[i]
		out.Outcomes = append(out.Outcomes, Outcome{x.Truth, x.Prediction, x.Scored, x.Correct, x.Margin, x.Confidence})
	}
	for _, c := range v.Curves {
		out.Curves = append(out.Curves, Curve{c.Class, c.Documents, c.AUC, c.AveragePrecision, c.ROC, c.Precision})
	}
	for _, m := range v.Mistakes {
		out.Mistakes = append(out.Mistakes, Mistake{m.Index, m.Wrong, documentExplanationOf(m.Why, m.Columns),
			each(m.Marks, func(k learn.Mark) Mark { return Mark{k.From, k.To, k.Effect} })})
	}
	return out
}

func each[A, B any](list []A, as func(A) B) []B {
	out := make([]B, len(list))
	for i, v := range list {
		out[i] = as(v)
	}
	return out
}
