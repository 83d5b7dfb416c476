package corpus

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/gramengine/gram/internal/musttest"
)

func texts(t *testing.T, file, content string, opt Options) *Corpus {
	t.Helper()
	opt.MinDF = 1
	return readWhole(t, writeFile(t, file, content), opt)
}

// All text formats give the same four documents.
func TestTables(t *testing.T) {
	const want = "pos fine:1 good:1\nneg bad:1\npos good:1 line:1 other:1\n say:1\n"
	for _, c := range []struct {
		file, content string
		opt           Options
	}{
		{"a.csv", "label,text\npos,Good fine\nneg,\"bad, \"\"bad\"\"\"\r\npos,\"good\nother line\"\n,say 3\n", Options{}},
		{"a.csv", "id,class,Body\n1,pos,Good fine\n2,neg,bad\n3,pos,\"good other\"\" line\"\n4,,say\n", Options{}},
		{"a.csv", "a,b,c\n1,pos,Good fine\n2,neg,bad\n3,pos,good other line\n4,,say\n",
			Options{FormatOptions: FormatOptions{LabelColumn: "B", TextColumn: "c"}}},
		{"a.csv", "pos,Good fine\nneg,bad\npos,good other line\n-,say\n", Options{}},
		{"a.csv", "Label;Text\npos;Good fine\nneg;\"bad; \"\"bad\"\"\"\npos;\"good\nother, line\"\n;say\n", Options{}},
		{"a.csv", "nr;b;c\n1,5;pos;Good fine\n2,5;neg;bad\n3;pos;good other line\n4;;say\n",
			Options{FormatOptions: FormatOptions{LabelColumn: "b", TextColumn: "c"}}},
		{"a.csv", "Good fine,pos\nbad,neg\ngood other line,pos\nsay,-\n",
			Options{FormatOptions: FormatOptions{LabelColumn: "2"}}},
		{"a.dat", "Good fine,1,pos\nbad,2,neg\ngood other line,3,pos\nsay,4,-\n",
			Options{FormatOptions: FormatOptions{LabelColumn: "3", TextColumn: "1", Format: FormatCSV}}},
		{"a.tsv", "text\tlabel\nGood fine\tpos\nbad\tneg\n\"good\tother\nline\"\tpos\nsay\t\n",
			Options{FormatOptions: FormatOptions{LabelColumn: "label"}}},
		{"a.tsv", "pos\tGood fine\nneg\tbad\npos\tgood\tother line\n-\tsay\n", Options{}},
		{"a.jsonl", `{"label":"pos","text":"Good fine"}` + "\n\n" + `{"text":"b\u0061d","label":["neg"]}` + "\n" +
			`{"id":3,"label":"pos","text":"good\nother line"}` + "\n" + `{"label":null,"text":"say"}`, Options{}},
		{"a", `{"y":"pos","t":"Good fine"}` + "\n" + `{"t":"bad","y":"neg"}` + "\n" +
			`{"y":"pos","t":"good other line"}` + "\n" + `{"y":"","t":"say"}`,
			Options{FormatOptions: FormatOptions{LabelColumn: "y", TextColumn: "t"}}},
	} {
		got := show(texts(t, c.file, c.content, c.opt))
		if got = strings.Replace(got, "bad:2", "bad:1", 1); got != want {
			t.Errorf("%s %q: read\n%swant\n%s", c.file, c.content, got, want)
		}
	}
	one := show(texts(t, "a.csv", "good; fine\nbad; worse\n", Options{})) // no header, so one column of texts
	if want := " fine:1 good:1\n bad:1 worse:1\n"; one != want {
		t.Errorf("one column: read\n%swant\n%s", one, want)
	}
	lines := show(texts(t, "a.txt", "Good fine\n\nbad\r\n", Options{}))
	if want := " fine:1 good:1\n bad:1\n"; lines != want {
		t.Errorf("lines: read\n%swant\n%s", lines, want)
	}
	numbers := texts(t, "a.jsonl", `{"target":1.0,"text":"a"}`+"\n"+`{"target":true,"text":"b"}`, Options{})
	if want := []string{"1", "true"}; !slices.Equal(numbers.Classes, want) {
		t.Errorf("classes %q, expected %q", numbers.Classes, want)
	}
	none := texts(t, "a.jsonl", `{"label":"-","text":"a"}`+"\n"+`{"label":["-"],"text":"b"}`, Options{})
	if len(none.Classes) > 0 {
		t.Errorf("classes %q, expected none by -", none.Classes)
	}
	// Labels contain no line breaks, because prediction files have one label per line.
	for file, content := range map[string]string{
		"a.csv": "label,text\n\"sport\r\n news\",a\n\"sport news\",b\nx,c\n",
		"a.jsonl": `{"label":"sport\n\tnews","text":"a"}` + "\n" + `{"label":"sport\u2028news","text":"b"}` + "\n" +
			`{"label":["x"],"text":"c"}`,
	} {
		broken := texts(t, file, content, Options{})
		if want := []string{"sport news", "x"}; !slices.Equal(broken.Classes, want) {
			t.Errorf("%s: classes %q, expected %q", file, broken.Classes, want)
		}
	}
}

