package sparse

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
)

// tall returns documents of which each has a value in every column, and their layout in one segment
// for panels of the given size.
func tall(t *testing.T, cols, panel int) (*Layout, *CSR) {
	t.Helper()
	m := &CSR{Cols: cols, Offsets: []int64{0, int64(cols), int64(2 * cols)}, Terms: make([]uint32, 2*cols), Values: make([]float32, 2*cols)}
	for k := range m.Terms {
		m.Terms[k], m.Values[k] = uint32(k%cols), float32(k+1)
	}
	l := &Layout{Panel: panel, Bounds: []int{0, cols}, Cols: cols, Rank: Ranks(Order(m.DocumentFrequency()))}
	byRank, err := ByRank(t.Context(), m, l.Rank, 2)
	if err != nil {
		t.Fatal(err)
	}
	return l, byRank
}

// Offsets into a segment have 16 bits: the most ranks that fit keep offsets of their own, one more
// is an error.
func TestSplitNeverWraps(t *testing.T) {
	for _, panel := range []int{1, 24, 32, 64, 65536} {
		most := 65536 / panel
		l, byRank := tall(t, most, panel)
		h, err := l.Split(t.Context(), byRank, 2)
		if err != nil {
			t.Fatalf("panels of %d, %d ranks: %v", panel, most, err)
		}
		s := &h.Head[0]
		for i := range h.Rows {
			lo, hi := s.Of(i)
			for k := lo; k < hi; k++ {
				if want := (most - 1 - int(k-lo)) * panel; int(s.Offset[k]) != want {
					t.Fatalf("panels of %d: document %d, value %d: offset %d, expected %d", panel, i, k-lo, s.Offset[k], want)
				}
			}
		}
		l, byRank = tall(t, most+1, panel)
		if _, err := l.Split(t.Context(), byRank, 2); err == nil || !strings.Contains(err.Error(), "ranks, expected at most") {
			t.Errorf("panels of %d, %d ranks: %v", panel, most+1, err)
		}
	}
}

func TestSplitRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(l *Layout, byRank *CSR)
		want  string
	}{
		"no panel":           {func(l *Layout, _ *CSR) { l.Panel = 0 }, "panels of 0 documents"},
		"negative panel":     {func(l *Layout, _ *CSR) { l.Panel = math.MinInt }, "expected 1 to 65536"},
		"great panel":        {func(l *Layout, _ *CSR) { l.Panel = 65537 }, "expected 1 to 65536"},
		"no bounds":          {func(l *Layout, _ *CSR) { l.Bounds = nil }, "expected 0 as the first"},
		"first bound":        {func(l *Layout, _ *CSR) { l.Bounds = []int{1, 9} }, "expected 0 as the first"},
		"falling bounds":     {func(l *Layout, _ *CSR) { l.Bounds = []int{0, 5, 4} }, "segment 1 ends at rank 4, expected 5 to 9"},
		"bound past the end": {func(l *Layout, _ *CSR) { l.Bounds = []int{0, 10} }, "segment 0 ends at rank 10, expected 0 to 9"},
		"negative columns":   {func(l *Layout, _ *CSR) { l.Cols = -1 }, "9 ranks of -1 columns"},
		"short ranks":        {func(l *Layout, _ *CSR) { l.Rank = l.Rank[:8] }, "8 ranks of 9 columns"},
		"great rank":         {func(l *Layout, _ *CSR) { l.Rank[3] = 9 }, "place 3 of a permutation has 9, expected 0 to 8"},
		"rank twice":         {func(l *Layout, _ *CSR) { l.Rank[3] = l.Rank[2] }, "place 3 of a permutation has 2 a second time"},
		"fewer rows":         {func(l *Layout, m *CSR) { m.Offsets, m.Terms, m.Values = m.Offsets[:9], m.Terms[:16], m.Values[:16] }, "8 rows, expected 9"},
		"document too many":  {func(l *Layout, m *CSR) { m.Terms[5] = 2 }, "documents by rank: sparse: row 2: index 2 is not below"},
		"document twice":     {func(l *Layout, m *CSR) { m.Terms[5] = 0 }, "documents by rank: sparse: row 2: index 0 is not above 0"},
		"bad offset":         {func(l *Layout, m *CSR) { m.Offsets[4] = -5 }, "documents by rank: sparse: row 3"},
		"many documents":     {func(l *Layout, m *CSR) { m.Cols = math.MaxInt }, "columns, expected 0 to"},
	} {
		l, byRank := tall(t, 9, 8)
		c.spoil(l, byRank)
		if _, err := l.Split(t.Context(), byRank, 2); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q", name, err, c.want)
		}
	}
	l, byRank := tall(t, 9, 8)
	if _, err := (*Layout)(nil).Split(t.Context(), byRank, 2); err == nil {
		t.Error("no layout is accepted")
	}
	if _, err := l.Split(t.Context(), nil, 2); err == nil {
		t.Error("no documents are accepted")
	}
	if _, err := l.Split(t.Context(), byRank, -1); err == nil || !strings.Contains(err.Error(), "-1 workers") {
		t.Errorf("-1 workers: %v", err)
	}
	if _, err := l.Split(t.Context(), byRank, 0); err != nil { // one a processor
		t.Errorf("0 workers: %v", err)
	}
	if n := (&Layout{}).Head() + (&Layout{}).Segments(); n != 0 {
		t.Errorf("the zero layout has %d ranks and segments", n)
	}
}

