// Package parquet writes tables in the Parquet format (parquet.apache.org), which data science
// programs read with types and nulls.
//
// It supports flat tables of strings, float64 and int64, with plain encoding and without
// compression. A full library would add ten megabytes to the program and two to its memory. Tests
// in lab read its files with other programs.
package parquet

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"unicode/utf8"
)

// Column is a column of a table. One of its functions returns the value of row i, or false if the
// value is null.
type Column struct {
	Name  string
	Text  func(i int) (string, bool) // UTF-8
	Real  func(i int) (float64, bool)
	Whole func(i int) (int64, bool)
}

// The values of Parquet's enumerations that are used.
const (
	typeInt64, typeDouble, typeByteArray = 2, 5, 6
	optional                             = 1
	convertedUTF8                        = 0
	encodingPlain, encodingRLE           = 0, 3
)

// Maximum number of rows in a row group, and of bytes of text in a column of a row group, because a
// group is in memory twice.
const (
	groupRows = 1 << 16
	groupText = 4 << 20
)

const magic = "PAR1"

// Write writes a table with the given number of rows. It fails if text isn't UTF-8 or is longer
// than 1 GiB, if w fails, and when ctx is done.
func Write(ctx context.Context, w io.Writer, rows int, columns []Column) error {
	out := NewWriter(w, columns)
	if err := out.Rows(ctx, rows); err != nil {
		return err
	}
	return out.Close()
}

// Writer writes a table in several calls.
type Writer struct {
	file    file
	columns []Column
	rows    int
	groups  []group
}

// NewWriter starts a table.
func NewWriter(w io.Writer, columns []Column) *Writer {
	out := &Writer{file: file{w: w}, columns: columns}
	out.file.write([]byte(magic))
	return out
}

// Rows writes rows 0 to n-1 of the columns, see [Write].
func (w *Writer) Rows(ctx context.Context, n int) error {
	f := &w.file
	for first := 0; first < n && f.err == nil; {
		last, err := endOf(ctx, first, n, w.columns)
		if err != nil {
			return err
		}
		g := group{rows: last - first, at: f.at}
		for _, c := range w.columns {
			levels, values, null := c.page(first, last)
			g.chunks, g.null = append(g.chunks, f.at), append(g.null, null)
			f.write(header(4+len(levels)+len(values), g.rows))
			f.write(binary.LittleEndian.AppendUint32(nil, uint32(len(levels))))
			f.write(levels)
			f.write(values)
		}
		g.end = f.at
		w.groups, first = append(w.groups, g), last
	}
	w.rows += n
	return f.err
}

// Close writes the footer.
func (w *Writer) Close() error {
	end := footer(w.rows, w.columns, w.groups)
	w.file.write(end)
	w.file.write(binary.LittleEndian.AppendUint32(nil, uint32(len(end))))
	w.file.write([]byte(magic))
	return w.file.err
}

// file counts the bytes written.
type file struct {
	w   io.Writer
	at  int64
	err error
}

func (f *file) write(b []byte) {
	if f.err == nil {
		_, f.err = f.w.Write(b)
		f.at += int64(len(b))
	}
}

// group describes a row group.
type group struct {
	rows    int
	at, end int64
	chunks  []int64 // offsets of the columns
	null    []int   // number of nulls by column
}

// endOf returns the end of a row group, and checks its text.
func endOf(ctx context.Context, first, rows int, columns []Column) (int, error) {
	most, text := min(rows, first+groupRows), make([]int, len(columns))
	for i := first; i < most; i++ {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		for k, c := range columns {
			if c.Text == nil {
				continue
			}
			s, _ := c.Text(i)
			if !utf8.ValidString(s) || len(s) > 1<<30 {
				return 0, fmt.Errorf("parquet: row %d has %d bytes of %s, expected UTF-8 of at most 1 GiB", i+1, len(s), c.Name)
			}
			if text[k] += len(s); text[k] > groupText && i > first {
				return i, nil
			}
		}
	}
	return most, nil
}

// kind returns the physical type of a column.
func (c *Column) kind() int64 {
	switch {
	case c.Text != nil:
		return typeByteArray
	case c.Real != nil:
		return typeDouble
	}
	return typeInt64
}

// page encodes some rows: definition levels as runs, and values. null is the number of nulls.
func (c *Column) page(first, last int) (levels, values []byte, null int) {
	run, before := 0, false
	end := func() {
		if run > 0 {
			level := byte(0)
			if before {
				level = 1
			}
			levels = append(binary.AppendUvarint(levels, uint64(run)<<1), level)
		}
	}
	for i := first; i < last; i++ {
		var is bool
		switch {
		case c.Text != nil:
			var s string
			if s, is = c.Text(i); is {
				values = append(binary.LittleEndian.AppendUint32(values, uint32(len(s))), s...)
			}
		case c.Real != nil:
			var v float64
			if v, is = c.Real(i); is {
				values = binary.LittleEndian.AppendUint64(values, math.Float64bits(v))
			}
		default:
			var v int64
			if v, is = c.Whole(i); is {
				values = binary.LittleEndian.AppendUint64(values, uint64(v))
			}
		}
		if is != before {
			end()
			run, before = 0, is
		}
		if run++; !is {
			null++
		}
	}
	end()
	return levels, values, null
}

// header returns the PageHeader of a page with the given size and rows.
func header(bytes, rows int) []byte {
	t := &thrift{}
	t.whole(1, 0) // DATA_PAGE
	t.whole(2, int64(bytes))
	t.whole(3, int64(bytes))
	t.begin(5)
	t.whole(1, int64(rows))
	t.whole(2, encodingPlain)
	t.whole(3, encodingRLE) // encoding of definition levels
	t.whole(4, encodingRLE)
	t.end()
	t.end()
	return t.out
}

// footer returns the FileMetaData.
func footer(rows int, columns []Column, groups []group) []byte {
	t := &thrift{}
	t.whole(1, 1)
	t.list(2, structs, 1+len(columns))
	t.nest()
	t.text(4, "table")
	t.whole(5, int64(len(columns)))
	t.end()
	for _, c := range columns {
		t.nest()
		t.whole(1, c.kind())
		t.whole(3, optional)
		t.text(4, c.Name)
		if c.Text != nil {
			t.whole(6, convertedUTF8)
		}
		t.end()
	}
	t.long(3, int64(rows))
	t.list(4, structs, len(groups))
	for _, g := range groups {
		t.nest()
		t.list(1, structs, len(columns))
		for k, c := range columns {
			end := g.end
			if k+1 < len(columns) {
				end = g.chunks[k+1]
			}
			t.nest()
			t.long(2, g.chunks[k])
			t.begin(3)
			t.whole(1, c.kind())
			t.list(2, wholes, 2)
			t.zigzag(encodingPlain)
			t.zigzag(encodingRLE)
			t.list(3, texts, 1)
			t.bytes(c.Name)
			t.whole(4, 0) // UNCOMPRESSED
			t.long(5, int64(g.rows))
			t.long(6, end-g.chunks[k])
			t.long(7, end-g.chunks[k])
			t.long(9, g.chunks[k])
			t.begin(12)
			t.long(3, int64(g.null[k]))
			t.end()
			t.end()
			t.end()
		}
		t.long(2, g.end-g.at)
		t.long(3, int64(g.rows))
		t.end()
	}
	t.text(6, "gram")
	t.end()
	return t.out
}