// Objects and tables name documents if every document has a name and names are distinct, unless the
// column is the text, the label or a column of a view.
func TestNamesOfObjects(t *testing.T) {
	const two = `{"name":"d/1.txt","label":"a","text":"x"}` + "\n" + `{"name":"2\tb","label":"b","text":"x"}`
	const table = "Name,label,text\nd/1.txt,a,x\n\"2\tb\",b,x\n"
	columns := Options{Tokenizer: Tokenizer{Views: "name=words"}}
	for _, c := range []struct {
		content string
		opt     Options
		want    []string
	}{
		{two, Options{}, []string{"d/1.txt", "2 b"}},
		{"[" + strings.Replace(two, "\n", ",\n", 1) + "]", Options{}, []string{"d/1.txt", "2 b"}},
		{two + "\n" + `{"name":"2 b","text":"x"}`, Options{}, nil},
		{two + "\n" + `{"text":"x"}`, Options{}, nil},
		{two + "\n" + `{"text":"x","name":3}`, Options{}, []string{"d/1.txt", "2 b", "3"}},
		{two, Options{FormatOptions: FormatOptions{LabelColumn: "Name"}}, nil},
		{two, Options{FormatOptions: FormatOptions{TextColumn: "name"}}, nil},
		{two, columns, nil},
		{table, Options{}, []string{"d/1.txt", "2 b"}},
		{table + "2 b,a,x\n", Options{}, nil},
		{table + ",a,x\n", Options{}, nil},
		{table, Options{FormatOptions: FormatOptions{LabelColumn: "Name"}}, nil},
		{table, Options{FormatOptions: FormatOptions{TextColumn: "name"}}, nil},
		{table, columns, nil},
		{"name,text\na,x\nb,y\n", Options{}, nil}, // the other of two columns is the label
	} {
		file := "a.jsonl"
		if strings.Contains(c.content, "\na,") || strings.HasPrefix(c.content, table) {
			file = "a.csv"
		}
		if got := texts(t, file, c.content, c.opt).Names; !slices.Equal(got, c.want) {
			t.Errorf("%s: names %q, expected %q", c.content, got, c.want)
		}
	}
}

// A label file replaces the labels of texts and vectors, with one line per document.
func TestLabelsFile(t *testing.T) {
	labels := writeFile(t, "labels", "1.0\n\n-\n1,2\n")
	c := readWhole(t, writeFile(t, "a.svm", "7 1:1\n8 1:1\n9 1:1\n7 1:1\n"), Options{Labels: labels})
	if got, want := show(c), "1 1:1\n 1:1\n 1:1\n1,2 1:1\n"; got != want {
		t.Errorf("read\n%swant\n%s", got, want)
	}
	for n, want := range map[int]string{3: ":4: another line", 5: ":5: the end of the file"} {
		file := writeFile(t, "a.svm", strings.Repeat("7 1:1\n", n))
		musttest.WantError(Read(context.Background(), file, Options{Labels: labels}))(t, fmt.Sprintf("%d documents", n), want)
	}
}