func TestByRankRefuses(t *testing.T) {
	m := handFilled()
	rank := []uint32{4, 0, 3, 1, 2}
	if _, err := ByRank(t.Context(), m, rank, 0); err != nil {
		t.Fatal(err)
	}
	for name, c := range badMatrices {
		bad := handFilled()
		c.spoil(bad)
		if _, err := ByRank(t.Context(), bad, rank, 2); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q", name, err, c.want)
		}
	}
	for want, rank := range map[string][]uint32{"0 ranks, expected 5": nil, "4 ranks": rank[:4], "6 ranks": append(slices.Clone(rank), 5),
		"has 5, expected 0 to 4": {0, 1, 2, 3, 5}, "has 0 a second time": {0, 1, 2, 3, 0}} {
		if _, err := ByRank(t.Context(), m, rank, 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ranks %v: %v, expected %q", rank, err, want)
		}
	}
	if _, err := ByRank(t.Context(), m, rank, -1); err == nil {
		t.Error("-1 workers are accepted")
	}
	for _, order := range [][]uint32{{0, 0}, {0, 2}, {math.MaxUint32}} {
		if got := panics(func() { Ranks(order) }); !strings.HasPrefix(got, "sparse: place") {
			t.Errorf("the order %v: %q", order, got)
		}
	}
}

func TestPostingsRefuse(t *testing.T) {
	l, byRank := tall(t, 9, 8)
	l.Bounds = []int{0, 4}
	for name, spoil := range map[string]func(h *HeadTail){
		"zero value":    func(h *HeadTail) { *h = HeadTail{} },
		"another count": func(h *HeadTail) { h.Rows++ },
		"negative":      func(h *HeadTail) { h.Rows = -1 },
		"great rank":    func(h *HeadTail) { h.Tail.Terms[0] = 5 },
		"rank twice":    func(h *HeadTail) { h.Tail.Terms[1] = h.Tail.Terms[0] },
		"ascending":     func(h *HeadTail) { slices.Sort(h.Tail.Terms[:5]) },
		"short values":  func(h *HeadTail) { h.Tail.Values = h.Tail.Values[:9] },
		"bad offset":    func(h *HeadTail) { h.Tail.Offsets[1] = 11 },
	} {
		h, err := l.Split(t.Context(), byRank, 2)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := h.Postings(t.Context()); err != nil {
			t.Fatal(err)
		}
		spoil(h)
		if _, _, err := h.Postings(t.Context()); err == nil || !strings.Contains(err.Error(), "sparse: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// panics returns what f panics with, "" where it doesn't.
func panics(f func()) (with string) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case string:
			with = v
		case error:
			with = "error: " + v.Error()
		}
	}()
	f()
	return ""
}

