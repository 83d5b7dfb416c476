package corpus

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/gramengine/gram/sparse"
)

// vectorFile is an .npy file with a vector for each row of a table.
type vectorFile struct {
	TableColumn
	vectors *sparse.CSR
}

// vectorFiles reads the files in opt.Columns, and replaces the file names by the kind vector.
func vectorFiles(ctx context.Context, opt *Options) (files []vectorFile, err error) {
	columns, _ := parseColumns(opt.Columns)
	var kinds []string
	for _, c := range columns {
		if kinds = append(kinds, c.Name+"="+string(c.Kind)); c.file == "" {
			continue
		}
		read, err := Read(ctx, c.file, Options{FormatOptions: FormatOptions{Format: FormatNumPy}, Workers: opt.Workers,
			Signed:      true,
			MemoryBytes: opt.MemoryBytes})
		if err != nil {
			return nil, err
		}
		files = append(files, vectorFile{c, read.Documents})
	}
	opt.Columns = strings.Join(kinds, ",")
	return files, nil
}

// text returns the vector for a row as a JSON list.
func (f *vectorFile) text(row int) (string, error) {
	if row >= f.vectors.Rows() {
		return "", newSyntaxError(fmt.Sprintf("row %d of the table", row+1),
			fmt.Sprintf("%d rows, as in %s", f.vectors.Rows(),
				f.file))
	}
	vector := make([]float32, f.vectors.Cols)
	terms, values := f.vectors.Row(row)
	for k, t := range terms {
		vector[t] = values[k]
	}
	list, err := json.Marshal(vector)
	return string(list), err
}

// addVectors adds the vectors of the files in opt.Columns as columns to the rows of a table. If
// separator is 0, the table has a JSON object per line, otherwise a header and records.
func (in *input) addVectors(ctx context.Context, opt *Options, separator byte) error {
	files, err := vectorFiles(ctx, opt)
	if err != nil || files == nil {
		return err
	}
	var record []string
	var out bytes.Buffer
	r, from, to, row := in.r, csv.NewReader(in.r), csv.NewWriter(&out), 0
	if separator != 0 {
		from.Comma, from.LazyQuotes, from.FieldsPerRecord, to.Comma = rune(separator), true, -1, rune(separator)
		row = -1 // the first line is the header
	}
	in.replaceText(func() (line []byte, err error) {
		if separator == 0 {
			line, err = r.ReadBytes('\n')
		} else {
			record, err = from.Read()
		}
		object := bytes.TrimSpace(line)
		if separator == 0 && len(object) == 0 || separator != 0 && err != nil { // the line holds no row
			for _, f := range files {
				if n := f.vectors.Rows(); err == io.EOF && n != row {
					return nil, newSyntaxError(fmt.Sprintf("%d rows", row), fmt.Sprintf("%d rows, as in %s", n, f.file))
				}
			}
			return line, err
		}
		for _, f := range files {
			text := f.Name
			if row >= 0 {
				if text, err = f.text(row); err != nil {
					return nil, err
				}
			}
			key, _ := json.Marshal(f.Name)
			object = fmt.Appendf(nil, "{%s:%s,%s", key, text, bytes.TrimPrefix(object, []byte{'{'}))
			record = append(record, text)
		}
		row++
		if separator == 0 {
			return append(object, '\n'), nil // at the end of the file, the next line is empty
		}
		out.Reset()
		to.Write(record)
		to.Flush()
		return out.Bytes(), nil
	})
	return nil
}

// separator returns the most frequent field separator in the first line of a CSV table.
func (in *input) separator() byte {
	head, _ := in.r.Peek(sampleBytes) // an error recurs when the file is read
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	return slices.MaxFunc([]byte(",;\t"), func(a, b byte) int {
		return bytes.Count(line, []byte{a}) - bytes.Count(line, []byte{b})
	})
}

// longVector matches the start of a list of more than eight numbers.
var longVector = regexp.MustCompile(`\[(\s*-?[\d.]+(e[+-]?\d+)?,){8}`)

// sampleVectorBytes replaces sampleBytes for tables with long vectors.
const sampleVectorBytes = 2 << 20
