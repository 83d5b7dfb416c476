package sparse

import "slices"

// emptyMessage is the warning for documents that hold nothing, be it that nothing was there or that
// the limits left nothing.
const emptyMessage = "document without terms, kept as an empty row"

// emptyRows warns of rows without terms; at names the place of a row.
func (w *warnings) emptyRows(m *CSR, at func(row int) string) {
	count, first := m.emptyRows()
	if count > 0 {
		w.add(emptyMessage, int64(count), at(first))
	}
}

// EmptyRows returns the number of rows without a value other than zero. It panics where offsets
// aren't those of a row.
func (m *CSR) EmptyRows() int {
	count, _ := m.emptyRows()
	return count
}

// emptyRows also returns the first of them.
func (m *CSR) emptyRows() (count, first int) {
	for i := m.Rows() - 1; i >= 0; i-- {
		m.mustHaveRow(i)
		_, values := m.Row(i)
		if !slices.ContainsFunc(values, func(v float32) bool { return v != 0 }) {
			count, first = count+1, i
		}
	}
	return count, first
}

// limitVectors names the columns by Options.Vocabulary, or else takes out the terms whose document
// frequency is outside MinDF and MaxDF. Columns keep their numbers.
func limitVectors(c *Corpus, opt *Options) {
	m := c.Documents
	if opt.Vocabulary != nil {
		c.Vocabulary, m.Cols = opt.Vocabulary, len(opt.Vocabulary)
		return
	}
	if opt.MinDF <= 1 && opt.MaxDF == 0 {
		return
	}
	terms, df := m.TermFrequencies()
	var kept []uint32
	for j, n := range df {
		if int(n) >= opt.MinDF && (opt.MaxDF == 0 || int(n) <= opt.MaxDF) {
			kept = append(kept, terms[j])
		}
	}
	table := newTermTable(kept, m.NNZ())
	var to, from int64
	for i := range m.Rows() {
		end := m.Offsets[i+1]
		for ; from < end; from++ {
			if _, ok := table.find(m.Terms[from]); ok {
				m.Terms[to], m.Values[to] = m.Terms[from], m.Values[from]
				to++
			}
		}
		m.Offsets[i+1] = to
	}
	m.Terms, m.Values = m.Terms[:to:to], m.Values[:to:to]
}
