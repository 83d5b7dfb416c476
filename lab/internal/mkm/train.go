package mkm

import (
	"context"
	"fmt"
	"slices"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/lab/internal/holdout"
	"github.com/gramengine/gram/lab/internal/selection"
	"github.com/gramengine/gram/lab/internal/width"
	"github.com/gramengine/gram/sparse"
	"gonum.org/v1/gonum/mat"
)

// Train trains a model on the documents that have exactly one class. It neither changes nor retains
// the corpus. With n documents, b documents in Layer.Base and p components, fitting a layer takes
// about ten products of b²p operations each, and bnp operations for the projection. Selecting
// widths takes n²p/Folds operations. Training needs 24 np bytes of memory plus the components and
// the classifier. Results are bit-identical for any number of workers. If a layer's matrix exceeds
// MemoryBytes, sums are rounded differently, see pca.Fit.
//
// Train fails if settings are invalid, if there are fewer than two classes, or if a kernel doesn't
// distinguish the documents. It fails if an embedding or classifier doesn't support a value. It
// also fails if memory is insufficient, and within a second after ctx is done.
func Train(ctx context.Context, c *corpus.Corpus, s Settings, o Options) (*Model, error) {
	models, err := train(ctx, c, s, []FinalClassifier{s.Classifier}, o, len(s.Layers))
	if err != nil {
		return nil, err
	}
	return models[0], nil
}

// TrainPath trains models with from to len(s.Layers) layers, one per classifier in finals. Models
// are ordered by number of layers, then by classifier. Each model equals the result of [Train], but
// layers are fitted only once. It fails if from is out of range, finals is empty, or Train fails.
func TrainPath(
	ctx context.Context, c *corpus.Corpus, s Settings, finals []FinalClassifier, from int, o Options,
) ([]*Model, error) {
	if from < 0 || from > len(s.Layers) || len(finals) == 0 {
		return nil, fmt.Errorf("mkm: from must be between 0 and %d, and finals must not be empty, got from %d and %d finals",
			len(s.Layers), from, len(finals))
	}
	return train(ctx, c, s, finals, o, from)
}

type training struct {
	s          Settings
	kernels    []kernel.Kernel
	o          Options
	c          *corpus.Corpus // documents with exactly one class
	y          []int32
	rows       []int // index of each document of c in the corpus passed to Train
	digest     [32]byte
	finals     []FinalClassifier
	firstLevel int // first level for which a classifier is trained

	choices []LevelChoice // indexed by level
	cValues []float64     // C for SVMs, indexed by level; 0 if there is no SVM
	models  []*Model
	columns []uint32 // selected features of the documents
}

func train(
	ctx context.Context, c *corpus.Corpus, s Settings, finals []FinalClassifier, o Options, from int,
) ([]*Model, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	t := &training{finals: finals, o: o, firstLevel: from}
	for _, f := range finals {
		s.Classifier = f
		if err := s.Validate(); err != nil {
			return nil, err
		}
	}
	var err error
	if t.s, t.kernels, err = s.resolve(); err != nil {
		return nil, err
	}
	if err := t.selectDocuments(c); err != nil {
		return nil, err
	}
	if o.MemoryBytes > 0 {
		err := run.CheckMemory(t.requiredBytes(), o.MemoryBytes, "mkm: training on %d documents with %d components", len(t.y),
			t.s.MaxComponents)
		if err != nil {
			return nil, err
		}
	}
	t.choices, t.cValues = make([]LevelChoice, len(t.kernels)+1), make([]float64, len(t.kernels)+1)
	// Use run.Tasks to convert a panic to an error.
	err = run.Tasks(ctx, 1, 1, func(ctx context.Context, _, _ int) error { return t.run(ctx) })
	return t.models, err
}

// run selects widths and other settings on held-out documents, then fits all layers to all
// documents.
func (t *training) run(ctx context.Context) error {
	if t.needsHoldout() {
		fit, valid := t.holdOut()
		if len(fit) < 2 || len(valid) < 1 {
			return fmt.Errorf("mkm: %d documents with one class are too few to choose widths on 1/%d of them",
				len(t.y), t.s.Folds)
		}
		if err := t.fitLayers(ctx, fit, valid, t.choose); err != nil {
			return err
		}
	}
	all := run.Range(0, len(t.y))
	return t.fitLayers(ctx, all, nil, t.trainModels)
}

func (t *training) selectDocuments(c *corpus.Corpus) error {
	if name, twice := archive.FindDuplicate(c.Classes); twice {
		return fmt.Errorf("mkm: %s has two classes named %q", c.Source, name)
	}
	classes := map[int32]int{}
	for i := range c.Documents.Rows() {
		if of := c.Labels.Classes(i); len(of) == 1 {
			t.rows, t.y = append(t.rows, i), append(t.y, of[0])
			classes[of[0]]++
		}
	}
	if len(classes) < 2 {
		return fmt.Errorf("mkm: at least two classes are required, but the %[2]d documents of %[1]s have %[3]d",
			c.Source, len(t.rows), len(classes))
	}
	t.c, t.digest = c, c.Digest()
	if len(t.rows) < c.Documents.Rows() {
		t.c = c.Select(t.rows)
	}
	return nil
}

