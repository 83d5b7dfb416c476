package mkm

import (
	"fmt"
	"math"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/learn/lmnn"
	"github.com/gramengine/gram/learn/selection"
	"github.com/gramengine/gram/sparse"
)

// Final is what classifies the features of the last layer.
type Final int

const (
	Metric     Final = iota // energies under a learnt metric, see package lmnn
	Neighbours              // the most frequent class of the nearest documents
	Machines                // support vector machines, one-vs-rest
)

// String names the classifier.
func (f Final) String() string {
	names := []string{"lmnn", "knn", "svm"}
	if f < 0 || int(f) >= len(names) {
		return fmt.Sprintf("unknown (%d)", int(f))
	}
	return names[f]
}

// Bounds of settings.
const (
	MostLayers = 16
	MostWidth  = lmnn.MostColumns // features of a layer

	mostNeighbours = 1 << 10
)

// DefaultKernel is that of machines in Settings without one.
const DefaultKernel = "arccos:n=1"

// Settings say what is trained. The zero value is a metric on selected features, without layers.
type Settings struct {
	// Layers are the kernels, from the documents up, as [kernel.Parse] takes them. Above the first
	// layer a kernel that names no embedding takes features as they are.
	Layers []string

	// Widths are how many features pass the selection: of the documents, then of each layer, or one
	// number for all; fewer where there are fewer. None: the error on a part of the documents chooses.
	Widths []int

	Whole      bool // all features pass; Widths must be empty
	Components int  // of each layer, from which features are selected; default 300
	Base       int  // documents that components are found on, at most, drawn at random; default 6000
	Bins       int  // of histograms, see package selection; default 10
	Parts      int  // 1/Parts of the documents are held out to choose widths, neighbours and C; default 6

	Final  Final
	Steps  int     // iterations of Metric, at most; 0 has them chosen, see [lmnn.Choose]
	K      int     // neighbours that vote; of Neighbours, where 0 has it chosen, from 1 to 15
	Kernel string  // of Machines; default [DefaultKernel]
	C      float64 // of Machines; 0 has it chosen: 1, 10 or 100 divided by the mean of k(x, x)

	Seed uint64 // of the part that chooses, of Base, of the search for components

	tolerance float64 // of components, for tests
}

// resolve fills in defaults and checks what is there.
func (s Settings) resolve() (Settings, []kernel.Kernel, error) {
	if s.Components == 0 {
		s.Components = 300
	}
	if s.Base == 0 {
		s.Base = 6000
	}
	if s.Bins == 0 {
		s.Bins = 10
	}
	if s.Parts == 0 {
		s.Parts = 6
	}
	if s.Kernel == "" {
		s.Kernel = DefaultKernel
	}
	levels := len(s.Layers) + 1
	switch {
	case levels > MostLayers+1:
		return s, nil, fmt.Errorf("mkm: %d layers, expected at most %d", len(s.Layers), MostLayers)
	case s.Components < 1 || s.Components > MostWidth:
		return s, nil, fmt.Errorf("mkm: %d components, expected from 1 to %d", s.Components, MostWidth)
	case s.Base < 2:
		return s, nil, fmt.Errorf("mkm: components of %d documents, expected at least 2", s.Base)
	case s.Bins < 2 || s.Bins > selection.MostBins:
		return s, nil, fmt.Errorf("mkm: %d bins, expected from 2 to %d", s.Bins, selection.MostBins)
	case s.Parts < 2:
		return s, nil, fmt.Errorf("mkm: one document of %d chooses, expected at least 2", s.Parts)
	case s.Final < Metric || s.Final > Machines:
		return s, nil, fmt.Errorf("mkm: final %d, expected Metric, Neighbours or Machines", s.Final)
	case s.Steps < 0:
		return s, nil, fmt.Errorf("mkm: %d steps of a metric, expected at least 1, or 0 to choose", s.Steps)
	case s.K < 0 || s.K > mostNeighbours:
		return s, nil, fmt.Errorf("mkm: %d neighbours, expected from 1 to %d, or 0 to choose", s.K, mostNeighbours)
	case s.C != 0 && !(s.C > 0 && s.C <= math.MaxFloat64):
		return s, nil, fmt.Errorf("mkm: C %v, expected a number above 0, or 0 to choose", s.C)
	case s.Whole && len(s.Widths) > 0:
		return s, nil, fmt.Errorf("mkm: widths %v, and all features, too, expected one of them", s.Widths)
	case len(s.Widths) > 1 && len(s.Widths) != levels:
		return s, nil, fmt.Errorf("mkm: %d widths of %d layers, expected %d: of the documents, then of each layer, "+
			"or one for all", len(s.Widths), len(s.Layers), levels)
	}
	for _, w := range s.Widths {
		if w < 1 || w > MostWidth {
			return s, nil, fmt.Errorf("mkm: width %d, expected from 1 to %d", w, MostWidth)
		}
	}
	var kernels []kernel.Kernel
	for l, spec := range s.Layers {
		k, err := parse(spec, l)
		if err != nil {
			return s, nil, fmt.Errorf("mkm: layer %d: %w", l+1, err)
		}
		kernels = append(kernels, k)
	}
	if _, err := parse(s.Kernel, 1); err != nil {
		return s, nil, fmt.Errorf("mkm: kernel: %w", err)
	}
	return s, kernels, nil
}