// Warnings report suspicious input, with an option that corrects it.
func TestSuspicions(t *testing.T) {
	for _, c := range []struct{ content, want string }{
		{"c\tstarter\na\tbrakes\nb\tsparks\na\tdiscs\n", ""},
		{"3.5\tx\n1\tthe brakes are worn\n2\tit won't start\n1\tpads and discs\n", ""}, // the label is a number
		{"label\ttext\na\tx\nb\ty\na\tz\n", `the first line, "label" and "text", looks like a header, but is read as a ` +
			"document (-LabelColumn label reads it as a header)"},
		{"one long text here\ta\nsome other text\tb\nwords and words\ta\nmore of them\tb\nand more\ta\n",
			"document alone in its class, like most of the 5 documents (-LabelColumn sets the label column by name or number)"},
		{"a\tx y z\nb\tx y\nc\tz y\nd\tw z\ne\tx x\n",
			"document alone in its class, like most of the 5 documents (-LabelColumn sets the label column by name or number)"},
		{"a\tx y z\nb\tx y\na\tz y\nb\tw z\nc\tx x\n", ""},
	} {
		var got []string
		for _, w := range texts(t, "a.tsv", c.content, Options{}).Warnings {
			if w.Option != "" {
				got = append(got, w.Describe(func(field string) string { return "-" + field }))
			}
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%q: warnings %q, expected %q", c.content, got, c.want)
		}
	}
	lines := ""
	for _, label := range "abcde" {
		lines += fmt.Sprintf(`{"label":"%c","text":"x y"}`+"\n", label)
	}
	if w := texts(t, "a.jsonl", lines, Options{}).Warnings; len(w) != 1 || w[0].Option != "LabelColumn" {
		t.Errorf("JSON lines: warnings %v, want one that names LabelColumn", w)
	}
	c := texts(t, "a.csv", "id,text,group\n1,a c,b d\n", Options{})
	if len(c.Warnings) != 1 || c.Warnings[0].Message != "no column of labels: id, text, group" {
		t.Errorf("warnings %v", c.Warnings)
	}
}

// Text is the same in any encoding. Invalid bytes separate terms and are counted.
func TestEncodings(t *testing.T) {
	const content = "a\tcafé Ärger\nb\tnaïve\n"
	want := show(texts(t, "a.tsv", content, Options{}))
	encode := func(s string, err error) string {
		musttest.NoError(t, err)
		return s
	}
	latin := encode(charmap.ISO8859_1.NewEncoder().String(content))
	utf16 := encode(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(content))
	big := encode(unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder().String(content))
	for name, c := range map[string]struct{ content, encoding string }{
		"mark": {"\xef\xbb\xbf" + content, ""}, "latin-1": {latin, "Latin-1"}, "1252": {latin, "windows-1252"},
		"utf-16 auto": {utf16, ""}, "utf-16 big": {big, "auto"}, "utf-16": {utf16, "utf-16"}, "gzip": {gzipped(utf16), ""},
	} {
		if got := show(texts(t, "a.tsv", c.content, Options{FormatOptions: FormatOptions{Encoding: c.encoding},
			Strict: true})); got != want {
			t.Errorf("%s: read\n%swant\n%s", name, got, want)
		}
	}
	c := texts(t, "a.tsv", latin, Options{})
	if got, want := show(c), "a caf:1 rger:1\nb na:1 ve:1\n"; got != want {
		t.Errorf("read\n%swant\n%s", got, want)
	}
	const warning = "invalid byte, read as a separator (3, first a.tsv:1)\n"
	if got := showWarnings(c, filepath.Dir(c.Source)); got != warning {
		t.Errorf("warnings %q, expected %q", got, warning)
	}
	musttest.WantError(Read(context.Background(), c.Source, Options{FormatOptions: FormatOptions{Encoding: "utf-9"}}))(t,
		"an unknown encoding")
}

