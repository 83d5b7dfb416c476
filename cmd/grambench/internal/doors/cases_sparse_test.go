package doors

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gramengine/gram/sparse"
)

func sparseCases() map[string]testCase {
	return map[string]testCase{
		"sparse.ByRank":                {run: byRank},
		"sparse.ByRankInto":            {run: byRank},
		"sparse.CSR.Bytes":             matrixMethod(func(m *sparse.CSR) { m.Bytes() }),
		"sparse.CSR.DocumentFrequency": matrixMethod(func(m *sparse.CSR) { m.DocumentFrequency() }),
		"sparse.CSR.EmptyRows":         matrixMethod(func(m *sparse.CSR) { m.EmptyRows() }),
		"sparse.CSR.LongestRow":        matrixMethod(func(m *sparse.CSR) { m.LongestRow() }),
		"sparse.CSR.NNZ":               matrixMethod(func(m *sparse.CSR) { m.NNZ() }),
		"sparse.CSR.Rows":              matrixMethod(func(m *sparse.CSR) { m.Rows() }),
		"sparse.CSR.Row":               {run: matrixRow, index: true, panics: true},
		"sparse.CSR.SelectRows":        {run: selectRows, panics: true},
		"sparse.CSR.TermFrequencies":   {run: termFrequencies, panics: true},
		"sparse.CSR.Validate":          {run: validateMatrix},
		"sparse.Corpus.Digest":         {run: corpusDigest},
		"sparse.Corpus.Select":         {run: corpusSelect, panics: true},
		"sparse.Corpus.SetsByGroup":    {run: setsByGroup},
		"sparse.Corpus.SetsByLabel":    {run: setsByLabel},
		"sparse.Embedded.Bytes":        sized(func(p *program) any { return &sparse.Embedded{} }),
		"sparse.Embedded.Digest":       {run: embeddedDigest, panics: true},
		"sparse.Embedded.Empty":        {run: embeddedDigest, panics: true},
		"sparse.Embedded.Unit64":       {run: vectors64(false), index: true, panics: true},
		"sparse.Embedded.Vector64":     {run: vectors64(true), index: true, panics: true},
		"sparse.EmbeddedBytes": {run: func(p *program) {
			r, v := p.odd(), int64(p.odd())
			p.quiet(fmt.Sprint(r, v), func() { sparse.EmbeddedBytes(r, v) })
		}},
		"sparse.Corpus.Validate":        {run: validateCorpus},
		"sparse.Embedded.Validate":      {run: validateEmbedded},
		"sparse.Files":                  {run: files},
		"sparse.Labels.Validate":        {run: validateCorpus},
		"sparse.PanicError.Error":       messages(&sparse.PanicError{}, &sparse.PanicError{Value: errors.New("x")}),
		"sparse.PanicError.Unwrap":      messages(&sparse.PanicError{}),
		"sparse.Embedder.Cols":          sized(func(p *program) any { return &sparse.Embedder{} }),
		"sparse.Embedder.Column":        {run: embedderColumn},
		"sparse.Embedder.Transform":     {run: transform},
		"sparse.Embedder.TransformRows": {run: transformRows},
		"sparse.Embedder.Validate":      {run: restoreEmbedder},
		"sparse.Embedding.Fit":          {run: fit},
		"sparse.Embedding.WithPower":    {run: withPower},
		"sparse.FormatBytes": {run: func(p *program) {
			n := int64(p.odd())
			p.quiet(fmt.Sprint(n), func() { sparse.FormatBytes(n) })
		}},
		"sparse.Labels.Add": {run: func(p *program) {
			p.quiet("of nothing", func() { var l sparse.Labels; l.Add(); l.Add(nil...); l.Add(1, 2); l.Of(2) })
		}},
		"sparse.Labels.Of":               {run: labelsOf, index: true, panics: true},
		"sparse.Options.Progress":        {run: readProgress},
		"sparse.Options.TokenizerLater":  {run: tokenizerLater},
		"sparse.Options.VocabularyLater": {run: vocabularyLater},
		"sparse.Order":                   {run: order, panics: true},
		"sparse.Ranks":                   {run: ranks, panics: true},
		"sparse.FromTexts":               {run: fromTexts},
		"sparse.Read":                    {run: read},
		"sparse.ReadFrom":                {run: readFrom},
		"sparse.Warning.Describe": {run: func(p *program) {
			p.quiet("without a function", func() { _ = (sparse.Warning{}).Describe(nil) })
			p.quiet("without a function", func() { _ = (sparse.Warning{Option: "Strict"}).Describe(nil) })
		}},
		"sparse.ReadSets":        {run: readSets},
		"sparse.RestoreEmbedder": {run: restoreEmbedder},
		"sparse.SyntaxError.Describe": {run: func(p *program) {
			p.quiet("without a function", func() { (&sparse.SyntaxError{}).Describe(nil) })
			p.quiet("without a function", func() { (&sparse.SyntaxError{Option: "Signed"}).Describe(nil) })
		}},
		"sparse.SyntaxError.Error": messages(&sparse.SyntaxError{}, &sparse.SyntaxError{Option: "x",
			Err: errors.New("y")}),
		"sparse.SyntaxError.Unwrap": messages(&sparse.SyntaxError{}),
	}
}

