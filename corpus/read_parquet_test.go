package corpus

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/gramengine/gram/internal/musttest"
)

// parquetRow is a row with all types that readParquet reads, and a structure, which it ignores.
type parquetRow struct {
	Text  string            `parquet:"text"`
	Price *float64          `parquet:"price,optional"`
	Zip   string            `parquet:"zip"`
	Seen  int32             `parquet:"seen,date"`
	Stars uint32            `parquet:"stars"`
	Label []string          `parquet:"label,list"`
	Extra map[string]string `parquet:"extra"`
}

// parquetFile returns a file of rows in several row groups, and the same rows as JSON lines.
func parquetFile(t *testing.T, rows int) (file, lines string) {
	t.Helper()
	var b bytes.Buffer
	var text strings.Builder
	w := parquet.NewGenericWriter[parquetRow](&b, parquet.MaxRowsPerRowGroup(300), parquet.Compression(&parquet.Zstd))
	for i := range rows {
		r := parquetRow{Text: fmt.Sprintf("meow %d\n\"purr\" w%d", i%7, i%5), Zip: fmt.Sprintf("%05d", i%3),
			Seen: int32(i % 4), Stars: uint32(i % 9), Label: []string{"cat", "pet"}[:i%3], Extra: map[string]string{"a": "b"}}
		price := "null"
		if i%11 > 0 {
			x := float64(i%13) / 4
			r.Price, price = &x, fmt.Sprint(x)
		}
		musttest.Get(w.Write([]parquetRow{r}))(t)
		label := []string{`[]`, `["cat"]`, `["cat","pet"]`}[i%3]
		fmt.Fprintf(&text, `{"text":"meow %d\n\"purr\" w%d","price":%s,"zip":"z%05d",`, i%7, i%5, price, i%3)
		fmt.Fprintf(&text, `"seen":"1970-01-0%d","stars":%d,"label":%s}`+"\n", i%4+1, i%9, label)
	}
	musttest.NoError(t, w.Close())
	return b.String(), text.String()
}

// A Parquet file has the documents of the same rows as JSON lines. A column of strings isn't read
// as numbers.
func TestParquet(t *testing.T) {
	file, lines := parquetFile(t, 1000)
	opt := Options{MinDF: 1, Workers: 2}
	for name, content := range map[string]string{"a.parquet": file, "a": file, "a.parquet.gz": gzipped(file)} {
		got, want := readWhole(t, writeFile(t, name, content), opt), readWhole(t, writeFile(t, "a.jsonl", lines), opt)
		kinds := "label: label; text: text; category: zip, seen; number: price, stars; ignored: none"
		if got.DescribeTable() != kinds || got.Format != FormatParquet {
			t.Errorf("%s: columns %s of %s, expected %s", name, got.DescribeTable(), got.Format, kinds)
		}
		if !reflect.DeepEqual(got.Labels, want.Labels) || !reflect.DeepEqual(got.Documents.Values, want.Documents.Values) {
			t.Errorf("%s: other documents than in JSON lines", name)
		}
	}
	numbers := Options{FormatOptions: FormatOptions{Columns: "zip=number,text=number"}}
	musttest.WantError(Read(t.Context(), writeFile(t, "a.parquet", file), numbers))(t,
		"text as a number", "a.parquet:1: \"meow 0\\n\\\"purr\\\" w0\" in the column text")
	for at := 0; at < len(file); at += 97 { // damaged files are errors, or change values
		bad := []byte(file)
		bad[at] ^= 0x55
		c, err := Read(t.Context(), writeFile(t, "a.parquet", string(bad)), opt)
		if (c == nil) == (err == nil) {
			t.Fatalf("byte %d is damaged: %v, %v", at, c, err)
		}
	}
	musttest.WantError(Read(t.Context(), writeFile(t, "a.parquet", file[:len(file)/2]), opt))(t,
		"half of a file", "expected an undamaged Parquet file")
}

// NaN is null, infinity is a text, and lists lose their nulls. Integers and floats keep all digits.
func TestParquetValues(t *testing.T) {
	p := parquetRows{columns: []parquetColumn{{key: `"a"`}, {key: `"b"`, index: 1, list: true}, {key: `"c"`, index: 2},
		{key: `"d"`, index: 3}, {key: `"e"`, index: 4, list: true}}}
	p.appendRow(parquet.Row{parquet.DoubleValue(math.NaN()).Level(0, 0, 0),
		parquet.NullValue().Level(0, 0, 1), parquet.Int64Value(1<<62+1).Level(1, 1, 1), parquet.NullValue().Level(1, 0, 1),
		parquet.FloatValue(float32(math.Inf(-1))).Level(0, 0, 2), parquet.FloatValue(0.1).Level(0, 0, 3),
		parquet.NullValue().Level(0, 0, 4)})
	if got, want := string(p.lines), `{"a":null,"b":[4611686018427387905],"c":"-Inf","d":0.1,"e":[]}`+"\n"; got != want {
		t.Errorf("%s, expected %s", got, want)
	}
}
