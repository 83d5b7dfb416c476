package doors

import (
	"errors"
	"fmt"
	"math"
	"slices"

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
		"sparse.CSR.NoCounts":          matrixMethod(func(m *sparse.CSR) { m.NoCounts() }),
		"sparse.CSR.Unscaled":          matrixMethod(func(m *sparse.CSR) { m.Unscaled() }),
		"sparse.CSR.Rows":              matrixMethod(func(m *sparse.CSR) { m.Rows() }),
		"sparse.CSR.Row":               {run: matrixRow, index: true, panics: true},
		"sparse.CSR.SelectRows":        {run: selectRows, panics: true},
		"sparse.CSR.TermFrequencies":   {run: termFrequencies, panics: true},
		"sparse.CSR.Validate":          {run: validateMatrix},
		"sparse.Corpus.Digest":         {run: corpusDigest},
		"sparse.Corpus.NameValue": {run: func(p *program) {
			err := &sparse.ValueError{Row: p.odd(), Term: uint32(p.odd())}
			p.quiet(fmt.Sprint(*err), func() {
				_ = p.corpus(p.IntN(4)).NameValue(err).Error()
				_ = (*sparse.Corpus)(nil).NameValue(err)
			})
		}},
		"sparse.Corpus.Select":      {run: corpusSelect, panics: true},
		"sparse.Corpus.SetsByGroup": {run: setsByGroup},
		"sparse.Corpus.SetsByLabel": {run: setsByLabel},
		"sparse.Embedded.Bytes":     sized(func(p *program) any { return &sparse.Embedded{} }),
		"sparse.Embedded.Digest":    {run: embeddedDigest, panics: true},
		"sparse.Embedded.Empty":     {run: embeddedDigest, panics: true},
		"sparse.Embedded.Unit64":    {run: vectors64(false), index: true, panics: true},
		"sparse.Embedded.AppendRaw": {run: appendRaw, index: true, panics: true},
		"sparse.Embedder.Filled":    sized(func(p *program) any { return &sparse.Embedder{} }),
		"sparse.Embedded.Vector64":  {run: vectors64(true), index: true, panics: true},
		"sparse.EmbeddedBytes": {run: func(p *program) {
			r, v := p.odd(), int64(p.odd())
			p.quiet(fmt.Sprint(r, v), func() { sparse.EmbeddedBytes(r, v) })
		}},
		"sparse.Corpus.Validate":        {run: validateCorpus},
		"sparse.Embedded.Validate":      {run: validateEmbedded},
		"sparse.Files":                  {run: files},
		"sparse.Labels.Validate":        {run: validateCorpus},
		"sparse.Embedder.Cols":          sized(func(p *program) any { return &sparse.Embedder{} }),
		"sparse.Embedder.Column":        {run: embedderColumn},
		"sparse.Embedder.Factors":       {run: embedderFactors},
		"sparse.Embedder.Transform":     {run: transform},
		"sparse.Embedder.TransformRows": {run: transformRows},
		"sparse.Embedder.Validate":      {run: restoreEmbedder},
		"sparse.Embedding.Fit":          {run: fit},
		"sparse.Embedding.WithPower":    {run: withPower},
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
