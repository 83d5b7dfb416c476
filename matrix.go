package gram

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/internal/space"
	"github.com/gramengine/gram/sparse"
)

// Gram returns the Gram matrix of documents,
//
//	K[i][j] = k(xᵢ, xⱼ), 0 <= i, j < n,
//
// kernel is a specification such as "diffusion:t=2", see kernel.Catalogue; default diffusion:t=0.5.
// The matrix takes 4n² bytes. Each pair is computed once in float32. The absolute error of c = 1 −
// cosine is at most 2.7·10⁻⁶.
//
// It fails if the kernel is unknown, if its embedding rejects a value, if the memory doesn't
// suffice, or if a kernel value isn't finite.
func Gram(ctx context.Context, c *corpus.Corpus, kernel string, o Options) (*engine.Symmetric, error) {
	return o.gram(ctx, c, kernel, nil)
}

// GramTo is like [Gram], but stores the result in an existing matrix with one row per document.
// After an error the matrix values are undefined.
func GramTo(ctx context.Context, c *corpus.Corpus, kernel string, to *engine.Symmetric, o Options) error {
	if to == nil {
		return errors.New("gram: destination is nil")
	}
	_, err := o.gram(ctx, c, kernel, to)
	return err
}

func (o *Options) gram(
	ctx context.Context, c *corpus.Corpus, kernel string, to *engine.Symmetric,
) (_ *engine.Symmetric, err error) {
	defer convertError(&err)
	k, e, err := o.engineFor(ctx, c, kernel, "computing the matrix")
	if err != nil {
		return nil, err
	}
	defer closeEngine(c, e, &err)
	return e.Gram(ctx, k, to)
}

// CrossGram returns the kernel values between two sets of documents,
//
//	K[i][j] = k(rowᵢ, columnⱼ),
//
// as a mat.Matrix with one row per document of rows. Parameters of the embedding, such as idf, are
// fitted to columns. A term that occurs in only one of the two corpora contributes to the norms of
// the documents that contain it. However, embeddings that scale columns drop a term that occurs
// only in rows. Accuracy and errors are as for [Gram]. CrossGram also fails if only one corpus
// holds vectors, if the numbers of columns differ, or if texts were tokenised differently.
func CrossGram(ctx context.Context, rows, columns *corpus.Corpus, kernel string, o Options) (*engine.Dense, error) {
	return o.crossGram(ctx, rows, columns, kernel, nil)
}

// CrossGramTo is like [CrossGram], but stores the result in an existing matrix with one row per
// document of rows and one column per document of columns. After an error the matrix values are
// undefined.
func CrossGramTo(ctx context.Context, rows, columns *corpus.Corpus, kernel string, to *engine.Dense, o Options) error {
	if to == nil {
		return errors.New("gram: destination is nil")
	}
	_, err := o.crossGram(ctx, rows, columns, kernel, to)
	return err
}

func (o *Options) crossGram(
	ctx context.Context, rows, columns *corpus.Corpus, spec string, to *engine.Dense,
) (_ *engine.Dense, err error) {
	defer convertError(&err)
	if err := checkCorpus(ctx, rows); err != nil {
		return nil, err
	}
	k, err := o.kernelOrDefault(spec)
	if err != nil {
		return nil, err
	}
	k, e, test, err := o.engineOn(ctx, columns, rows, k, false, "computing the matrix")
	if err != nil {
		return nil, err
	}
	defer closeEngine(rows, e, &err)
	return e.Rows(ctx, k, engine.Request{TestDocuments: test}, to)
}

const defaultKernel = "diffusion:t=0.5"

func (o *Options) kernelOrDefault(spec string) (kernel.Kernel, error) {
	return o.parseKernel(cmp.Or(spec, defaultKernel))
}

func (o *Options) engineFor(
	ctx context.Context, c *corpus.Corpus, spec, stage string,
) (kernel.Kernel, *engine.Engine, error) {
	k, err := o.kernelOrDefault(spec)
	if err != nil {
		return nil, nil, err
	}
	k, e, _, err := o.engineOn(ctx, c, nil, k, false, stage)
	return k, e, err
}