// matrixMethod is the case of a method that any CSR answers or refuses.
func matrixMethod(f func(m *sparse.CSR)) testCase {
	return testCase{panics: true, run: func(p *program) {
		m := p.matrix()
		p.good("of a good matrix", func() error { f(m); return nil })
		p.quiet("of the zero value", func() { f(&sparse.CSR{}) })
		b, why := p.broken()
		p.quiet("of a matrix with "+why, func() { f(b) })
	}}
}

func validateMatrix(p *program) {
	m := p.matrix()
	p.good("of a good matrix", m.Validate)
	b, why := p.broken()
	p.bad("of a matrix with "+why, b.Validate)
	p.bad("of the zero value", (&sparse.CSR{}).Validate)
	p.bad("of nil", (*sparse.CSR)(nil).Validate)
}

func matrixRow(p *program) {
	m := p.matrix()
	for i := range m.Rows() {
		p.good("of a row", func() error { m.Row(i); return nil })
	}
	i := p.outside(m.Rows())
	p.bad(fmt.Sprint("of row ", i), func() error { m.Row(i); return nil })
	b, why := p.broken()
	for i := range b.Rows() {
		p.quiet(fmt.Sprintf("row %d of a matrix with %s", i, why), func() { b.Row(i) })
	}
}

func selectRows(p *program) {
	m := p.documents()
	rows := p.indices(p.IntN(2*m.Rows()), m.Rows())
	p.good("of good rows", func() error {
		s := m.SelectRows(rows)
		for k, i := range rows {
			t, v := m.Row(i)
			if ts, vs := s.Row(k); !slices.Equal(t, ts) || !slices.Equal(v, vs) {
				p.fails("row %d isn't the one chosen", k)
			}
		}
		return s.Validate()
	})
	rows = append(slices.Clone(rows), p.outside(m.Rows()))
	p.bad(fmt.Sprint("of rows ", rows, " of ", m.Rows()), func() error { m.SelectRows(rows); return nil })
	b, why := p.broken()
	p.quiet("of a matrix with "+why, func() { b.SelectRows(p.indices(3, max(b.Rows(), 1))) })
}

func termFrequencies(p *program) {
	m := p.matrix()
	p.good("of a good matrix", func() error {
		terms, df := m.TermFrequencies()
		all := m.DocumentFrequency()
		for k, t := range terms {
			if all[t] != df[k] {
				p.fails("term %d has the frequencies %d and %d", t, df[k], all[t])
			}
		}
		return nil
	})
	b, why := p.broken()
	p.quiet("of a matrix with "+why, func() { b.TermFrequencies() })
}

