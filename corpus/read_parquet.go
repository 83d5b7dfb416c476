package corpus

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

var parquetFormat = fileFormat{name: FormatParquet, extensions: []string{".parquet", ".pq"},
	magic: []string{parquetMagic}, read: readParquet}

const parquetMagic = "PAR1"

// readParquet reads the rows of a Parquet file as JSON objects. Line numbers in errors are row
// numbers. Columns with structures are ignored.
func readParquet(ctx context.Context, in *input, opt *Options, m *progressMeter) (*Corpus, error) {
	content, size, err := in.readerAt(opt, parquetMagic)
	if err != nil {
		return nil, err
	}
	damaged := func(err error) error {
		return (&SyntaxError{Found: err.Error(), Expected: "an undamaged Parquet file", Err: err}).withPosition(in.name, 0)
	}
	file, err := parquet.OpenFile(content, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, damaged(err)
	}
	for _, g := range file.Metadata().RowGroups {
		if opt.memory != nil && 2*g.TotalByteSize > opt.memory.limit {
			return nil, opt.memory.newMemoryError(in.name, "a row group", 2*g.TotalByteSize)
		}
	}
	p := &parquetRows{groups: file.RowGroups(), buffer: make([]parquet.Row, 256)}
	in.strings = map[string]bool{}
	for _, column := range file.Root().Columns() {
		name := column.Name()
		for !column.Leaf() && len(column.Columns()) == 1 { // the column is a list
			column = column.Columns()[0]
		}
		if structure := column.Depth() > 1 && column.MaxRepetitionLevel() == 0; structure || !column.Leaf() ||
			column.MaxRepetitionLevel() > 1 {
			continue
		}
		key, _ := json.Marshal(name)
		p.columns = append(p.columns, parquetColumn{string(key), column.Index(), column.Type().LogicalType(),
			column.MaxRepetitionLevel() == 1})
		in.strings[name] = column.Type().Kind() == parquet.ByteArray
	}
	in.replaceText(func() (lines []byte, err error) {
		defer func() {
			if v := recover(); v != nil { // the library panics on some damaged pages
				err = damaged(fmt.Errorf("%v", v))
			}
		}()
		if lines, err = p.next(); err != nil && err != io.EOF {
			err = damaged(err)
		}
		m.bytesRead.Store(int64(float64(size) * float64(p.rows) / float64(file.NumRows()+1)))
		return lines, err
	})
	return readJSONL(ctx, in, opt, m)
}

// parquetColumn is a column of scalars, or of lists of scalars.
type parquetColumn struct {
	key   string // name of the column as a JSON string
	index int
	kind  *format.LogicalType
	list  bool
}

type parquetRows struct {
	columns  []parquetColumn
	groups   []parquet.RowGroup // remaining groups
	openRows parquet.Rows       // rows of the open group; nil if no group is open
	buffer   []parquet.Row
	rows     int64 // number of rows read
	lines    []byte
}

// next returns the next rows as JSON lines, or an error.
func (p *parquetRows) next() ([]byte, error) {
	if p.openRows == nil {
		if len(p.groups) == 0 {
			return nil, io.EOF
		}
		p.openRows, p.groups = p.groups[0].Rows(), p.groups[1:]
	}
	n, err := p.openRows.ReadRows(p.buffer)
	p.lines = p.lines[:0]
	for _, row := range p.buffer[:n] {
		p.appendRow(row)
	}
	if p.rows += int64(n); err == io.EOF {
		err = p.openRows.Close()
		p.openRows = nil
	}
	return p.lines, err
}

// appendRow appends a row as a JSON object in a line.
func (p *parquetRows) appendRow(row parquet.Row) {
	for i, c := range p.columns {
		for len(row) > 0 && row[0].Column() < c.index {
			row = row[1:]
		}
		p.lines = append(append(append(p.lines, "{,"[min(i, 1)]), c.key...), ':')
		if c.list {
			p.lines = append(p.lines, '[')
		}
		for ; len(row) > 0 && row[0].Column() == c.index; row = row[1:] {
			if !c.list || !row[0].IsNull() {
				p.lines = append(appendJSON(p.lines, row[0], c.kind), ',')
			}
		}
		if p.lines = bytes.TrimSuffix(p.lines, []byte(",")); c.list {
			p.lines = append(p.lines, ']')
		}
	}
	p.lines = append(p.lines, "}\n"...)
}

// appendJSON appends a value in JSON. Dates and times are strings; NaN is null.
func appendJSON(b []byte, v parquet.Value, kind *format.LogicalType) []byte {
	text := func(s string) []byte {
		quoted, _ := json.Marshal(s)
		return append(b, quoted...)
	}
	if kind == nil {
		kind = &format.LogicalType{}
	}
	switch v.Kind() {
	case parquet.Boolean:
		return strconv.AppendBool(b, v.Boolean())
	case parquet.Float, parquet.Double:
		x, bits := v.Double(), 64
		if v.Kind() == parquet.Float {
			x, bits = float64(v.Float()), 32
		}
		switch {
		case math.IsNaN(x):
			return append(b, "null"...)
		case math.IsInf(x, 0):
			return text(v.String())
		}
		return strconv.AppendFloat(b, x, 'g', -1, bits)
	case parquet.Int32, parquet.Int64:
		n := v.Int64()
		if v.Kind() == parquet.Int32 {
			n = int64(v.Int32())
		}
		switch {
		case kind.Decimal != nil:
			return fmt.Appendf(b, "%de-%d", n, kind.Decimal.Scale)
		case kind.Date != nil:
			return text(time.Unix(24*60*60*n, 0).UTC().Format(time.DateOnly))
		case kind.Timestamp != nil:
			at := time.Unix(0, n)
			if unit := kind.Timestamp.Unit; unit.Millis != nil {
				at = time.UnixMilli(n)
			} else if unit.Micros != nil {
				at = time.UnixMicro(n)
			}
			return text(at.UTC().Format(time.RFC3339Nano))
		case kind.Integer != nil && !kind.Integer.IsSigned:
			if v.Kind() == parquet.Int32 {
				n = int64(uint32(n))
			}
			return strconv.AppendUint(b, uint64(n), 10)
		}
		return strconv.AppendInt(b, n, 10)
	case parquet.FixedLenByteArray:
		if kind.Decimal != nil {
			bytes := v.ByteArray() // integer in two's complement
			n := new(big.Int).SetBytes(bytes)
			if len(bytes) > 0 && bytes[0] > 127 {
				n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(bytes))))
			}
			return fmt.Appendf(b, "%de-%d", n, kind.Decimal.Scale)
		}
		return text(hex.EncodeToString(v.ByteArray()))
	case parquet.ByteArray, parquet.Int96:
		return text(v.String())
	}
	return append(b, "null"...)
}
