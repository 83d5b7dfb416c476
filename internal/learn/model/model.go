package model

import (
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Type is the SVM formulation of a model, named as LIBSVM's svm_type.
type Type string

const (
	CSVC       Type = "c_svc"
	NuSVC      Type = "nu_svc"
	OneClass   Type = "one_class"
	EpsilonSVR Type = "epsilon_svr"
	NuSVR      Type = "nu_svr"
)

// Types lists all types in LIBSVM's order.
var Types = []Type{CSVC, NuSVC, OneClass, EpsilonSVR, NuSVR}

// Classifies reports whether models of this type have classes. Models of other types have a single
// decision function, whose value is the result.
func (t Type) Classifies() bool { return t == CSVC || t == NuSVC }

// UsedRegularization returns n with the parameters that the type doesn't use set to 0.
func (t Type) UsedRegularization(n solver.Regularization) solver.Regularization {
	switch t {
	case NuSVC, OneClass:
		return solver.Regularization{Nu: n.Nu}
	case NuSVR:
		return solver.Regularization{C: n.C, Nu: n.Nu}
	case EpsilonSVR:
		return solver.Regularization{C: n.C, Epsilon: n.Epsilon}
	}
	return solver.Regularization{C: n.C}
}

// Precomputed is the kernel of a model that was trained on kernel values by this project or by
// LIBSVM (see kernel.Precomputed). Predictions need the kernel values with the training documents
// in SupportDocs.
const Precomputed = "precomputed"

// Model is a trained support vector machine. It is immutable and may be used concurrently.
// [Model.Validate] checks its invariants.
type Model struct {
	archive.Origin // Classes is nil for types without classes

	Type       Type
	Kernel     string              // specification with all parameters, or Precomputed
	Parameters map[string][]string // training parameters, see params.Values; nil if unknown
	TargetMean *float64            // mean of the training targets of a regression; nil if unknown
	Embedder   *sparse.Embedder    // fitted embedding: terms, document frequencies, weights

	// Classifier holds the binary classifiers, with support vectors as row indices of
	// Model.Support. Types without classes have one classifier, in a OneVsRest scheme of one class.
	// Files don't store the state for warm starts.
	Classifier solver.Classifier

	// Support holds the support vectors as raw values, with terms as in the training corpus. It has
	// no values if the kernel is precomputed.
	Support *sparse.CSR
	// SupportDocs[s] is the index of support vector s in the training corpus, or -1 if unknown.
	SupportDocs    []int64
	SupportClasses []int32 // class of each support vector; -1 for none or several
}
