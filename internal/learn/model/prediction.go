package model

// Prediction is what a model of any learner says of documents.
type Prediction struct {
	Decisions [][]float64 // by document, by machine, or by class: the decision value; 0 of a machine that is nil
	Class     []int       // one class per document: index into the model's Classes
	Labels    [][]int     // the scheme of separate labels: indices into Classes, increasing

	// Value is the estimate of regression, and the decision value of a model of one class: above 0 for a
	// document like those of training.
	Value []float64

	// Probabilities are, by document and class, those of models that have them, else nil: of one class per
	// document they sum to 1.
	Probabilities [][]float64

	// Rejected says of each document whether the greatest probability is below the model's threshold, so
	// that Class is no answer; nil where the model has no threshold.
	Rejected []bool

	// Nearest are, by document, the greatest kernel value to a training document, and Rank its rank among these
	// documents' own, where they were asked for (learn.Novelty), else nil.
	Nearest, Rank []float64
}
