package corpus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
)

// TestBadInput checks each message exactly: it must contain the file, the line, the invalid input
// and the expected input.
func TestBadInput(t *testing.T) {
	const (
		finite  = "a finite number"
		utf8    = "UTF-8 text (Options.Encoding sets another encoding, such as windows-1252)"
		label   = expectedLabel
		counted = "a nonnegative value (Options.Signed accepts negative values)"
		shorter = "shorter lines (Options.MaxLineBytes raises the limit, within the memory limit)"
	)
	for _, test := range []struct {
		file, content string
		opt           Options
		found, want   string // "line: found", and expected
	}{
		{"empty", "", Options{}, ": an empty file", "documents"},
		{"empty.gz", gzipped(""), Options{}, ": an empty file", "documents"},
		{"a.svm", "\n# a\n", Options{}, ": no documents", "lines label index:value ..."},
		{"a.tsv", "a\tx\n\t\n", Options{}, `:2: label ""`, label},
		{"a.tsv", "\n \n", Options{}, ": no documents", "lines label<TAB>text"},
		{"a.dat", "\nhello world\n", Options{}, `:2: "hello world"`,
			"label index:value ..., label<TAB>text, or JSON objects " +
				"(Options.Format lines reads it as texts without labels, csv as a table)"},

		{"a.svm", "1 1:1\n2 9:1 7:1\n", Options{}, ":2: index 7 is not above 9", "ascending indices"},
		{"a.svm", "1 1:1 1:1\n", Options{}, ":1: index 1 is not above 1", "ascending indices"},
		{"a.svm", "1 4294967295:1\n", Options{}, ":1: index 4294967295", "an index up to 4294967294"},
		{"a.svm", "1 18446744073709551617:1\n", Options{}, ":1: index 18446744073709551617", "an index up to 4294967294"},
		{"a.svm", "1 -3:1\n", Options{}, ":1: index -3", "a nonnegative index"},
		{"a.svm", "1 1:nan\n", Options{}, `:1: index 1: value "nan"`, finite},
		{"a.svm", "1 1:-Inf\n", Options{}, ":1: index 1: value \"-Inf\"", finite},
		{"a.svm", "1 1:1e39\n", Options{}, `:1: index 1: value "1e39" is beyond float32`, finite},
		{"a.svm", "1 1:0x10\n", Options{}, `:1: index 1: value "0x10"`, finite},
		{"a.svm", "1 1:1.2.3\n", Options{}, `:1: index 1: value "1.2.3"`, finite},
		{"a.svm", "1 1: 2\n", Options{}, `:1: index 1: value ""`, finite},
		{"a.svm", "1 1:2 2:-0.5\n", Options{}, ":1: index 2: negative value -0.5", counted},
		{"a.svm", "1 1:2 x\n", Options{}, `:1: "x" has no colon`, "index:value"},
		{"a.svm", "1 1:2 12\n", Options{}, `:1: "12" has no colon`, "index:value"},
		{"a.svm", "1 x:2\n", Options{}, `:1: "x:2"`, "index:value"},
		{"a.svm", "1 1:2 qid:3\n", Options{}, `:1: "qid:3"`, "index:value"},
		{"a.svm", "1:2 2:3\n", Options{}, `:1: "1:2" instead of a label`,
			"label index:value ... (a line without a label must start with a space)"},
		{"a.svm", "1,,2 1:1\n", Options{}, `:1: label "1,,2"`, label},
		{"a.svm", "1,1 1:1\n", Options{}, `:1: duplicate label "1"`, "distinct labels in each document"},
		{"a.svm", "\xff 1:1\n", Options{}, `:1: label "\xff" is not UTF-8`,
			"UTF-8 (Options.Encoding sets the encoding, such as windows-1252)"},
		{"a.svm", "1 1:1\n2 2:2 3:3\n", Options{MaxLineBytes: 8}, ":2: a line of more than 8 B", shorter},
		{"a.svm", "1 " + strings.Repeat("x", 100), Options{}, `:1: "` + strings.Repeat("x", 40) + `"... has no colon`,
			"index:value"},

		{"a.tsv", "a\tb\nno tab here\n", Options{}, `:2: "no tab here" has no TAB`, "label<TAB>text"},
		{"a.tsv", "a\tb\n\tb\n", Options{}, `:2: label ""`, label},
		{"a.tsv", "a\tb\nc\td\xc3\n", Options{Strict: true},
			":2: the invalid byte 0xc3 at position 4 of the line", utf8},
		{"a.tsv", "a\tb\x00", Options{}, ": a NUL byte near the start, as in binary data or UTF-16 without a byte " +
			"order mark", "text (Options.Encoding sets the encoding, such as utf-16)"},
		{"a.tsv", "a\tb\x00", Options{Strict: true}, ":1: a NUL byte at position 4 of the line", utf8},
		{"a.tsv", "\xffa\tb", Options{Strict: true}, ":1: the invalid byte 0xff at position 1 of the line", utf8},
		{"a.tsv", "a\t\x82\xff", Options{FormatOptions: FormatOptions{Encoding: "shift_jis"}, Strict: true},
			":1: a character that is invalid in the encoding at UTF-8 position 3 of the line",
			"text (Options.Encoding sets another encoding, such as windows-1252)"},

		{"a.csv", "id,subject,x\n1,2,3\n", Options{}, `:1: 3 columns, none called label or text: ` +
			`"id, subject, x"`, "the name of the label column (Options.LabelColumn sets the label column by name or number)"},
		{"a.csv", "id,body\n1,2\n", Options{FormatOptions: FormatOptions{LabelColumn: "class"}}, `:1: the columns "id, body"`,
			`a column called "class" (Options.LabelColumn sets the column by name or number)`},
		{"a.csv", "id,body\n1,2\n", Options{FormatOptions: FormatOptions{TextColumn: "3"}}, ":1: 2 columns",
			"a column 3 (Options.TextColumn sets the column by name or number)"},
		{"a.csv", "text,lae, \"\"\na b,c,d\n", Options{FormatOptions: FormatOptions{Columns: "3=text"}},
			":1: column 3 of kind text without a name",
			"a name in the first line (Options.Columns with 3=ignore skips the column)"},
		{"a.csv", "label,text\n1,2\n1,2,3\n", Options{}, ":3: 3 fields", "2 fields as in the first line"},
		{"a.csv", "label,text\na,b\nc,\"d\n\ne\n", Options{}, ":3: an opening quote without a closing quote",
			"a quote at the end of the field"},
		{"a.csv", "label,text\na,a\n\"a,,b\",c\n", Options{}, `:3: label "a,,b"`, label},
		{"a.csv", "text,text,label\na,b,c\n", Options{}, `:1: two columns called "text"`,
			"different names"},
		{"a.csv", "a,b\n", Options{FormatOptions: FormatOptions{LabelColumn: "1", TextColumn: "1"}},
			":1: column 1 as label and as text",
			"a single kind (Options.TextColumn sets the column by name or number)"},
		{"a.csv", "label,text\n", Options{}, ": no documents", "records with a label and a text"},
		{"a.csv", "label,text\na," + strings.Repeat("b", 20) + "\n", Options{MaxLineBytes: 15},
			":2: a line of more than 15 B",
			shorter},
		{"a.jsonl", "{\"text\":\"a\"}\n{\"text\":1}\n", Options{}, `:2: the text "1"`, "a JSON string"},
		{"a.jsonl", "{\"text\":\"a\"\n", Options{}, `:1: "{\"text\":\"a\"": unexpected EOF`,
			"a JSON object in one line"},
		{"a.jsonl", "null\n", Options{}, `:1: "null": null is not an object`, "a JSON object in one line"},
		{"a.jsonl", `{"t":"a"}`, Options{FormatOptions: FormatOptions{TextColumn: "x"}}, `:1: the columns "t"`,
			`a column called "x" (Options.TextColumn sets the column by name or number)`},
		{"a.jsonl", `{"text":"a"}`, Options{FormatOptions: FormatOptions{LabelColumn: "x"}}, `:1: the columns "text"`,
			`a column called "x" (Options.LabelColumn sets the column by name or number)`},
		{"a.jsonl", `{"text":"a","label":{}}`, Options{}, `:1: the label "{}"`,
			"a string, a number, true, false, null, or an array of them"},
		{"a.jsonl", `{"text":"a","label":["x","x"]}`, Options{}, `:1: duplicate label "x"`,
			"distinct labels in each document"},
		{"a.txt", "\n \n", Options{FormatOptions: FormatOptions{Format: FormatLines}}, ": no documents",
			"texts, one per line"},
		{"a.tsv", "a\tb\nc\tdddddd", Options{MaxLineBytes: 7}, ":2: a line of more than 7 B", shorter},

		{"a.gz", gzipped("1 1:1\n2 2:2" + incompressible())[:3000], Options{}, ":2: the gzip data end early",
			"a complete gzip file"},
		{"a.svm.zst", packed("1 1:1\n2 2:2" + incompressible())[:3000], Options{}, ":1: the zstd data end early",
			"a complete zstd file"},
		{"empty.zst", packed(""), Options{}, ": an empty file", "documents"},
		{"a.svm", gzipped("1 1:1\n") + "tail of a file", Options{}, ":2: damaged gzip data, or extra data at the end",
			"an undamaged gzip file"},
		{"a.txt", "\nspam\t1:30\nham\t1:30 meeting\n", Options{}, `:3: "meeting" has no colon`,
			"index:value (the format was guessed: svmlight from line 2; Options.Format sets another format)"},
		{"a.txt", "1\t1:1 2:x\n", Options{}, `:1: index 2: value "x"`, finite +
			" (the format was guessed: svmlight from line 1; Options.Format sets another format)"},
		{"a.txt", "spam\t1:30 meeting\nx\n", Options{}, `:2: "x" has no TAB`,
			"label<TAB>text (the format was guessed: tsv from line 1; Options.Format sets another format)"},
		{"a.svm", flip(gzipped("1 1:1\n"), -5), Options{}, ":2: the gzip checksum does not match",
			"an undamaged gzip file"},
	} {
		t.Run(test.file+test.found, func(t *testing.T) {
			file := writeFile(t, test.file, test.content)
			want := "corpus: " + file + test.found + ", expected " + test.want
			for _, workers := range []int{1, 2, 7} {
				test.opt.Workers = workers
				c, err := Read(context.Background(), file, test.opt)
				var syntax *SyntaxError
				if err == nil || err.Error() != want || c != nil || !errors.As(err, &syntax) {
					t.Fatalf("%d workers: error %v\nwant %s", workers, err, want)
				}
			}
		})
	}
}