func (t *training) needsHoldout() bool {
	return !t.s.KeepAllFeatures && t.s.Widths == nil || t.s.K == 0 && slices.Contains(t.finals, FinalKNN) ||
		t.s.C == 0 && slices.Contains(t.finals, FinalSVM) || t.s.Steps == 0 && slices.Contains(t.finals, FinalLMNN)
}

// holdOut returns about 1/Folds of each class's documents in valid, and the others in fit.
func (t *training) holdOut() (fit, valid []int) {
	classes := make([]int, len(t.y))
	for i, class := range t.y {
		classes[i] = int(class)
	}
	return holdout.Split(classes, t.c.Groups, t.s.Folds, t.s.Seed)
}

// level holds the documents at a level of the model. Layers are fitted to the first n documents.
type level struct {
	number    int
	n         int
	x         *sparse.CSR // documents; after level 0, represented by the features of lastLayer
	y         []int32
	columns   []uint32     // features, most informative first; after selection, the selected features
	layers    []*Layer     // layers before lastLayer, with only the selected features
	lastLayer *fittedLayer // layer that computed x; nil at level 0
}

// fitLayers fits the layers to the documents in fit, and applies the layers to fit and valid. At
// each level, it ranks the features. Then it calls the function each, which returns the number of
// features to select.
func (t *training) fitLayers(
	ctx context.Context, fit, valid []int, each func(context.Context, *level) (int, error),
) error {
	rows := slices.Concat(fit, valid)
	lv := &level{n: len(fit), x: t.c.Documents.SelectRows(rows)}
	var numbers []int
	for _, i := range rows {
		lv.y, numbers = append(lv.y, t.y[i]), append(numbers, t.rows[i])
	}
	for l := 0; ; l++ {
		lv.number = l
		if err := t.rankFeatures(ctx, lv); err != nil {
			return err
		}
		w, err := each(ctx, lv)
		if err != nil || l == len(t.kernels) {
			return err
		}
		lv.columns = lv.columns[:w]
		x := lv.x
		if l > 0 {
			lv.layers = append(lv.layers, lv.lastLayer.selectFeatures(lv.columns))
			x = lv.selectedFeatures(0, lv.x.Rows()).toCSR()
		} else if !t.s.KeepAllFeatures {
			x = selection.SelectTerms(x, slices.Sorted(slices.Values(lv.columns)))
		}
		if lv.lastLayer, err = t.fit(ctx, l+1, t.kernels[l], x, lv.n, numbers); err != nil {
			return err
		}
		z := featureMatrix{lv.lastLayer.features, lv.lastLayer.Width()}
		lv.x, lv.lastLayer.features = z.toCSR(), nil
	}
}

// rankFeatures sets the columns of a level to all features, ranked by mutual information unless
// KeepAllFeatures is set.
func (t *training) rankFeatures(ctx context.Context, lv *level) error {
	if t.s.KeepAllFeatures {
		lv.columns, _ = lv.x.TermFrequencies()
	} else {
		t.o.reportProgress("information", lv.number, 0, 0)
		ranking, err := selection.Rank(ctx, t.newCorpus(lv.x, lv.y, lv.n), selection.Options{
			Bins: t.s.Bins, Workers: t.o.Workers,
		})
		if err != nil {
			return fmt.Errorf("mkm: level %d: %w", lv.number, err)
		}
		lv.columns = ranking.Terms
	}
	if len(lv.columns) == 0 {
		return fmt.Errorf("mkm: all documents of %s are empty", t.c.Source)
	}
	return nil
}

func (t *training) newCorpus(x *sparse.CSR, y []int32, n int) *corpus.Corpus {
	out := &corpus.Corpus{Source: t.c.Source, Classes: t.c.Classes, Documents: firstRows(x, n)}
	for _, class := range y[:n] {
		out.Labels.Add(class)
	}
	return out
}

func firstRows(x *sparse.CSR, n int) *sparse.CSR {
	end := x.Offsets[n]
	return &sparse.CSR{Cols: x.Cols, Offsets: x.Offsets[:n+1], Terms: x.Terms[:end], Values: x.Values[:end]}
}

func (t *training) candidateWidths(lv *level) (candidateWidths []int) {
	have := len(lv.columns)
	if t.s.KeepAllFeatures {
		return []int{have}
	}
	if w := t.s.fixedWidth(lv.number); w > 0 {
		return []int{min(w, have)}
	}
	most := min(have, t.s.maxTriedWidth())
	for w := 10; w < most; w += 10 {
		candidateWidths = append(candidateWidths, w)
	}
	return append(candidateWidths, most)
}