func byRank(p *program) {
	m := p.documents()
	order := sparse.Order(m.DocumentFrequency())
	rank := sparse.Ranks(order)
	p.good("of a good order", func() error {
		b, err := sparse.ByRank(p.ctx, m, rank, 1+p.IntN(4))
		if err == nil && b.NNZ() != m.NNZ() {
			p.fails("%d values, expected %d", b.NNZ(), m.NNZ())
		}
		return err
	})
	p.good("into a matrix of other size", func() error { return sparse.ByRankInto(p.ctx, p.documents(), m, rank, 2) })
	p.bad("into no matrix", func() error { return sparse.ByRankInto(p.ctx, nil, m, rank, 2) })
	p.bad("into the matrix itself", func() error { return sparse.ByRankInto(p.ctx, m, m, rank, 2) })
	workers := p.odd()
	if workers <= 1000 {
		p.any(fmt.Sprint("on ", workers, " goroutines"), func() error {
			_, err := sparse.ByRank(p.ctx, m, rank, workers)
			return err
		})
	}
	p.bad("of a rank short", func() error { _, err := sparse.ByRank(p.ctx, m, rank[:len(rank)-1], 2); return err })
	if m.Cols > 0 {
		p.bad("of no ranks", func() error { _, err := sparse.ByRank(p.ctx, m, []uint32{}, 2); return err })
	}
	wrong := slices.Clone(rank)
	wrong[p.IntN(len(wrong))] = pick(p, uint32(m.Cols), math.MaxUint32)
	p.bad("of a rank that there isn't", func() error { _, err := sparse.ByRank(p.ctx, m, wrong, 2); return err })
	if len(rank) > 1 {
		wrong = slices.Clone(rank)
		wrong[0] = wrong[1]
		p.bad("of a rank twice", func() error { _, err := sparse.ByRank(p.ctx, m, wrong, 2); return err })
	}
	b, why := p.broken()
	p.bad("of a matrix with "+why, func() error {
		r := make([]uint32, min(max(b.Cols, 0), 1000))
		for i := range r {
			r[i] = uint32(i)
		}
		_, err := sparse.ByRank(p.ctx, b, r, 2)
		return err
	})
	p.bad("of no matrix", func() error { _, err := sparse.ByRank(p.ctx, nil, rank, 2); return err })
}

func validateCorpus(p *program) {
	c := p.corpus(p.IntN(4))
	p.good("of a good corpus", c.Validate)
	p.good("of its labels", func() error { return c.Labels.Validate(c.Documents.Rows(), len(c.Classes)) })
	b, why := p.brokenCorpus(2)
	p.bad("of a corpus with "+why, b.Validate)
	p.bad("of nil", (*sparse.Corpus)(nil).Validate)
	p.bad("of the zero value", (&sparse.Corpus{}).Validate)
	n := p.outside(c.Documents.Rows() + 1)
	p.bad(fmt.Sprint("of labels of ", n, " documents instead of ", c.Documents.Rows()), func() error {
		return c.Labels.Validate(n, len(c.Classes))
	})
	if len(c.Classes) > 0 {
		p.bad("of labels of no classes", func() error {
			return c.Labels.Validate(c.Documents.Rows(), pick(p, 0, -1, math.MinInt))
		})
	}
}

func validateEmbedded(p *program) {
	e := p.embedding()
	p.good("of good documents", p.embedded(e, p.matrix()).Validate)
	if b, why := p.brokenEmbedded(e); why != noNorms {
		p.bad("of documents with "+why, b.Validate)
	}
	p.bad("of the zero value", (&sparse.Embedded{}).Validate)
	p.bad("of nil", (*sparse.Embedded)(nil).Validate)
}

func files(p *program) {
	p.good("of a file", func() error { _, err := sparse.Files(p.ctx, p.file("a.tsv", "x\ty\n"), ""); return err })
	for _, none := range []string{"", "/nowhere", "synthetic:docs=-1", "synthetic:x"} {
		p.any(none, func() error {
			_, err := sparse.Files(p.ctx, none, pick(p, "", sparse.FormatTSV, "nonsense"))
			return err
		})
	}
}

