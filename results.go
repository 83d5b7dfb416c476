package gram

import (
	"math"
	"time"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/score"
	"github.com/gramengine/gram/solver"
)

// About holds a model's type, parameters, classes, terms and training report.
type About struct {
	solver.Regularization // zero for parameters that the learner doesn't have

	Type      string // learner with its parameters, as in TrainOptions.Type
	Kernel    string // specification; "" if the learner has no kernel
	Embedding string // embedding of the documents; "" if the learner uses them unchanged
	Scheme    string // one-vs-one, one-vs-rest or labels; "" for regression, for one-class models, and if Votes is set

	Classes           []string // class names; nil for regression and one-class models
	DecisionFunctions []string // names of the decision functions, the columns of Predictions.Scores
	OneClass          bool     // true if the model predicts 1 for documents like the training documents, else -1
	Numbers           bool     // true if the model is a regression model
	Votes             bool     // true if scores are votes or energies instead of decision values
	Probabilities     bool     // true if predictions have probabilities
	MinProbability    float64  // threshold for the largest probability, below which the class is ?; 0 for no threshold

	Tokenizer  corpus.Tokenizer // tokenizer of texts
	Vocabulary []string         // terms indexed by column; nil for vectors
	Columns    int              // number of columns of the training documents; 0 if unknown
	Terms      int              // number of columns with values in training documents
	Support    int              // number of support vectors
	Bytes      int64            // approximate size in memory in bytes

	Unfinished int      // number of decision functions whose training stopped before convergence
	Notes      []string // training warnings, as sentences without a full stop
	Report     []string // lines of the training report
	Rows       []any    // report of each decision function (gap, passes, bias, …), for encoding/json
}

func aboutOf(a *learn.About) About {
	return About{
		Type: a.Type, Kernel: a.Kernel, Embedding: a.Embedding, Scheme: a.SchemeName(), Regularization: a.Regularization,
		Classes:           a.Classes,
		DecisionFunctions: a.DecisionNames, OneClass: a.OneClass, Numbers: a.IsRegression, Votes: a.HasVotes,
		Probabilities:  a.HasProbabilities,
		MinProbability: a.MinProbability, Tokenizer: a.Tokenizer, Vocabulary: a.Vocabulary, Columns: a.ColumnCount,
		Terms:   a.TermCount,
		Support: a.SupportVectorCount, Bytes: a.Bytes, Unfinished: a.Convergence.UnfinishedCount, Notes: a.Notes,
		Report: a.Results, Rows: a.ClassifierRows,
	}
}

// Score compares predictions with labels. Measures that don't apply are NaN.
type Score struct {
	Documents int     // number of documents with labels
	Correct   int     // number of documents whose predicted class, or set of labels, is correct
	Accuracy  float64 // Correct / Documents; for label sets the subset accuracy

	Classes   []ClassScore // scores of the model's classes, then of other classes in the labels
	Confusion [][]int      // [t][p]: number of documents of class t predicted as class p; nil for label sets

	MicroF1     float64 // 2·TP / (2·TP + FP + FN) with counts summed over the classes
	MacroF1     float64 // mean F1 over the classes that occur in labels or predictions
	HammingLoss float64 // for label sets: fraction of wrong decisions among all pairs of a document and a class

	MeanSquaredError   float64 // mean squared error of a regression
	R2                 float64 // coefficient of determination, 1 - MeanSquaredError / variance of the labels
	SquaredCorrelation float64 // squared correlation of estimates and labels, as printed by LIBSVM's svm-predict

	Regression *RegressionScore // further measures of a regression; nil for classification

	LogLoss float64 // mean of -log p, where p is the probability of the true class, clipped to at least 10⁻¹⁵
	ECE     float64 // expected calibration error over 15 bins (Guo et al., ICML 2017)
}

// ClassScore compares predictions of one class with labels.
type ClassScore struct {
	Name           string
	Documents      int // number of documents of the class
	PredictedCount int // number of documents for which the class was predicted
	TruePositives  int // number of documents of the class for which the class was predicted

	// With TP = TruePositives,
	//
	//	Precision = TP / PredictedCount,  Recall = TP / Documents,
	//	F1 = 2·TP / (PredictedCount + Documents)
	//
	// Each is 0 if its denominator is 0.
	Precision, Recall, F1 float64
}

