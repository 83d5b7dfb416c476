package mkm

import (
	"fmt"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/lab/internal/lmnn"
	"github.com/gramengine/gram/sparse"
)

// FinalClassifier is the classifier that uses the features of the last layer.
type FinalClassifier int

const (
	FinalLMNN FinalClassifier = iota // learnt metric, see package lmnn
	FinalKNN                         // majority vote of the nearest documents
	FinalSVM                         // support vector machines, one-vs-rest
)

// String returns the name of the classifier in settings.
func (f FinalClassifier) String() string {
	if f < FinalLMNN || f > FinalSVM {
		return fmt.Sprintf("unknown (%d)", int(f))
	}
	return []string{"lmnn", "knn", "svm"}[f]
}

// These are the maximum values of settings.
const (
	MaxLayers = 16
	MaxWidth  = lmnn.MaxColumns // maximum number of features of a layer

	maxNeighbours = 1 << 10
)

// Settings describes a model. The zero value has no layers: a metric is trained on selected
// features of the documents.
type Settings struct {
	// Layers lists the kernel specifications, first layer first. After the first layer, a kernel
	// without an embedding uses the features unchanged.
	Layers []string

	// Widths lists the maximum numbers of selected features, for the documents and then for each
	// layer. A single number applies to all levels. Default: selected on held-out documents.
	Widths []int

	KeepAllFeatures bool // true to use all features; Widths must then be empty
	MaxComponents   int  `param:"components" default:"300" min:"1" max:"2000" help:"maximum components per layer"`

	// BaseSize is the number of random documents from which components are computed.
	BaseSize int `param:"base" default:"6000" min:"2" help:"number of documents for computing components"`
	Bins     int `param:"bins" default:"10" min:"2" max:"1024" help:"number of bins of a feature histogram"`
	Folds    int `param:"part" default:"6" min:"2" help:"hold out 1/N of the documents to choose parameters set to auto"`

	Classifier FinalClassifier `param:"final" max:"2" help:"final classifier; svm uses -kernel (default: arccos:n=1)"`
	// Steps is the number of iterations of FinalLMNN. If Steps is 0, [lmnn.ChooseIterations]
	// selects the number of iterations.
	Steps  int     `param:"steps" min:"1" auto:"0" help:"number of iterations of final=lmnn"`
	K      int     `param:"k" min:"1" max:"1024" auto:"0" help:"number of neighbours of final=knn"`
	Kernel string  `param:"kernel" default:"arccos:n=1" flag:""` // kernel of FinalSVM
	C      float64 `param:"c" above:"0" auto:"0" help:"C of final=svm"`

	Seed uint64 // random seed for held-out documents, Layer.Base, and principal components

	tolerance float64 // tolerance of the principal components, for tests
}

func (s Settings) resolve() (Settings, []kernel.Kernel, error) {
	if err := params.Resolve(&s); err != nil {
		return s, nil, fmt.Errorf("mkm: %w", err)
	}
	levels := len(s.Layers) + 1
	switch {
	case levels > MaxLayers+1:
		return s, nil, fmt.Errorf("mkm: got %d layers; the maximum is %d", len(s.Layers), MaxLayers)
	case s.KeepAllFeatures && len(s.Widths) > 0:
		return s, nil, fmt.Errorf("mkm: Widths %v and KeepAllFeatures cannot be combined", s.Widths)
	case len(s.Widths) > 1 && len(s.Widths) != levels:
		return s, nil, fmt.Errorf("mkm: %d widths, but %d layers; set %d widths (for the documents, then for each layer) "+
			"or a single width", len(s.Widths), len(s.Layers), levels)
	}
	for _, w := range s.Widths {
		if w < 1 || w > MaxWidth {
			return s, nil, fmt.Errorf("mkm: width must be between 1 and %d, got %d", MaxWidth, w)
		}
	}
	var kernels []kernel.Kernel
	for l, spec := range s.Layers {
		k, err := parseKernel(spec, l)
		if err != nil {
			return s, nil, fmt.Errorf("mkm: layer %d: %w", l+1, err)
		}
		kernels = append(kernels, k)
	}
	if _, err := parseKernel(s.Kernel, 1); err != nil {
		return s, nil, fmt.Errorf("mkm: kernel: %w", err)
	}
	return s, kernels, nil
}

func parseKernel(spec string, l int) (kernel.Kernel, error) {
	if l == 0 {
		return kernel.Parse(spec)
	}
	return kernel.ParseIn(spec, sparse.Embedding{})
}

func (s *Settings) maxTriedWidth() int { return max(s.MaxComponents, 300) }

// fixedWidth returns the setting for the width of a level, or 0 if the width must be selected.
func (s *Settings) fixedWidth(level int) int {
	switch len(s.Widths) {
	case 0:
		return 0
	case 1:
		return s.Widths[0]
	}
	return s.Widths[level]
}

// Validate returns an error if a setting is invalid.
func (s Settings) Validate() error {
	_, _, err := s.resolve()
	return err
}

// Options configures a computation. The zero value selects the defaults.
type Options struct {
	ISA         string // instruction set; default: the best available
	Workers     int    // number of goroutines, which doesn't affect results; default: number of CPUs
	MemoryBytes int64  // memory limit in bytes, without the documents; default: no limit

	Progress func(run.Progress) // progress callback, not called concurrently; may be nil

	OnChoice func(LevelChoice) // called with the settings selected for each level; may be nil
}

// LevelChoice holds the settings selected for a level.
type LevelChoice struct {
	Level     int    // 0 for the documents, otherwise the number of the layer, from 1
	Kernel    string // kernel of the layer
	Features  int    // number of ranked features
	Width     int    // number of selected features
	K         int    // number of neighbours
	Wrong     int    // number of held-out documents misclassified by nearest neighbours
	Documents int    // number of held-out documents; 0 if nothing was selected

	Steps      int `json:",omitempty"` // number of iterations for a metric, if selected
	StepsWrong int `json:",omitempty"` // number of held-out documents misclassified by the metric
}

// String formats the choice as a line for progress messages.
func (c LevelChoice) String() string {
	text := fmt.Sprintf("%d of %d features", c.Width, c.Features)
	if c.Level == 0 {
		text = "documents: " + text
	} else {
		text = fmt.Sprintf("layer %d, %s: %s", c.Level, c.Kernel, text)
	}
	if c.Documents > 0 {
		text += fmt.Sprintf(", error rate %.2f%% with %d neighbours on %d held-out documents",
			100*float64(c.Wrong)/float64(c.Documents), c.K, c.Documents)
	}
	if c.Steps > 0 {
		text += fmt.Sprintf(", error rate %.2f%% with a learned metric (%d steps)",
			100*float64(c.StepsWrong)/float64(c.Documents), c.Steps)
	}
	return text
}
