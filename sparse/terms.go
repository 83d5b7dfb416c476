package sparse

import "slices"

// TermFrequencies returns the columns that hold a value other than zero, ascending, and the number
// of rows that do.
//
// Unlike [CSR.DocumentFrequency] it takes memory in proportion to the stored values, whatever the
// greatest column is: with hashed features, or in a file that means harm, that says nothing about
// how many there are.
//
// m must be as [CSR.Validate] wants it: TermFrequencies panics with what it reports.
func (m *CSR) TermFrequencies() (terms []uint32, df []int32) {
	m.mustBeValid()
	return m.termFrequencies()
}

func (m *CSR) termFrequencies() (terms []uint32, df []int32) {
	if int64(m.Cols) <= tableLimit(m.NNZ()) {
		for t, n := range m.documentFrequency() {
			if n > 0 {
				terms, df = append(terms, uint32(t)), append(df, n)
			}
		}
		return terms, df
	}
	seen := make([]uint32, 0, len(m.Terms))
	for k, t := range m.Terms {
		if m.Values[k] != 0 {
			seen = append(seen, t)
		}
	}
	slices.Sort(seen)
	for k, t := range seen {
		if k == 0 || t != seen[k-1] {
			terms, df = append(terms, t), append(df, 0)
		}
		df[len(df)-1]++
	}
	return terms, df
}

// tableLimit is the greatest table of four-byte entries, one a column, that is in proportion to nnz
// stored values of eight bytes.
func tableLimit(nnz int64) int64 { return nnz + 1<<20 }

// termTable finds the places of terms in an ascending list: by a table of all terms where that is
// in proportion, else by a search.
type termTable struct {
	terms []uint32
	place []uint32 // place+1 of each term, 0 for those that aren't in the list; nil where terms is searched
}

// of reports whether the table is that of the very list terms.
func (t *termTable) of(terms []uint32) bool {
	return t != nil && len(t.terms) == len(terms) && (len(terms) == 0 || &t.terms[0] == &terms[0])
}

// newTermTable makes the table for documents of nnz stored values.
func newTermTable(terms []uint32, nnz int64) *termTable {
	t := &termTable{terms: terms}
	if len(terms) == 0 {
		return t
	}
	if last := int64(terms[len(terms)-1]); last < tableLimit(nnz) {
		t.place = make([]uint32, last+1)
		for j, term := range terms {
			t.place[term] = uint32(j) + 1
		}
	}
	return t
}

// find returns the place of a term, or false where it isn't in the list.
func (t *termTable) find(term uint32) (uint32, bool) {
	if t.place != nil {
		if int64(term) >= int64(len(t.place)) {
			return 0, false
		}
		p := t.place[term]
		return p - 1, p > 0
	}
	j, ok := slices.BinarySearch(t.terms, term)
	return uint32(j), ok
}