// engineOn embeds columns and rows in one space (see embed), and makes an engine for columns. It
// returns the kernel, the engine, and the vectors of rows. rows may be nil.
func (o *Options) engineOn(
	ctx context.Context, columns, rows *corpus.Corpus, k kernel.Kernel, apart bool, stage string,
) (kernel.Kernel, *engine.Engine, *sparse.Embedded, error) {
	s, x, err := o.embed(ctx, k.Embedding(), columns, rows, apart)
	if err != nil {
		return nil, nil, nil, err
	}
	var y *sparse.Embedded
	if rows != nil {
		if y, err = s.Embedder.TransformRows(ctx, s.Rows, nil, o.Workers); err != nil {
			return nil, nil, nil, rows.DescribeError(err)
		}
	} else if n := x.EmptyCount() - columns.Documents.EmptyRowCount(); n > 0 {
		o.warn("%s leaves %d documents empty; they are orthogonal to all others and identical to each other", x.Embedder, n)
	}
	e, err := engine.NewContext(ctx, x, o.engineOptions(x, stage))
	return kernel.Resolve(k, s.TermCount), e, y, err
}

// embed embeds columns in a space whose terms include the terms of rows. rows may be nil. If apart
// is set, texts without terms are equal only to identical texts (see [space.New]).
func (o *Options) embed(
	ctx context.Context, e sparse.Embedding, columns, rows *corpus.Corpus, apart bool,
) (*space.Space, *sparse.Embedded, error) {
	if err := errors.Join(checkCorpus(ctx, columns), o.check()); err != nil {
		return nil, nil, err
	}
	s, err := space.New(e, columns, rows, apart)
	if err != nil {
		return nil, nil, columns.DescribeError(err)
	}
	if apart && s.BlankCount > 0 {
		o.warn("%d texts have no terms, so only identical texts count as their duplicates", s.BlankCount)
	}
	x, err := s.Embedder.TransformRows(ctx, s.Columns, nil, o.Workers)
	return s, x, columns.DescribeError(err)
}

// closeEngine closes an engine. It applies [corpus.Corpus.DescribeError] to *err.
func closeEngine(c *corpus.Corpus, e *engine.Engine, err *error) {
	*err = errors.Join(c.DescribeError(*err), e.Close())
}

func checkCorpus(ctx context.Context, c *corpus.Corpus) error {
	if err := run.CheckContext(ctx, "gram"); err != nil {
		return err
	}
	return wrapError(c.Validate())
}

// mixedError returns the error for comparing text with vectors. text is true if a has text.
func mixedError(a, b string, text bool) error {
	if text {
		a, b = b, a
	}
	return fmt.Errorf("gram: %s has vectors, but %s has text; their columns cannot be matched", a, b)
}

// reorderColumns returns the documents of c with column[term] as the column of each term. Terms
// that aren't in column are dropped.
func reorderColumns(c *corpus.Corpus, column map[string]uint32, columns int) (*sparse.CSR, error) {
	to, same := make([]uint32, len(c.Vocabulary)), len(c.Vocabulary) == columns
	for t, name := range c.Vocabulary {
		own, ok := column[name]
		if !ok {
			own = uint32(columns)
		}
		to[t], same = own, same && own == uint32(t)
	}
	if same {
		return c.Documents, nil
	}
	r := NewCorpusBuilder(columns)
	var places []int
	var at []uint32
	var of []float64
	for i := range c.Documents.Rows() {
		terms, values := c.Documents.Row(i)
		places = places[:0]
		for k, t := range terms {
			if int(to[t]) < columns {
				places = append(places, k)
			}
		}
		slices.SortFunc(places, func(a, b int) int { return cmp.Compare(to[terms[a]], to[terms[b]]) })
		at, of = at[:0], of[:0]
		for _, k := range places {
			at, of = append(at, to[terms[k]]), append(of, float64(values[k]))
		}
		if err := r.Add(at, of); err != nil {
			return nil, err
		}
	}
	return r.Corpus().Documents, nil
}
