package model

import (
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Type says which problem a model solves, in LIBSVM's words.
type Type string

// The types.
const (
	CSVC       Type = "c_svc"
	NuSVC      Type = "nu_svc"
	OneClass   Type = "one_class"
	EpsilonSVR Type = "epsilon_svr"
	NuSVR      Type = "nu_svr"
)

// Types lists them in LIBSVM's order.
var Types = []Type{CSVC, NuSVC, OneClass, EpsilonSVR, NuSVR}

// Classifies reports whether a model of this type has classes. The others have one machine, whose
// decision value is the result.
func (t Type) Classifies() bool { return t == CSVC || t == NuSVC }

// Used returns the numbers that the type uses, and 0 for the others.
func (t Type) Used(n solver.Regularization) solver.Regularization {
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

// Precomputed is the kernel of a model that was trained on kernel values, here or by LIBSVM, as
// kernel.Precomputed names it. Predictions need the kernel values with the training documents that
// SupportDoc names.
const Precomputed = "precomputed"

// Model is a trained support vector machine. It is immutable and may be used concurrently.
// [Model.Validate] says what must hold.
type Model struct {
	archive.Origin // without classes if the type has none

	Type       Type
	Kernel     string              // specification, with all parameters; or Precomputed
	Parameters map[string][]string // of training, as params.Values returns them; nil if unknown
	Embedder   *sparse.Embedder    // the embedding as it was fitted: terms, document frequencies, weights

	// Classifier holds the machines; their Support are rows of Support below. Types without classes
	// have one machine, and the scheme OneVsRest of one class. What a machine keeps for a warm
	// start isn't stored in files.
	Classifier solver.Classifier

	// the support vectors as raw values, terms as in the training corpus; without values for a
	// precomputed kernel
	Support *sparse.CSR
	// SupportDoc[s] is the number of support vector s in the training corpus, from 0; -1 where it
	// isn't known
	SupportDoc   []int64
	SupportClass []int32 // its class; -1 where it has none or several
}
