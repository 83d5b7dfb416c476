package model

import (
	"github.com/gramengine/gram/corpus"
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
func (t Type) Used(n Regularization) Regularization {
	switch t {
	case NuSVC, OneClass:
		return Regularization{Nu: n.Nu}
	case NuSVR:
		return Regularization{C: n.C, Nu: n.Nu}
	case EpsilonSVR:
		return Regularization{C: n.C, Epsilon: n.Epsilon}
	}
	return Regularization{C: n.C}
}

// Regularization holds the regularization parameter, and nu and the width of the zone without loss; 0 if there is none.
type Regularization struct {
	C       float64 `json:"c,omitempty"`
	Nu      float64 `json:"nu,omitempty"`
	Epsilon float64 `json:"epsilon,omitempty"`
}

// Settings are what a model was trained with, for the record.
type Settings struct {
	Regularization
	Weights       map[string]float64 `json:"weights,omitempty"` // of C, by name of the class
	Tolerance     float64            `json:"tolerance"`
	Probabilities bool               `json:"probabilities,omitempty"`
	Thresholds    bool               `json:"thresholds,omitempty"` // of labels, tuned on folds: part of each rho
	Seed          uint64             `json:"seed,omitempty"`
}

// Precomputed is the kernel of a model that was trained on kernel values, here or by LIBSVM, as
// kernel.Precomputed names it. Predictions need the kernel values with the training documents that
// SupportDoc names.
const Precomputed = "precomputed"

// Model is a trained support vector machine. It is immutable and may be used concurrently.
// [Model.Validate] says what must hold.
type Model struct {
	Type     Type
	Kernel   string // its specification as package engine reads it, with all parameters; or Precomputed
	Settings Settings

	Source    string   // the training corpus, as the user named it
	Corpus    [32]byte // its digest; zero where it isn't known
	Documents int      // its documents; 0 where they aren't known

	// Vocabulary[t] is the text of term t of the training corpus; nil where it had indices only
	Vocabulary []string
	// Tokenizer is what cut the texts into these terms; test documents are cut the same way
	Tokenizer corpus.Tokenizer
	Form      corpus.Form      // how the documents were read, for others like them
	Embedder  *sparse.Embedder // the embedding as it was fitted: terms, document frequencies, weights

	Classes []string // names of the classes in the order of the machines; nil where the type has none

	// Classifier holds the machines; their Support are rows of Support below. Types without classes
	// have one machine, and the scheme OneVsRest of one class. What a machine keeps for a warm
	// start isn't stored in files.
	Classifier solver.Classifier

	// Laplace is, for regression with probabilities, the scale σ of the Laplace distribution
	// e^(-|z|/σ)/2σ of the deviations, in units of the targets; 0 where it isn't known.
	Laplace float64

	// the support vectors as raw values, terms as in the training corpus; without values for a
	// precomputed kernel
	Support *sparse.CSR
	// SupportDoc[s] is the number of support vector s in the training corpus, from 0; -1 where it
	// isn't known
	SupportDoc   []int64
	SupportClass []int32 // its class; -1 where it has none or several
}
