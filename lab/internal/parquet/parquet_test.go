// Package parquet tests that another library, a dependency of this module only, reads the Parquet
// files that gram writes.
package parquet

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	other "github.com/parquet-go/parquet-go"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/parquet"
)

// row is a row of the tested table; nil is null.
type row struct {
	Text  *string  `parquet:"text,optional"`
	Real  *float64 `parquet:"real,optional"`
	Whole *int64   `parquet:"whole,optional"`
	Last  *string  `parquet:"last,optional"`
}

func columns(rows []row) []parquet.Column {
	text := func(name string, of func(r row) *string) parquet.Column {
		return parquet.Column{Name: name, Text: func(i int) (string, bool) {
			if s := of(rows[i]); s != nil {
				return *s, true
			}
			return "", false
		}}
	}
	return []parquet.Column{
		text("text", func(r row) *string { return r.Text }),
		{Name: "real", Real: func(i int) (float64, bool) {
			if v := rows[i].Real; v != nil {
				return *v, true
			}
			return 0, false
		}},
		{Name: "whole", Whole: func(i int) (int64, bool) {
			if v := rows[i].Whole; v != nil {
				return *v, true
			}
			return 0, false
		}},
		text("last", func(r row) *string { return r.Last }),
	}
}

func draw(r *rand.Rand, n int, null float64, length int) []row {
	out := make([]row, n)
	some := func() bool { return r.Float64() >= null }
	texts := []string{"", "meow", "\"purr\",\n\x00", "ጤና ይስጥልኝ", "🐈", strings.Repeat("x", length)}
	for i := range out {
		if some() {
			out[i].Text = &texts[r.IntN(len(texts))]
		}
		if some() {
			v := []float64{0, math.Copysign(0, -1), 1.5, math.Inf(1), -math.MaxFloat64, r.NormFloat64()}[r.IntN(6)]
			out[i].Real = &v
		}
		if some() {
			v := []int64{0, -1, math.MaxInt64, math.MinInt64, r.Int64()}[r.IntN(5)]
			out[i].Whole = &v
		}
		if i%1000 < 500 { // long runs
			out[i].Last = &texts[1]
		}
	}
	return out
}

func TestOthersReadIt(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, rows := range [][]row{
		nil, draw(r, 1, 0, 1), draw(r, 1, 1, 1), draw(r, 20, 0.5, 100), draw(r, 150000, 0.3, 5), draw(r, 3000, 0.2, 1<<14),
		draw(r, 70000, 1, 1),
	} {
		var out bytes.Buffer
		musttest.Do(t, parquet.Write(t.Context(), &out, len(rows), columns(rows)))
		in := bytes.NewReader(out.Bytes())
		f := musttest.Get(other.OpenFile(in, in.Size()))(t)
		if len(rows) >= 3000 && len(f.RowGroups()) < 2 {
			t.Errorf("%d rows in %d groups, expected several", len(rows), len(f.RowGroups()))
		}
		got := musttest.Get(other.Read[row](in, in.Size()))(t)
		if len(got) != len(rows) {
			t.Fatalf("%d rows, expected %d", len(got), len(rows))
		}
		for i, g := range got {
			want := rows[i]
			if !same(g.Text, want.Text) || !same(g.Whole, want.Whole) || !same(g.Last, want.Last) ||
				!same(bits(g.Real), bits(want.Real)) {
				t.Fatalf("row %d of %d is %+v, expected %+v", i, len(rows), g, want)
			}
		}
		null := 0
		for _, w := range rows {
			if w.Text == nil {
				null++
			}
		}
		at := int64(4) // after the magic number
		for _, g := range f.Metadata().RowGroups {
			null -= int(g.Columns[0].MetaData.Statistics.NullCount)
			begin := at
			for _, c := range g.Columns {
				m := c.MetaData
				if m.DataPageOffset != at || m.TotalCompressedSize != m.TotalUncompressedSize || m.NumValues != g.NumRows {
					t.Errorf("column %v from %d on: %+v", m.PathInSchema, at, m)
				}
				at += m.TotalUncompressedSize
			}
			if g.TotalByteSize != at-begin {
				t.Errorf("a group of %d bytes says %d", at-begin, g.TotalByteSize)
			}
		}
		if null != 0 {
			t.Errorf("%d texts too few are said to be null", null)
		}
	}
}

func same[T comparable](a, b *T) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }

func bits(v *float64) *uint64 {
	if v == nil {
		return nil
	}
	b := math.Float64bits(*v)
	return &b
}

// The sizes of many columns take more than four bits.
func TestManyColumns(t *testing.T) {
	for n := 13; n <= 18; n++ {
		var columns []parquet.Column
		var names []string
		for name := range strings.SplitSeq("abcdefghijklmnopqr"[:n], "") {
			names = append(names, name)
			columns = append(columns, parquet.Column{Name: name, Whole: func(int) (int64, bool) { return 7, true }})
		}
		var out bytes.Buffer
		musttest.Do(t, parquet.Write(t.Context(), &out, 2, columns))
		f := musttest.Get(other.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len())))(t)
		var got []string
		for _, c := range f.Root().Columns() {
			got = append(got, c.Name())
		}
		if !slices.Equal(got, names) || f.NumRows() != 2 {
			t.Errorf("%d rows of %q, expected 2 of %q", f.NumRows(), got, names)
		}
	}
}

var errFull = errors.New("the disk is full")

type failing struct{ left int }

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestErrors(t *testing.T) {
	rows := draw(rand.New(rand.NewPCG(3, 4)), 50, 0.5, 10)
	var out bytes.Buffer
	musttest.Do(t, parquet.Write(t.Context(), &out, len(rows), columns(rows)))
	for left := range out.Len() {
		if err := parquet.Write(t.Context(), &failing{left}, len(rows), columns(rows)); !errors.Is(err, errFull) {
			t.Fatalf("a writer that fails after %d bytes: %v", left, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := parquet.Write(ctx, &out, len(rows), columns(rows)); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of ctx: %v", err)
	}
	bad := "\xff"
	rows[3].Text = &bad
	err := parquet.Write(t.Context(), &out, len(rows), columns(rows))
	if err == nil || !strings.Contains(err.Error(), "row 4 has 1 bytes of text, expected UTF-8") {
		t.Errorf("text that isn't UTF-8: %v", err)
	}
}