// order checks Order on document frequencies of any kind.
func order(p *program) {
	df := guarded[int32](p, p.IntN(40))
	for i := range df {
		df[i] = pick(p, int32(0), 1, 2, math.MaxInt32, -1, math.MinInt32)
	}
	p.quiet(fmt.Sprint("of ", df), func() {
		if o := sparse.Order(df); len(o) != len(df) {
			p.fails("%d columns, expected %d", len(o), len(df))
		}
	})
}

func ranks(p *program) {
	o := guarded[uint32](p, p.IntN(40))
	for i, k := range p.Perm(len(o)) {
		o[i] = uint32(k)
	}
	p.good("of a permutation", func() error { sparse.Ranks(o); return nil })
	if len(o) > 1 {
		wrong := slices.Clone(o)
		wrong[0] = pick(p, uint32(len(o)), math.MaxUint32, wrong[1])
		p.bad(fmt.Sprint("of ", wrong), func() error { sparse.Ranks(wrong); return nil })
	}
}

func labelsOf(p *program) {
	c := p.corpus(3)
	n := c.Documents.Rows()
	for i := range n {
		p.good("of a document", func() error {
			if ids := c.Labels.Of(i); len(ids) != 1 {
				p.fails("%d labels of document %d, expected 1", len(ids), i)
			}
			return nil
		})
	}
	i := p.outside(n)
	p.quiet(fmt.Sprint("of document ", i), func() { c.Labels.Of(i) })
	p.good("of the zero value", func() error {
		if ids := (sparse.Labels{}).Of(0); len(ids) != 0 {
			p.fails("labels of nothing: %v", ids)
		}
		return nil
	})
}

func corpusDigest(p *program) {
	c := p.corpus(p.IntN(4))
	p.good("of a good corpus", func() error { c.Digest(); return nil })
	p.quiet("of the zero value", func() { (&sparse.Corpus{}).Digest() })
	b, why := p.brokenCorpus(2)
	p.quiet("of a corpus with "+why, func() { b.Digest() })
}

func corpusSelect(p *program) {
	c := p.corpus(p.IntN(4))
	n := c.Documents.Rows()
	docs := p.indices(p.IntN(2*n), n)
	p.good("of good documents", func() error {
		s := c.Select(docs)
		if s.Documents.Rows() != len(docs) {
			p.fails("%d documents, expected %d", s.Documents.Rows(), len(docs))
		}
		return s.Documents.Validate()
	})
	c.Labels = sparse.Labels{}
	p.good("of documents without labels", func() error { c.Select(docs); return nil })
	wrong := append(slices.Clone(docs), p.outside(n))
	p.bad(fmt.Sprint("of documents ", wrong, " of ", n), func() error { c.Select(wrong); return nil })
	b, why := p.brokenCorpus(2)
	p.quiet("of a corpus with "+why, func() { b.Select([]int{0}) })
}

func setsByGroup(p *program) {
	c := p.corpus(1)
	c.Groups = make([]int64, c.Documents.Rows())
	p.good("of one group", func() error { _, err := c.SetsByGroup(); return err })
	c.Groups = c.Groups[:len(c.Groups)-1]
	p.bad("of a group short", func() error { _, err := c.SetsByGroup(); return err })
	c.Groups = nil
	p.bad("of no groups", func() error { _, err := c.SetsByGroup(); return err })
	b, why := p.brokenCorpus(2)
	if b.Documents != nil {
		b.Groups = make([]int64, b.Documents.Rows())
	}
	p.any("of a corpus with "+why, func() error { _, err := b.SetsByGroup(); return err })
	p.any("of the zero value", func() error { _, err := (&sparse.Corpus{}).SetsByGroup(); return err })
}