// A stream gives the same corpus as a file, and cancellation doesn't wait for the stream.
func TestReadFrom(t *testing.T) {
	for _, content := range []string{"a\tx y\nb\tz\n", "1 1:2\n", "label,text\na,\"x\n\"\n", gzipped("a\tx\n")} {
		name, opt := "a", Options{MinDF: 1}
		if strings.Contains(content, ",") {
			name = "a.csv"
		}
		file := writeFile(t, name, content)
		want := readWhole(t, file, opt)
		parts := io.MultiReader(strings.NewReader(content[:1]), strings.NewReader(content[1:]))
		got, err := ReadFrom(context.Background(), parts, file, opt)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, %v, expected %v", content, got, err, want)
		}
		fifo := filepath.Join(t.TempDir(), name)
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Skip(err)
		}
		go os.WriteFile(fifo, []byte(content), 0o600)
		if c := readWhole(t, fifo, opt); c.Digest() != want.Digest() {
			t.Errorf("%q: another corpus from a FIFO", content)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	blocked, _ := io.Pipe()
	musttest.WantError(ReadFrom(ctx, blocked, "-", Options{}))(t, "a stream that blocks", context.DeadlineExceeded)
	bad := errors.New("bad")
	r := io.MultiReader(strings.NewReader("a\tb\n"), failing{bad})
	musttest.WantError(ReadFrom(context.Background(), r, "-", Options{}))(t, "a stream that fails", bad)
	musttest.WantError(ReadFrom(context.Background(), nil, "-", Options{}))(t, "no reader")
	folder := Options{FormatOptions: FormatOptions{Format: FormatFolder}}
	musttest.WantError(ReadFrom(context.Background(), strings.NewReader(""), "-", folder))(t, "a stream as a folder")
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// Texts in memory give the same corpus as a file, for any tokenizer.
func TestFromTexts(t *testing.T) {
	tokenizer := musttest.Get(ParseTokenizer("word:ngrams=1..2,digits"))(t)
	opt := Options{MinDF: 1, Tokenizer: tokenizer}
	want := texts(t, "a.tsv", "a\tx y 2nd\nb,c\tz\n-\ty\n", opt)
	for _, opt.Workers = range []int{1, 3} {
		c, err := FromTexts(context.Background(), []string{"x y 2nd", "z", "y"}, []string{"a", "b,c", ""}, opt)
		if err != nil || c.Digest() != want.Digest() || c.Tokenizer != tokenizer || want.Tokenizer != tokenizer {
			t.Errorf("%v, %v, expected %v", c, err, want)
		}
	}
	c, err := FromTexts(context.Background(), []string{"x\xff", "\ny"}, nil, Options{MinDF: 1})
	if err != nil || show(c) != " x:1\n y:1\n" || len(c.Warnings) != 1 || c.Warnings[0].First != "text 0" {
		t.Errorf("%v, %v", c, err)
	}
	for call, f := range map[string]func() (*Corpus, error){
		"no texts": func() (*Corpus, error) { return FromTexts(context.Background(), nil, nil, Options{}) },
		"too few labels": func() (*Corpus, error) {
			return FromTexts(context.Background(), []string{"a"}, []string{}, Options{})
		},
		"a bad label": func() (*Corpus, error) {
			return FromTexts(context.Background(), []string{"a"}, []string{"a,"}, Options{})
		},
		"a bad byte": func() (*Corpus, error) {
			return FromTexts(context.Background(), []string{"\xff"}, nil, Options{Strict: true})
		},
		"too little memory": func() (*Corpus, error) {
			return FromTexts(context.Background(), []string{"a b"}, nil, Options{MemoryBytes: 50})
		},
	} {
		if c, err := f(); err == nil || c != nil {
			t.Errorf("%s: %v, %v", call, c, err)
		}
	}
}

func FuzzReadCSV(f *testing.F) {
	fuzzReader(f, readCSV, Options{}, "label,text\na,\"b\nc\"\n", "a,b\n\nc,d\"e\n", "text\nx", "a,b,label,text\n", "\"",
		"a\tb\r\n", ",\n,", "label;text\na;\"b;\nc\"\n", "a\tb,c\nd\t\"e\tf\"\n", "label, \"text\"\na, \"b,\nc\"\n",
		"a,b,class\n1,2.5,x\nNA,-1e3,y\n",
		",text ,00\n", "topic;\"a\"\nx;1\ny;?\n", "\"a\", \"b\", \"class\"\n1, \"2\", \"x\"\n")
}

func FuzzReadJSONL(f *testing.F) {
	fuzzReader(f, readJSONL, Options{}, `{"label":"a","text":"b"}`+"\n\n"+`{"text":"","class":[1,true]}`,
		"{}", "{\"text\":\"\\ud800\"}", "[", "[{\"text\":\"a]\"},\n {\"Text\":\"b\"}]", "[{\"text\":\"a\"},", "[{]}")
}

func FuzzReadLines(f *testing.F) {
	fuzzReader(f, readLines, Options{}, "some text\n\nmore\xff\r\n", "\x00")
}

// Texts in any encoding are read or give a SyntaxError.
func FuzzEncodings(f *testing.F) {
	f.Add([]byte("\xff\xfea\x00\t\x00b\x00\n"), "")
	f.Add([]byte("a\t\x82\xa0"), "shift_jis")
	f.Fuzz(func(t *testing.T, data []byte, encoding string) {
		opt := Options{FormatOptions: FormatOptions{Encoding: encoding, Format: FormatTSV}, MinDF: 1, MaxLineBytes: 1000}
		c, err := ReadFrom(context.Background(), bytes.NewReader(data), "fuzz", opt)
		if err == nil {
			checkCorpus(t, c)
		}
		opt.Strict = true
		if _, strict := ReadFrom(context.Background(), bytes.NewReader(data), "fuzz", opt); strict == nil && err != nil {
			t.Fatalf("strict takes what is refused: %v", err)
		}
	})
}

// FuzzRecordEnds checks that records of a file in pieces equal records of encoding/csv.
func FuzzRecordEnds(f *testing.F) {
	for _, s := range []string{"a,\"b\nc\"\nd,e\n", "a,b\"\nc,\"d\"\"\n\"\n", "\"a\"\r\n\"b\"\rc\n\"\n", "\"a\"x\n\",\n"} {
		f.Add([]byte(s), 1)
	}
	f.Add([]byte(" \"a\nb\", \"c\"\n"), 2)
	f.Add([]byte("\u00a0\"a\nb\",\u3000\"c\nd\"\n\xe2\x80\"a\n"), 5)
	f.Fuzz(func(t *testing.T, data []byte, size int) {
		// encoding/csv reads a carriage return at the very end as part of a line end.
		data = append(bytes.TrimRight(data, "\r"), '\n')
		separator := byte(',')
		if size%2 != 0 {
			separator = '\t'
		}
		csv := csv.NewReader(bytes.NewReader(data))
		csv.Comma, csv.LazyQuotes, csv.FieldsPerRecord, csv.TrimLeadingSpace = rune(separator), true, -1, size%2 == 0
		want := musttest.Get(csv.ReadAll())(t)
		in := &input{r: bufio.NewReaderSize(bytes.NewReader(data), 16), line: 1, quotedSeparator: separator}
		cutter := blockReader{in: in, maxLine: 1 << 20}
		var got [][]string
		for {
			b, err := cutter.next(context.Background(), make([]byte, 0, 1+int(uint(size)%32)))
			if err != nil && err != io.EOF {
				var syntax *SyntaxError
				if !errors.As(err, &syntax) || syntax.Line < 1 {
					t.Fatal(err)
				}
				return
			}
			for r := (records{text: string(b), separator: separator}); r.next(); {
				got = append(got, slices.Clone(r.fields))
			}
			if err == io.EOF {
				break
			}
		}
		if !reflect.DeepEqual(got, want) && len(got)+len(want) > 0 {
			t.Fatalf("%q: records %q, expected %q", data, got, want)
		}
	})
}

// Repeated names are found in any order.
func TestDistinct(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  bool
	}{
		{nil, true}, {[]string{"9", "10", "11"}, true}, {[]string{"9", "10", "10"}, false}, {[]string{"b", "a", "c"}, true},
		{[]string{"b", "a", "b"}, false}, {[]string{"", ""}, false},
	} {
		if got := allDistinct(c.names); got != c.want {
			t.Errorf("%q: %v", c.names, got)
		}
	}
}
