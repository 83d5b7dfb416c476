package corpus

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/sparse"
)

// vectorFile is an .npy file with a vector for each row of a table.
type vectorFile struct {
	TableColumn
	vectors *sparse.CSR
}

// vectorFiles reads the files in opt.Columns, and replaces their names by the kind vector.
func vectorFiles(ctx context.Context, opt *Options) (files []vectorFile, err error) {
	columns, _ := parseColumns(opt.Columns)
	var kinds []string
	for _, c := range columns {
		if kinds = append(kinds, c.Name+"="+string(c.Kind)); c.file == "" {
			continue
		}
		read, err := Read(ctx, c.file, Options{Form: Form{Format: FormatNumPy}, Workers: opt.Workers, Signed: true,
			MemoryBytes: opt.MemoryBytes})
		if err != nil {
			return nil, err
		}
		files = append(files, vectorFile{c, read.Documents})
	}
	opt.Columns = strings.Join(kinds, ",")
	return files, nil
}

// text returns vector i as a list.
func (f *vectorFile) text(i int) string {
	terms, values := f.vectors.Row(i)
	list := []byte{'['}
	for k := range f.vectors.Cols {
		x := float32(0)
		if len(terms) > 0 && int(terms[0]) == k {
			x, terms, values = values[0], terms[1:], values[1:]
		}
		list = append(strconv.AppendFloat(list, float64(x), 'g', -1, 32), ',')
	}
	list[len(list)-1] = ']'
	return string(list)
}

// addVectors adds the vectors of the files in opt.Columns as columns to the rows of a table. The table
// has JSON objects in lines if separator is 0, else a header and records.
func (in *input) addVectors(ctx context.Context, opt *Options, separator byte) error {
	files, err := vectorFiles(ctx, opt)
	if err != nil || files == nil {
		return err
	}
	row := 0
	texts := func() (out []string, err error) { // vectors of the next row
		for i := range files {
			f := &files[i]
			if row >= f.vectors.Rows() {
				return nil, fault(fmt.Sprintf("row %d of the table", row+1),
					fmt.Sprintf("%d rows, as in %s", f.vectors.Rows(), f.file))
			}
			out = append(out, f.text(row))
		}
		row++
		return out, nil
	}
	end := func(err error) error { // checks the number of rows at the end
		for _, f := range files {
			if n := f.vectors.Rows(); err == io.EOF && n != row {
				return fault(fmt.Sprintf("%d rows", row), fmt.Sprintf("%d, as in %s", n, f.file))
			}
		}
		return err
	}
	if r := in.r; separator == 0 {
		in.produce(func() ([]byte, error) {
			line, err := r.ReadBytes('\n')
			object, open := bytes.CutSuffix(bytes.TrimSpace(line), []byte{'}'})
			if !open { // a blank line, or an error of the parser
				return line, end(err)
			}
			vectors, bad := texts()
			if bad != nil {
				return nil, bad
			}
			for i, text := range vectors {
				key, _ := json.Marshal(files[i].Name)
				if len(bytes.TrimSpace(object)) > 1 {
					object = append(object, ',')
				}
				object = fmt.Appendf(object, "%s:%s", key, text)
			}
			return append(object, "}\n"...), end(err)
		})
		return nil
	}
	var buf bytes.Buffer
	from, to := csv.NewReader(in.r), csv.NewWriter(&buf)
	from.Comma, from.LazyQuotes, from.FieldsPerRecord, to.Comma = rune(separator), true, -1, rune(separator)
	header := true
	in.produce(func() ([]byte, error) {
		record, err := from.Read()
		if parse := (*csv.ParseError)(nil); errors.As(err, &parse) {
			return nil, fault(parse.Err.Error(), "fields as in CSV").at("", int64(parse.Line))
		} else if err != nil {
			return nil, end(err)
		}
		var added []string
		if !header {
			if added, err = texts(); err != nil {
				return nil, err
			}
		}
		for i := range files {
			if header {
				added = append(added, files[i].Name)
			}
		}
		header = false
		buf.Reset()
		to.Write(append(record, added...))
		to.Flush()
		return buf.Bytes(), nil
	})
	return nil
}

// separator returns the most frequent field separator in the first line of a CSV table.
func (in *input) separator() byte {
	head, _ := in.r.Peek(nearBytes) // an error recurs when the file is read
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	return slices.MaxFunc([]byte(",;\t"), func(a, b byte) int {
		return bytes.Count(line, []byte{a}) - bytes.Count(line, []byte{b})
	})
}

// longVector matches a list of more than eight numbers.
var longVector = regexp.MustCompile(`\[(\s*-?[\d.]+(e[+-]?\d+)?,){8}`)

// nearVectors is the size of the beginning of a table with long vectors in which columns are detected.
const nearVectors = 2 << 20