func setsByLabel(p *program) {
	c := p.corpus(2)
	p.good("of good labels", func() error { _, err := c.SetsByLabel(); return err })
	c.Labels = sparse.Labels{}
	p.bad("without labels", func() error { _, err := c.SetsByLabel(); return err })
	b, why := p.brokenCorpus(2)
	p.any("of a corpus with "+why, func() error { _, err := b.SetsByLabel(); return err })
	p.any("of the zero value", func() error { _, err := (&sparse.Corpus{}).SetsByLabel(); return err })
}

func fit(p *program) {
	e, m := p.embedding(), p.matrix()
	p.good("of a good matrix", func() error { return e.Fit(m).Validate() })
	// What Fit finds wrong, the embedder it returns says later.
	b, why := p.broken()
	p.bad("of a matrix with "+why, func() error { return e.Fit(b).Validate() })
	p.bad("of a matrix with "+why+", then Transform", func() error { _, err := e.Fit(b).Transform(m); return err })
	p.bad("of nil", func() error { return e.Fit(nil).Validate() })
	wrong := e
	wrong.Weighting, wrong.Norm = pick(p, sparse.Weighting(9), e.Weighting), 9
	p.bad(fmt.Sprintf("of the embedding %#v", wrong), func() error { return wrong.Fit(m).Validate() })
	wrong = e
	wrong.Power = pick(p, math.NaN(), -1, math.Inf(1), 1e9)
	p.bad(fmt.Sprintf("of the embedding %#v", wrong), func() error { return wrong.Fit(m).Validate() })
}

func transform(p *program) {
	e, m := p.embedding(), p.documents()
	f := e.Fit(m)
	other := p.matrix()
	p.good(fmt.Sprint(e, " of other documents"), func() error {
		x, err := f.Transform(other)
		if err == nil {
			finite(p, "values", x.Values)
			finite(p, "norms", x.Norms)
			for i := range x.Rows() {
				if len(x.Terms) > 0 && x.Offsets[i] == x.Offsets[i+1] {
					p.fails("%v: row %d is empty", e, i)
				}
			}
			err = x.CSR.Validate()
		}
		return err
	})
	b, why := p.broken()
	p.bad("of a matrix with "+why, func() error { _, err := f.Transform(b); return err })
	p.bad("of nil", func() error { _, err := f.Transform(nil); return err })
	p.any("by the zero value", func() error { _, err := (&sparse.Embedder{}).Transform(m); return err })
	if len(f.Terms) > 1 {
		wrong := *f
		wrong.Terms = wrong.Terms[:len(wrong.Terms)-1]
		p.any("by an embedder that was changed", func() error { _, err := wrong.Transform(m); return err })
	}

	// Huge and tiny values.
	huge := clone(m)
	for k := range huge.Values {
		huge.Values[k] = pick(p, float32(math.MaxFloat32), math.SmallestNonzeroFloat32, -1, 0, 1e30, 1e-30)
	}
	p.any(fmt.Sprint(e, " of huge values"), func() error {
		x, err := e.Fit(huge).Transform(huge)
		if err == nil {
			finite(p, "values", x.Values)
			finite(p, "norms", x.Norms)
			err = x.CSR.Validate()
		}
		return err
	})
}

func transformRows(p *program) {
	e, m := p.embedding(), p.documents()
	f := e.Fit(m)
	rows := p.indices(p.IntN(2*m.Rows()), m.Rows())
	workers := pick(p, 0, 1, 2, 7)
	p.good("of good rows", func() error {
		x, err := f.TransformRows(p.ctx, m, rows, workers)
		if err == nil && rows != nil && x.Rows() != len(rows) {
			p.fails("%d rows, expected %d", x.Rows(), len(rows))
		}
		return err
	})
	p.any("on fewer goroutines than none", func() error {
		_, err := f.TransformRows(p.ctx, m, rows, pick(p, -1, math.MinInt))
		return err
	})
	wrong := append(slices.Clone(rows), p.outside(m.Rows()))
	p.bad(fmt.Sprint("of rows ", wrong, " of ", m.Rows()), func() error {
		_, err := f.TransformRows(p.ctx, m, wrong, workers)
		return err
	})
	b, why := p.broken()
	p.bad("of a matrix with "+why, func() error { _, err := f.TransformRows(p.ctx, b, nil, workers); return err })
	p.bad("of nil", func() error { _, err := f.TransformRows(p.ctx, nil, nil, workers); return err })
}