// A header that declares more data than the file contains must not cost memory.
func TestHeadersThatLie(t *testing.T) {
	for _, content := range []string{
		idx("\x01\x02", 1<<32-1, 1<<16, 1<<15),
		npy("<f8", "2147483647, 1000", "12345678"),
	} {
		file := writeFile(t, "a", content)
		var err error
		bytes := allocatedBy(func() { _, err = Read(context.Background(), file, Options{Workers: 2}) })
		if err == nil || bytes > 16<<20 {
			t.Errorf("%.20q: %d bytes allocated, error %v", content, bytes, err)
		}
	}
}

// incompressible returns bytes that gzip doesn't shorten, without line ends: one long line.
func incompressible() string {
	b, r := make([]byte, 1<<13), rand.NewPCG(1, 2)
	for i := range b {
		b[i] = byte(r.Uint64()%200) + 40
	}
	return string(b)
}

// flip damages one byte; a negative at counts from the end.
func flip(s string, at int) string {
	b := []byte(s)
	b[len(b)+at] ^= 0xff
	return string(b)
}

// TestBadFile checks that the error names the first bad file of a folder and the line, also if
// another file fails earlier.
func TestBadFile(t *testing.T) {
	good := writeFile(t, "root/a/0", "good")
	root := filepath.Dir(filepath.Dir(good))
	for i := 1; i < 40; i++ {
		content := "good\n"
		if i%10 == 7 {
			content = "good\nbad\xff\n"
		}
		writeInto(t, filepath.Join(root, "a", fmt.Sprintf("%02d", i)), content)
	}
	want := "corpus: " + filepath.Join(root, "a", "07") +
		":2: the invalid byte 0xff at position 4 of the line, expected UTF-8 text " +
		"(Options.Encoding sets another encoding, such as windows-1252)"
	for _, workers := range []int{1, 2, 7} {
		if _, err := Read(context.Background(), root, Options{Workers: workers, Strict: true}); err == nil ||
			err.Error() != want {
			t.Errorf("%d workers: error %v\nwant %s", workers, err, want)
		}
	}
	for _, size := range [][2]int{{1 << 20, 1 << 23}, {1 << 23, 1}} {
		first := writeFile(t, "root/a/0", strings.Repeat("good\n", size[0]/5)+"\xff")
		root := filepath.Dir(filepath.Dir(first))
		writeInto(t, filepath.Join(root, "a", "1"), strings.Repeat("good\n", size[1]/5)+"\xff")
		musttest.WantError(Read(context.Background(), root, Options{Workers: 2, Strict: true}))(t,
			"a file that isn't UTF-8", first)
	}
	_, err := Read(context.Background(), root, Options{MaxLineBytes: 3})
	if want := "corpus: " + good +
		":1: a line of more than 3 B, expected shorter lines " +
		"(Options.MaxLineBytes raises the limit, within the memory limit)"; err == nil ||
		err.Error() != want {
		t.Errorf("error %v\nwant %s", err, want)
	}
}