// Where a comment makes the argument the caller's duty, a panic names it.
func TestPanicsAreNamed(t *testing.T) {
	m := handFilled()
	x := mustTransform(t, Sphere.Fit(m), m)
	corpus := &Corpus{Documents: m, Labels: Labels{Offsets: []int64{0, 1, 1, 3, 4}, IDs: []int32{1, 0, 1, 0}}, Classes: []string{"a", "b"}}
	short := *corpus
	short.Labels.Offsets = short.Labels.Offsets[:3]
	falling := handFilled()
	falling.Offsets[2] = 1
	unsorted := handFilled()
	unsorted.Terms[3] = 0
	for name, c := range map[string]struct {
		call func()
		want string
	}{
		"SelectRows(4)":              {func() { m.SelectRows([]int{0, 4}) }, "sparse: row 4 of a matrix of 4 rows"},
		"SelectRows(-1)":             {func() { m.SelectRows([]int{-1}) }, "sparse: row -1 of a matrix of 4 rows"},
		"SelectRows, falling":        {func() { falling.SelectRows([]int{1}) }, "sparse: row 1: ends at offset 1"},
		"LongestRow, falling":        {func() { falling.LongestRow() }, "sparse: row 1: ends at offset 1"},
		"EmptyRows, falling":         {func() { falling.EmptyRows() }, "sparse: row 1: ends at offset 1"},
		"DocumentFrequency, falling": {func() { falling.DocumentFrequency() }, "sparse: row 1: ends at offset 1"},
		"DocumentFrequency":          {func() { unsorted.DocumentFrequency() }, "sparse: row 1: index 0 is not above 1"},
		"TermFrequencies":            {func() { unsorted.TermFrequencies() }, "sparse: row 1: index 0 is not above 1"},
		"Unit64(4)":                  {func() { x.Unit64(4, nil) }, "sparse: row 4 of a matrix of 4 rows"},
		"Vector64(-1)":               {func() { x.Vector64(-1, nil) }, "sparse: row -1 of a matrix of 4 rows"},
		"Digest":                     {func() { (&Embedded{}).Digest() }, "sparse: no embedder"},
		"Empty":                      {func() { (&Embedded{}).Empty() }, "sparse: no embedder"},
		"Select(4)":                  {func() { corpus.Select([]int{4}) }, "sparse: row 4 of a matrix of 4 rows"},
		"Select, short labels":       {func() { short.Select([]int{0}) }, "sparse: labels of 2 documents, expected those of 4"},
		"Select of nothing":          {func() { (&Corpus{}).Select(nil) }, "sparse: no matrix"},
	} {
		if got := panics(c.call); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, expected %q", name, got, c.want)
		}
	}
	bare := *corpus
	bare.Labels = Labels{}
	if out := bare.Select([]int{3, 0}); out.Documents.Rows() != 2 || out.Labels.Offsets != nil {
		t.Errorf("a selection of documents without labels: %+v", out)
	}
	if got := (&Corpus{}).Digest(); got != (&Corpus{Documents: &CSR{}}).Digest() {
		t.Errorf("the digest of no documents is %x", got)
	}
	if s := (Embedding{Weighting: 9, Pairing: 200}).String(); s != "embedding(9, 0, 0, 200)" {
		t.Errorf("an embedding that there is none of is called %q", s)
	}
	if _, err := (Embedding{Norm: 9}).WithPower(2); err == nil {
		t.Error("a power of an embedding that there is none of is accepted")
	}
	for _, c := range []struct{ rows, values, want int64 }{{2, 3, 92}, {-1, -7, 8}, {0, math.MaxInt64, math.MaxInt64}, {math.MaxInt64, 0, math.MaxInt64}} {
		if got := EmbeddedBytes(int(c.rows), c.values); got != c.want {
			t.Errorf("EmbeddedBytes(%d, %d) = %d, expected %d", c.rows, c.values, got, c.want)
		}
	}
}

//lint:ignore SA1012 what a caller may do
var nothing context.Context

func TestNoContext(t *testing.T) {
	m := handFilled()
	l, byRank := tall(t, 9, 8)
	h, err := l.Split(t.Context(), byRank, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"Read":          second(Read(nothing, "synthetic", Options{})),
		"ReadSets":      second(ReadSets(nothing, "x", 1, Options{})),
		"Files":         second(Files(nothing, "x", FormatAuto)),
		"TransformRows": second(Sphere.Fit(m).TransformRows(nothing, m, nil, 1)),
		"ByRank":        second(ByRank(nothing, m, []uint32{0, 1, 2, 3, 4}, 1)),
		"Split":         second(l.Split(nothing, byRank, 1)),
		"Postings":      third(h.Postings(nothing)),
	} {
		if err == nil || !strings.Contains(err.Error(), "nil context") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func third[A, B any](_ A, _ B, err error) error { return err }
