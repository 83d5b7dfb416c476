package model

// Prediction holds the predictions of a model. The outer index of each slice is the document.
type Prediction struct {
	DecisionValues [][]float64 // decision value of each binary classifier or class; 0 for a classifier that is nil
	ClassIndices   []int       // index into the model's Classes, for models with one class per document
	Labels         [][]int     // ascending indices into Classes, for models with independent labels

	// Values is the estimate of a regression, or the decision value of a one-class model, which is
	// positive for documents like the training documents.
	Values []float64

	// Probabilities has a value per class, or is nil for models without probabilities. For models
	// with one class per document, the values sum to 1.
	Probabilities [][]float64

	// Rejected[i] is true if the largest probability of document i is below the model's threshold. The
	// class index of a rejected document should be ignored. Rejected is nil if there is no threshold.
	Rejected []bool

	// NearestValues holds the largest kernel value with a training document. Ranks holds the
	// relative rank of this value among the corresponding values of training documents, see
	// learn.NoveltyScorer. NearestValues and Ranks are nil unless requested.
	NearestValues, Ranks []float64
}