// TestFirstBadLine checks that the first of many bad lines in many blocks is reported, independent
// of scheduling, and before a damaged end of the file.
func TestFirstBadLine(t *testing.T) {
	lines := strings.SplitAfter(string(svmText(2500, false)), "\n")
	for i := 1500; i < len(lines)-1; i += 7 {
		lines[i] = "bad\tx\n"
	}
	content := strings.Join(lines, "")
	compressed := gzipped(content)
	for name, content := range map[string]string{"a.svm": content, "a.svm.gz": compressed[:len(compressed)-10]} {
		file := writeFile(t, name, content)
		want := "corpus: " + file + `:1501: "x" has no colon, expected index:value`
		for range 5 {
			if _, err := Read(context.Background(), file, Options{Workers: 7}); err == nil || err.Error() != want {
				t.Fatalf("error %v\nwant %s", err, want)
			}
		}
	}
}

// TestLongLine checks that a line of 100 MB gives an error, with memory in proportion to the line
// limit: doubling a buffer up to the limit allocates less than 3 times the limit; other allocations
// are small.
func TestLongLine(t *testing.T) {
	const limit = 4 << 20
	in := &input{name: "long", line: 1, meter: &progressMeter{}}
	musttest.NoError(t, in.decode(io.MultiReader(strings.NewReader("1 1:1\n"),
		io.LimitReader(&repeater{text: strings.Repeat("x", 4096)}, 100<<20)), nil))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	opt := Options{Workers: 1, MaxLineBytes: limit}
	_, err := readTSV(context.Background(), in, &opt, &progressMeter{})
	runtime.ReadMemStats(&after)
	const want = `corpus: long:1: "1 1:1" has no TAB, expected label<TAB>text`
	if err == nil || err.Error() != want {
		t.Errorf("error %v\nwant %s", err, want)
	}

	in.line = 1
	in.decode(io.MultiReader(strings.NewReader("1 1:1\n"),
		io.LimitReader(&repeater{text: strings.Repeat("x", 4096)}, 100<<20)), nil)
	_, err = readSVMLight(context.Background(), in, &opt, &progressMeter{})
	runtime.ReadMemStats(&after)
	if want := "corpus: long:2: a line of more than " + run.FormatBytes(limit) +
		", expected shorter lines (Options.MaxLineBytes raises the limit, within the memory limit)"; err == nil ||
		err.Error() != want {
		t.Errorf("error %v\nwant %s", err, want)
	}
	// The limit is for both readers together, because the first may read as far as the second.
	if got := after.TotalAlloc - before.TotalAlloc; got > 2*3*limit+16*blockBytes {
		t.Errorf("%d bytes allocated for lines of at most %d", got, limit)
	}
}

// repeater is an endless stream that repeats a text.
type repeater struct {
	text string
	at   int
}

func (r *repeater) Read(p []byte) (int, error) {
	for n := 0; n < len(p); {
		m := copy(p[n:], r.text[r.at:])
		n += m
		r.at = (r.at + m) % len(r.text)
	}
	return len(p), nil
}