func embeddedDigest(p *program) {
	e, m := p.embedding(), p.matrix()
	p.good("of good documents", func() error { x := p.embedded(e, m); x.Digest(); x.Empty(); return nil })
}

// vectors64 is the case of a row in float64.
func vectors64(vector bool) func(p *program) {
	of := (*sparse.Embedded).Unit64
	if vector {
		of = (*sparse.Embedded).Vector64
	}
	return func(p *program) {
		x := p.embedded(p.embedding(), p.documents())
		i := p.IntN(x.Rows())
		p.good("of a row", func() error {
			v := of(x, i, poisoned64(p, p.IntN(9)))
			if t, _ := x.Row(i); len(t) != len(v) {
				p.fails("%d values of %d columns", len(v), len(t))
			}
			finite(p, "row", v)
			return nil
		})
		i = p.outside(x.Rows())
		p.bad(fmt.Sprint("of row ", i, " of ", x.Rows()), func() error { of(x, i, nil); return nil })
		p.quiet("of the zero value", func() { of(&sparse.Embedded{}, 0, nil) })
		wrong := *x
		wrong.Raw = wrong.Raw[:max(len(wrong.Raw)-1, 0)]
		p.quiet("of documents that were changed", func() { of(&wrong, wrong.Rows()-1, nil) })
	}
}

func embedderColumn(p *program) {
	f := p.embedding().Fit(p.documents())
	t := uint32(p.odd())
	p.good(fmt.Sprint(t), func() error { f.Column(t); return nil })
	p.quiet("of the zero value", func() { (&sparse.Embedder{}).Column(t) })
}

func restoreEmbedder(p *program) {
	f := p.embedding().Fit(p.documents())
	from := sparse.Embedder{Embedding: f.Embedding, Documents: f.Documents, Terms: slices.Clone(f.Terms),
		DF: slices.Clone(f.DF), Weights: slices.Clone(f.Weights), Open: f.Open}
	p.good("of what Fit made", func() error { _, err := sparse.RestoreEmbedder(from); return err })
	wrong, n := from, len(from.Terms)
	why := ""
	switch k := p.IntN(7); {
	case k == 0:
		wrong.Documents, why = pick(p, -1, math.MinInt), "a negative number of documents"
	case k == 1:
		wrong.DF, why = append(slices.Clone(from.DF), 1), "a frequency too many"
	case k == 2:
		wrong.Terms, why = append(slices.Clone(from.Terms), 1<<30), "a term too many"
	case k == 3 && n > 0:
		wrong.DF, why = slices.Clone(from.DF), "a frequency that can't be"
		wrong.DF[p.IntN(n)] = pick(p, int32(0), -1, int32(from.Documents+1), math.MaxInt32)
	case k == 4 && n > 1:
		wrong.Terms, why = slices.Clone(from.Terms), "a term twice"
		wrong.Terms[1] = wrong.Terms[0]
	case k == 5:
		wrong.Weights, why = append(slices.Clone(from.Weights), math.NaN()), "a weight too many"
	default:
		wrong.Power, why = pick(p, math.NaN(), -1, 1e9), "a power that can't be"
	}
	p.bad("of "+why, func() error { _, err := sparse.RestoreEmbedder(wrong); return err })
	p.bad("Validate of "+why, func() error { w := wrong; return w.Validate() })
}

func withPower(p *program) {
	e, v := p.embedding(), p.strange()
	p.any(fmt.Sprint(e, " with ", v), func() error {
		w, err := e.WithPower(v)
		if err == nil && !(v >= sparse.LeastPower && v <= sparse.MostPower) {
			p.fails("%v with power %v is %v without an error", e, v, w)
		}
		return err
	})
	p.bad("with NaN", func() error { _, err := e.WithPower(math.NaN()); return err })
}