// RegressionScore compares estimates of a regression with labels.
type RegressionScore struct {
	R2   Metric // coefficient of determination
	MAE  Metric // mean absolute error
	RMSE Metric // root mean squared error

	TrainingMean *MeanBaseline // scores of a constant estimate, the mean training label; nil if unknown
}

// MeanBaseline holds the scores R2, MAE and RMSE of a constant estimate, the mean training label.
type MeanBaseline struct{ R2, MAE, RMSE float64 }

// Metric is a value with its 95% confidence interval (delta method, Student's t distribution).
type Metric struct{ Value, Low, High float64 }

func scoreOf(s *score.Score) *Score {
	out := &Score{Documents: s.Documents, Correct: s.Correct, Accuracy: s.Accuracy, Confusion: s.Confusion,
		MicroF1: s.MicroF1, MacroF1: s.MacroF1, HammingLoss: s.Hamming, MeanSquaredError: s.MeanSquaredError,
		R2: math.NaN(), SquaredCorrelation: s.Correlation, LogLoss: math.NaN(), ECE: math.NaN()}
	if r := s.Regression; r != nil {
		out.R2, out.Regression = r.R2.Value, &RegressionScore{R2: Metric(r.R2), MAE: Metric(r.MAE), RMSE: Metric(r.RMSE)}
		if r.Baseline != nil {
			out.Regression.TrainingMean = &MeanBaseline{r.Baseline.R2, r.Baseline.MAE, r.Baseline.RMSE}
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
	return &Validation{Measure: string(v.Measure), FoldScores: v.FoldValues, Mean: v.Mean, SD: v.SD,
		SE: v.SE, Score: scoreOf(v.Score), Type: v.About.Type, Kernel: v.About.Kernel,
		Support: v.MeanSupportVectorCount, Unfinished: v.Convergence.UnfinishedCount, Elapsed: v.Elapsed}
}

// Explanation lists the strongest terms for and against each class.
type Explanation struct {
	Description string       `json:"kind"` // type of the model, with its kernel or embedding
	Functions   []ClassTerms `json:"rows"`

	// DocumentCount is the number of training documents over which effects are averaged. It is 0 if
	// weights are coefficients of a linear function. StoredDocumentCount is the number of documents
	// in the model.
	DocumentCount       int `json:"documents,omitempty"`
	StoredDocumentCount int `json:"documents_held,omitempty"`
}

// ClassTerms lists the strongest terms for and against a class. For a linear function, the weight
// of a term is the coefficient of its value in the embedded document. For other kernels, the weight
// is the mean of f(x) - f(x without the term) over documents x, where f is the decision function.
// Documents without the term contribute 0.
type ClassTerms struct {
	Class       string       `json:"class"`
	SecondClass string       `json:"against,omitempty"` // second class; "" for all other classes
	Positive    []TermWeight `json:"terms_for"`         // positive weights in descending order
	Negative    []TermWeight `json:"terms_against"`     // negative weights in ascending order
	TermCount   int          `json:"terms"`             // number of terms with a nonzero weight
	Norm        float64      `json:"length"`            // Euclidean norm of the weights
}

// TermWeight is a term with its weight. If the model has no vocabulary, Term is the column number.
type TermWeight struct {
	Term   string  `json:"term"`
	Weight float64 `json:"weight"`
}

func explanationOf(x *learn.Explanation) *Explanation {
	out := &Explanation{Description: x.Description, DocumentCount: x.DocumentCount,
		StoredDocumentCount: x.StoredDocumentCount}
	weight := func(w learn.TermWeight) TermWeight { return TermWeight(w) }
	for _, r := range x.Functions {
		out.Functions = append(out.Functions, ClassTerms{r.Class, r.NegativeClass, mapSlice(r.Positive, weight),
			mapSlice(r.Negative, weight),
			r.TermCount,
			r.Norm})
	}
	return out
}

// DocumentExplanation explains the prediction for a document x by a number f(x). Larger values of f
// favour Label. If the model compares pairs of classes, f is the decision function of Label against
// SecondClass. If the model has a decision function per class, f is the decision function of Label
// minus the decision function of SecondClass. For label sets, f is the decision function of Label.
// For regression, f is the predicted value. For one-class models, f is the decision function,
// negated if the prediction is -1.
type DocumentExplanation struct {
	Label          string  `json:"label"`             // predicted label
	SecondClass    string  `json:"against,omitempty"` // second class; "" if f depends on Label only
	Value          float64 `json:"value"`             // f(x)
	KnownTermCount int     `json:"terms_known"`       // number of distinct terms of the document that the model knows

	// effects of the columns of a table row, descending by |Effect|
	Columns []ColumnEffect `json:"columns,omitempty"`
	Terms   []TermEffect   `json:"terms"` // effects of terms, descending by |Effect|
	// contributions of support vectors to f for an SVM, else nil
	SupportVectors []SupportVectorEffect `json:"support_vectors,omitempty"`
}

// ColumnEffect is the effect of a row's column on f: f(x) - f(x without the terms of the column).
type ColumnEffect struct {
	Column  string  `json:"column"` // name of the column; columns of one text view are joined by commas
	Value   string  `json:"value"`
	Note    string  `json:"note,omitempty"` // remark if the value is missing or didn't occur in training; else ""
	Effect  float64 `json:"effect"`
	Favours string  `json:"-"` // see [TermEffect]
}

// TermEffect is the effect of a term on f: f(x) - f(x without the term). It is positive if the term
// favours the label.
type TermEffect struct {
	Term    string   `json:"term"`
	Count   float64  `json:"count"` // count in the document
	Effect  float64  `json:"effect"`
	Favours string   `json:"-"`               // class that the term favours, or "a greater value" for regression
	Slope   *float64 `json:"slope,omitempty"` // ∂f/∂Count for SVMs; nil if unknown
}

// SupportVectorEffect is the contribution α·k(s, x) of a support vector s to f.
type SupportVectorEffect struct {
	Document    int64   `json:"document"` // number of the training document, from 1; 0 if unknown
	Class       string  `json:"class,omitempty"`
	KernelValue float64 `json:"kernel"` // k(s, x)
	Effect      float64 `json:"effect"`
	Favours     string  `json:"-"` // see TermEffect
}

func documentExplanationOf(x *learn.DocumentExplanation, columns []learn.ColumnEffect) *DocumentExplanation {
	if x == nil {
		return nil
	}
	return &DocumentExplanation{x.Label, x.SecondClass, x.Value, x.KnownTermCount,
		mapSlice(columns, func(e learn.ColumnEffect) ColumnEffect { return ColumnEffect(e) }),
		mapSlice(x.Terms, func(e learn.TermEffect) TermEffect { return TermEffect(e) }),
		mapSlice(x.SupportVectors, func(e learn.SupportVectorEffect) SupportVectorEffect { return SupportVectorEffect(e) })}
}

// Evaluation compares a model's predictions with the labels of documents.
type Evaluation struct {
	Score         *Score
	Outcomes      []Outcome       // one per document
	CoverageCurve []CoveragePoint // error rates at descending confidence thresholds; nil for label sets
	// ROC and precision-recall curves: the micro-average over all classes, then each class
	Curves         []Curve
	Mistakes       []Mistake       // most confident mistakes, in descending order of confidence
	NearDuplicates []NearDuplicate // near copies of training documents, in ascending order of Document

	Importances []ColumnImportance // importances of table columns in descending order; nil without a table
}

// ColumnImportance is the permutation importance of a column. MeanDrop is the mean drop in accuracy
// (for regression, in R²) when the column's values are permuted among the documents. SE is the
// standard error of the mean drop over documents. The columns of a text view are permuted together,
// and Column joins their names by commas.
type ColumnImportance struct {
	Column       string
	MeanDrop, SE float64
}

// Outcome compares the prediction of a document with its labels.
type Outcome struct {
	TrueLabel, PredictedLabel string  // labels, separated by commas if there are several
	HasLabels                 bool    // true if the prediction can be compared with a label
	Correct                   bool    // true if the predicted class, or set of labels, is correct
	Margin                    float64 // value f(x) of DocumentExplanation
	// probability of the prediction or, without probabilities, |Margin|; for regression |error|
	Confidence float64
}

// CoveragePoint holds the fraction and the error rate of documents whose confidence is at least
// Confidence.
type CoveragePoint struct{ Confidence, Fraction, ErrorRate float64 }

// Curve describes how well scores separate documents of a class from all others, over all
// thresholds. TP and FP are the numbers of positives and negatives whose score is at least the
// threshold. P and N are the total numbers of positives and negatives. Then
//
//	ROC: (FP/N, TP/P),   AUC = ∫ TP/P d(FP/N),   PrecisionRecall: (TP/P, TP/(TP+FP)),
//	AveragePrecision = Σₖ (Rₖ - Rₖ₋₁) Pₖ
//
// with recall Rₖ and precision Pₖ at threshold k in descending order, as in scikit-learn. Scores
// are probabilities or, without probabilities, decision values.
type Curve struct {
	Class                 string // "" for the micro-average over all classes
	PositiveCount         int
	AUC, AveragePrecision float64
	ROC, PrecisionRecall  [][2]float64 // points at least 1/200 apart
}

// Mistake explains a wrong prediction.
type Mistake struct {
	Document    int                  // index of the document
	WrongLabel  string               // for label sets, the most confidently wrong label as "x" or "not x"; else ""
	Explanation *DocumentExplanation // explanation by words or, without texts, by terms; nil for precomputed kernels
	Occurrences []WordOccurrence     // positions in the text of the words in Explanation
}

// WordOccurrence is a word at bytes Start to End-1 of a text. Effect is the effect of the word on
// f.
type WordOccurrence struct {
	Start, End int
	Effect     float64
}

// NearDuplicate is a near copy of a training document. Distance is 1 − cosine of the square roots
// of the two documents' term frequencies. Distance is at most 0.02: about 2% of the words differ.
type NearDuplicate struct {
	Document, TrainingDocument int // indices of the document and of the nearest training document
	Distance                   float64
}

func evaluationOf(v *learn.Evaluation) *Evaluation {
	out := &Evaluation{Score: scoreOf(v.Score),
		CoverageCurve: mapSlice(v.CoverageCurve,
			func(c learn.CoveragePoint) CoveragePoint { return CoveragePoint{c.Confidence, c.Fraction, c.ErrorRate} }),
		NearDuplicates: mapSlice(v.NearDuplicates, func(c learn.NearDuplicate) NearDuplicate {
			return NearDuplicate{c.Document - 1, c.TrainingDocument - 1, c.Distance}
		})}
	for _, x := range v.Importances {
		out.Importances = append(out.Importances, ColumnImportance(x))
	}
	for i := range v.Outcomes {
		x := &v.Outcomes[i]
		out.Outcomes = append(out.Outcomes, Outcome{x.Truth, x.Prediction, x.Scored, x.Correct, x.Margin, x.Confidence})
	}
	for _, c := range v.Curves {
		out.Curves = append(out.Curves, Curve{c.Class, c.PositiveCount, c.AUC, c.AveragePrecision, c.ROC, c.PrecisionRecall})
	}
	for _, m := range v.Mistakes {
		out.Mistakes = append(out.Mistakes, Mistake{m.Index, m.WrongLabel, documentExplanationOf(m.Explanation, m.Columns),
			mapSlice(m.Occurrences, func(k learn.WordOccurrence) WordOccurrence {
				return WordOccurrence{k.Start, k.End,
					k.Effect}
			})})
	}
	return out
}

func mapSlice[A, B any](list []A, as func(A) B) []B {
	out := make([]B, len(list))
	for i, v := range list {
		out[i] = as(v)
	}
	return out
}