// choose selects the width, number of neighbours, iterations for a metric, and C for a level.
func (t *training) choose(ctx context.Context, lv *level) (int, error) {
	widths := t.candidateWidths(lv)
	most := widths[len(widths)-1]
	choice := LevelChoice{Level: lv.number, Features: len(lv.columns), Width: most}
	if lv.number > 0 {
		choice.Kernel = lv.lastLayer.Kernel
	}
	if most > MaxWidth { // possible only with KeepAllFeatures
		t.choices[lv.number] = choice
		t.notifyChoice(choice)
		return most, nil
	}
	wide := *lv
	wide.columns = lv.columns[:most]
	found, err := width.Search(ctx, wide.dataset(0, lv.n), wide.dataset(lv.n, len(lv.y)), width.Options{
		Widths: widths, Workers: t.o.Workers,
		Progress: func(done, all int64) { t.o.reportProgress("neighbours", lv.number, done, all) },
	})
	if err != nil {
		return 0, err
	}
	choice.Width, choice.K, choice.Wrong = found.Best()
	choice.Documents = found.TestCount
	wide.columns = lv.columns[:choice.Width]
	if lv.number >= t.firstLevel && slices.Contains(t.finals, FinalLMNN) && t.s.Steps == 0 {
		if err := t.chooseSteps(ctx, &wide, &choice); err != nil {
			return 0, err
		}
	}
	t.choices[lv.number] = choice
	t.notifyChoice(choice)
	if lv.number >= t.firstLevel && slices.Contains(t.finals, FinalSVM) && t.s.C == 0 {
		if t.cValues[lv.number], err = t.chooseC(ctx, &wide); err != nil {
			return 0, err
		}
	}
	return choice.Width, nil
}

func (t *training) trainModels(ctx context.Context, lv *level) (int, error) {
	choice := &t.choices[lv.number]
	w := min(choice.Width, len(lv.columns)) // a layer fitted to all documents may have fewer features
	if t.s.KeepAllFeatures || t.s.fixedWidth(lv.number) > 0 {
		w = t.candidateWidths(lv)[0] // a layer fitted to all documents may also have more features
	}
	if choice.Documents == 0 {
		*choice = LevelChoice{Level: lv.number, Features: len(lv.columns)}
		if lv.number > 0 {
			choice.Kernel = lv.lastLayer.Kernel
		}
	}
	choice.Width, choice.Features = w, max(choice.Features, w)
	if lv.number == 0 {
		t.columns = lv.columns[:w:w]
	}
	if lv.number < t.firstLevel {
		return w, nil
	}
	if w > MaxWidth {
		if lv.number < len(t.kernels) {
			return w, nil
		}
		return 0, fmt.Errorf("mkm: the documents have %d features, above the maximum of %d; set width or "+
			"add a layer", w, MaxWidth)
	}
	at := *lv
	at.columns = lv.columns[:w]
	layers := slices.Clone(lv.layers)
	if lv.number > 0 {
		layers = append(layers, lv.lastLayer.selectFeatures(at.columns))
	}
	for _, f := range t.finals {
		m, err := t.trainModel(ctx, &at, f)
		if err != nil {
			return 0, err
		}
		m.Layers = layers
		if err := m.Validate(); err != nil {
			return 0, err
		}
		t.models = append(t.models, m)
	}
	return w, nil
}

// featureMatrix is a matrix of features, in row-major order.
type featureMatrix struct {
	values []float32
	cols   int
}

// selectedFeatures returns the selected features of documents lo to hi-1, in the order of columns.
func (lv *level) selectedFeatures(lo, hi int) featureMatrix {
	to := make(map[uint32]int, len(lv.columns))
	for at, c := range lv.columns {
		to[c] = at
	}
	w := len(lv.columns)
	out := featureMatrix{make([]float32, (hi-lo)*w), w}
	for i := lo; i < hi; i++ {
		terms, values := lv.x.Row(i)
		row := out.values[(i-lo)*w:][:w]
		for k, term := range terms {
			if at, passes := to[term]; passes {
				row[at] = values[k]
			}
		}
	}
	return out
}

func (lv *level) dataset(lo, hi int) width.Dataset {
	return width.Dataset{Features: lv.selectedFeatures(lo, hi).toDense(), Labels: lv.y[lo:hi]}
}

func (t featureMatrix) rows() int { return len(t.values) / t.cols }

func (t featureMatrix) toDense() *mat.Dense {
	out := make([]float64, len(t.values))
	for i, v := range t.values {
		out[i] = float64(v)
	}
	return mat.NewDense(t.rows(), t.cols, out)
}

func (t featureMatrix) toCSR() *sparse.CSR {
	m, err := sparse.FromDense(t.rows(), t.cols, t.values)
	if err != nil {
		panic(err) // can't fail, because the features were checked
	}
	return m
}