// file writes a source and returns its name.
func (p *program) file(name, text string) string {
	dir, err := os.MkdirTemp("", "doors")
	if err != nil {
		panic(err)
	}
	p.wait = append(p.wait, func() { os.RemoveAll(dir) })
	name = filepath.Join(dir, name)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		panic(err)
	}
	return name
}

// read tries options and sources; what is in the sources is tried by FuzzReadSVMLight, FuzzReadTSV,
// FuzzReadMatrixMarket and FuzzReadIDX.
func read(p *program) {
	source := pick(p, p.file("a.svm", "1 1:2 3:4\n-1 2:1\n"), p.file("a.tsv", "x\ta b a\ny\tb c\n"),
		p.file("a.svm", ""), p.file("a.tsv", "\n"),
		"synthetic:docs=5,terms=9,length=4,classes=2", "synthetic:docs=1,terms=1,length=1,classes=1")
	p.any(source, func() error {
		c, err := sparse.Read(p.ctx, source, sparse.Options{})
		if err == nil {
			err = c.Documents.Validate()
		}
		return err
	})
	opt := sparse.Options{Format: pick(p, "", sparse.FormatTSV, sparse.FormatSVMLight, "nonsense"),
		Workers: pick(p, -1, 0, 3, math.MinInt), MinDF: p.odd(), MaxDF: p.odd(),
		MaxLineBytes: p.odd(), MemoryBytes: int64(p.odd()), Groups: p.chance(2), Signed: p.chance(2),
		Vocabulary: pick(p, nil, []string{}, []string{"a", "a"}, []string{"a", "b"})}
	p.any(fmt.Sprintf("%s with %+v", source, opt), func() error {
		c, err := sparse.Read(p.ctx, source, opt)
		if err == nil {
			err = c.Documents.Validate()
		}
		return err
	})
	for _, none := range []string{"", "/nowhere", "synthetic:docs=-1", "synthetic:docs=99999999999999999999",
		"synthetic:x", "synthetic:docs=0,terms=0,length=0,classes=0"} {
		p.bad(none, func() error {
			_, err := sparse.Read(p.ctx, none, sparse.Options{MemoryBytes: 1 << 24})
			return err
		})
	}
}

func readProgress(p *program) {
	source := p.file("a.svm", "1 1:2 3:4\n-1 2:1\n")
	p.bad("that panics", func() error {
		_, err := sparse.Read(p.ctx, source, sparse.Options{Progress: func(sparse.Progress) { panic(ownPanic) }})
		return err
	})
}

// oddText draws bytes that a reader may meet.
func (p *program) oddText() string {
	return pick(p, "", "\n", "a\tb\n", "1 1:2\n", "label,text\na,\"b\n", `{"text":"a"}`,
		"\x00", "\xff\xfea\x00", "\x1f\x8b", "\"", "a,b,c\n1,2,3\n",
		"%%MatrixMarket matrix coordinate real general\n1 1 0\n", "\x00\x00\x08\x02")
}

// oddOptions draws options of text.
func (p *program) oddOptions() sparse.Options {
	return sparse.Options{
		Format: pick(p, "", sparse.FormatTSV, sparse.FormatCSV, sparse.FormatJSONL, sparse.FormatLines,
			sparse.FormatFolder, "nonsense"),
		Encoding:     pick(p, "", "utf-16", "latin-1", "shift_jis", "nonsense"),
		Strict:       p.chance(2),
		LabelColumn:  pick(p, "", "1", "-1", "99999999999999999999", "label", "x"),
		TextColumn:   pick(p, "", "1", "2", "0", "text"),
		LabelKey:     pick(p, "", "x"),
		TextKey:      pick(p, "", "text"),
		Labels:       pick(p, "", "", "/nowhere"),
		MaxLineBytes: p.odd(),
		MemoryBytes:  int64(p.odd()),
		Workers:      pick(p, 0, 1, 3, -1),
		Tokenizer:    pick(p, sparse.Tokenizer{}, sparse.Tokenizer{MinN: 1, MaxN: 2}, p.oddTokenizer()),
	}
}