// parse reads the kernel of layer l: those of features take them as they are, unless they say how.
func parse(spec string, l int) (kernel.Kernel, error) {
	if l == 0 {
		return kernel.Parse(spec)
	}
	return kernel.ParseIn(spec, sparse.Embedding{})
}

// widest is the greatest width that is tried.
func (s *Settings) widest() int { return max(s.Components, 300) }

// width is the one that was asked for at a level, 0 where it is to be chosen.
func (s *Settings) width(level int) int {
	switch len(s.Widths) {
	case 0:
		return 0
	case 1:
		return s.Widths[0]
	}
	return s.Widths[level]
}

// Validate reports settings that make no sense.
func (s Settings) Validate() error {
	_, _, err := s.resolve()
	return err
}

// Options say how it is computed, not what. The zero value works.
type Options struct {
	ISA         string // instruction set; default the best
	Workers     int    // goroutines; default one a processor. Results don't depend on it
	MemoryBytes int64  // bound on what is held beside the documents; default none. See Train for what depends on it

	// Progress, if not nil, is called with how far the work is, never concurrently.
	Progress func(run.Progress)

	// Chosen, if not nil, is called with each choice, level by level.
	Chosen func(Choice)
}

// Choice is the width of a level, and how the documents that choose are classified by their nearest
// neighbours in these features.
type Choice struct {
	Level     int    // 0 for the documents, then the layer
	Kernel    string // of the layer
	Features  int    // from which the best were taken, in the order of their information
	Width     int    // features that were taken
	K         int    // neighbours that vote
	Wrong     int    // documents that are classified wrongly
	Documents int    // that were classified; 0 where nothing had to be chosen

	Steps      int `json:",omitempty"` // iterations of a metric, where they were chosen
	StepsWrong int `json:",omitempty"` // documents that it classifies wrongly then
}

// String says it in words.
func (c Choice) String() string {
	text := fmt.Sprintf("%d of %d features", c.Width, c.Features)
	if c.Level == 0 {
		text = "documents: " + text
	} else {
		text = fmt.Sprintf("layer %d, %s: %s", c.Level, c.Kernel, text)
	}
	if c.Documents > 0 {
		text += fmt.Sprintf(", %.2f%% errors with %d neighbours on %d documents",
			100*float64(c.Wrong)/float64(c.Documents), c.K, c.Documents)
	}
	if c.Steps > 0 {
		text += fmt.Sprintf(", %.2f%% by a metric (iterations: %d)", 100*float64(c.StepsWrong)/float64(c.Documents), c.Steps)
	}
	return text
}