func readFrom(p *program) {
	for range 20 {
		text, opt := p.oddText(), p.oddOptions()
		p.any(fmt.Sprintf("%q with %+v", text, opt), func() error {
			c, err := sparse.ReadFrom(p.ctx, strings.NewReader(text), pick(p, "", "-", "a.csv", "a.txt"), opt)
			if err == nil {
				err = c.Validate()
			}
			return err
		})
	}
	p.bad("nil", func() error { _, err := sparse.ReadFrom(p.ctx, nil, "-", sparse.Options{}); return err })
}

func fromTexts(p *program) {
	for range 20 {
		list := make([]string, p.IntN(4))
		for i := range list {
			list[i] = p.oddText()
		}
		labels, opt := pick(p, nil, list, []string{"a"}, []string{"a", "b,", "-"}), p.oddOptions()
		p.any(fmt.Sprintf("%q, %q with %+v", list, labels, opt), func() error {
			c, err := sparse.FromTexts(p.ctx, list, labels, opt)
			if err == nil {
				err = c.Validate()
			}
			return err
		})
	}
	p.bad("none", func() error { _, err := sparse.FromTexts(p.ctx, nil, nil, sparse.Options{}); return err })
}

func tokenizerLater(p *program) {
	source := p.file("a.tsv", "x\ta b a\ny\tb c\n")
	for call, later := range map[string]func() (sparse.Tokenizer, error){
		"that fails":        func() (sparse.Tokenizer, error) { return sparse.Tokenizer{}, errors.New("none: none") },
		"that panics":       func() (sparse.Tokenizer, error) { panic(ownPanic) },
		"that is no good":   func() (sparse.Tokenizer, error) { return p.oddTokenizer(), nil },
		"of a bad analyzer": func() (sparse.Tokenizer, error) { return sparse.Tokenizer{Analyzer: "x"}, nil },
	} {
		p.bad(call, func() error {
			_, err := sparse.Read(p.ctx, source, sparse.Options{TokenizerLater: later})
			return err
		})
	}
}

func vocabularyLater(p *program) {
	source := p.file("a.tsv", "x\ta b a\ny\tb c\n")
	p.bad("that fails", func() error {
		_, err := sparse.Read(p.ctx, source, sparse.Options{VocabularyLater: func() ([]string, error) {
			return nil, errors.New("none: none")
		}})
		return err
	})
	p.bad("of a term twice", func() error {
		_, err := sparse.Read(p.ctx, source, sparse.Options{VocabularyLater: func() ([]string, error) {
			return []string{"a", "a"}, nil
		}})
		return err
	})
	p.any("of none", func() error {
		_, err := sparse.Read(p.ctx, source, sparse.Options{VocabularyLater: func() ([]string, error) {
			return nil, nil
		}})
		return err
	})
}

func readSets(p *program) {
	file := p.file("sets", "a\tx\nb\ty\na\tx\n")
	p.good("of as many points", func() error {
		_, err := sparse.ReadSets(p.ctx, file, 3, sparse.Options{})
		return err
	})
	n := p.odd()
	if n != 3 {
		p.bad(fmt.Sprint("of ", n, " points"), func() error {
			_, err := sparse.ReadSets(p.ctx, file, n, sparse.Options{})
			return err
		})
	}
	bytes := p.odd()
	p.any(fmt.Sprint("lines of ", bytes), func() error {
		_, err := sparse.ReadSets(p.ctx, file, 3, sparse.Options{MaxLineBytes: bytes})
		return err
	})
	p.bad("of no file", func() error { _, err := sparse.ReadSets(p.ctx, "", 3, sparse.Options{}); return err })
}
