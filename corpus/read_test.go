package corpus

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/gramengine/gram/internal/musttest"
)

// writeFile writes a file in a temporary folder, and returns its path.
func writeFile(t testing.TB, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), filepath.FromSlash(name))
	writeInto(t, file, content)
	return file
}

func gzipped(content string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(content))
	w.Close()
	return b.String()
}

// packed compresses a text with zstd.
func packed(content string) string {
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b)
	if err != nil {
		panic(err)
	}
	w.Write([]byte(content))
	w.Close()
	return b.String()
}

// TestCompressed reads compressed files; the name without the suffix determines the format.
func TestCompressed(t *testing.T) {
	for name, content := range map[string]string{
		"a.svm": "1 1:2 3:4\n2 1:1\n", "a.tsv": "x\ta b a\ny\tb a\n", "a.csv": "label,text\nx,a b\ny,b a\n",
	} {
		want := musttest.Get(Read(context.Background(), writeFile(t, name, content), Options{}))(t)
		for suffix, data := range map[string]string{
			".gz": gzipped(content), ".zst": packed(content), ".ZST": packed(content),
		} {
			got, err := Read(context.Background(), writeFile(t, name+suffix, data), Options{})
			if err != nil || got.Format != want.Format || show(got) != show(want) {
				t.Errorf("%s%s: %v, expected what %s has", name, suffix, err, name)
			}
		}
	}
}

// show formats a corpus as text, one line per document, with terms as words if there is a
// vocabulary.
func show(c *Corpus) string {
	var b strings.Builder
	for i := range c.Documents.Rows() {
		for k, id := range c.Labels.Classes(i) {
			if k > 0 {
				b.WriteByte(',')
			}
			b.WriteString(c.Classes[id])
		}
		terms, values := c.Documents.Row(i)
		for k, t := range terms {
			if c.Vocabulary != nil {
				fmt.Fprintf(&b, " %s:%v", c.Vocabulary[t], values[k])
			} else {
				name, _ := strings.CutPrefix(c.TermName(t), "index ") // as in the file
				name, _ = strings.CutPrefix(name, "column ")
				fmt.Fprintf(&b, " %s:%v", name, values[k])
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// showWarnings formats warnings as text, one per line, without the folder.
func showWarnings(c *Corpus, folder string) string {
	var b strings.Builder
	for _, w := range c.Warnings {
		fmt.Fprintf(&b, "%s (%d, first %s)\n", w.Message, w.Count,
			strings.ReplaceAll(w.First, folder+string(filepath.Separator), ""))
	}
	return b.String()
}

func TestReadFiles(t *testing.T) {
	const smallText = "b\tto be or not to be\r\na,b\tNot Ünïcode, ÜNÏCODE!\n-\tto be\n"
	for _, test := range []struct {
		name, file, content string
		opt                 Options
		cols                int
		want, warnings      string
	}{
		{name: "svmlight", file: "a.svm", cols: 10,
			content: "+1.0 1:2 10:0.5 # a comment: 3\n# nothing here\n-1\t2:1e-1\t \n1,3 4:2\r\n 7:1 8:1\n- 1:1",
			want:    "1 1:2 10:0.5\n-1 2:0.1\n1,3 4:2\n 7:1 8:1\n 1:1\n"},
		{name: "svmlight with index 0, qid, blank and empty lines", file: "a.libsvm", cols: 4,
			opt:     Options{FormatOptions: FormatOptions{ZeroBased: "true"}},
			content: "1 qid:3 0:1 3:2\n\n2 qid:3\n \n2 # none\n",
			want:    "1 0:1 3:2\n2\n2\n",
			warnings: "blank line, skipped (2, first a.libsvm:2)\nqid, ignored (2, first a.libsvm:1)\n" +
				"document without terms, kept as an empty row (2, first a.libsvm:3)\n"},
		{name: "svmlight told by content", file: "data", cols: 5, content: "# made by hand\n3.25 5:1\n",
			want: "3.25 5:1\n"},
		{name: "svmlight with signs", file: "a.svm", cols: 2, opt: Options{Signed: true}, content: "1 1:-2 2:-0\n",
			want: "1 1:-2 2:0\n"},
		{name: "svmlight with numbers that float32 rounds", file: "a.svm", cols: 2, opt: Options{Signed: true},
			content:  "1 1:16777215\n1 1:1 2:16777217\n2 1:-16777217 2:1e30\n",
			want:     "1 1:1.6777215e+07\n1 1:1 2:1.6777216e+07\n2 1:-1.6777216e+07 2:1e+30\n",
			warnings: "value beyond ±16,777,215, rounded to float32 (3, first a.svm:2)\n"},
		{name: "svmlight with frequency limits", file: "a.svm", cols: 3, opt: Options{MinDF: 2, MaxDF: 2},
			content:  "1 1:1 2:1 3:1\n1 2:1 3:1\n2 2:0 3:1\n",
			want:     "1 2:1\n1 2:1\n2 2:0\n",
			warnings: "document without terms, kept as an empty row (1, first a.svm:3)\n"},
		{name: "svmlight with frequency limits and a far column", file: "a.svm", cols: 4294967294,
			opt: Options{MinDF: 2}, content: "1 1:1 4294967294:1\n1 4294967294:1\n",
			want: "1 4294967294:1\n1 4294967294:1\n"},
		{name: "svmlight with a vocabulary", file: "a.svm", cols: 3,
			opt: Options{Vocabulary: []string{"x", "y", "z"}}, content: "1 1:1 3:1 4:1\n",
			want: "1 x:1 z:1\n", warnings: "value in a column beyond the vocabulary, ignored (1, first a.svm:1)\n"},
		{name: "tsv", file: "a.tsv", cols: 3, content: smallText,
			want: "b be:2 not:1 to:2\na,b not:1\n be:1 to:1\n"},
		{name: "tsv with every word", file: "a.tsv", cols: 5, opt: Options{MinDF: 1}, content: smallText,
			want: "b be:2 not:1 or:1 to:2\na,b not:1 ünïcode:2\n be:1 to:1\n"},
		{name: "tsv with frequent words left out", file: "a.tsv", cols: 2, opt: Options{MinDF: 1, MaxDF: 1},
			content:  smallText,
			want:     "b or:1\na,b ünïcode:2\n\n",
			warnings: "document without terms, kept as an empty row (1, first a.tsv:3)\n"},
		{name: "tsv with a vocabulary", file: "a.tsv", cols: 2, opt: Options{Vocabulary: []string{"to", "be"}},
			content: smallText,
			want:    "b to:2 be:2\na,b\n to:1 be:1\n",
			warnings: "word outside the vocabulary, ignored (5, first a.tsv:1)\n" +
				"document without terms, kept as an empty row (1, first a.tsv:2)\n"},
		{name: "tsv told by content, gzipped, with a byte order mark and blank lines", file: "text", cols: 1,
			opt:     Options{MinDF: 1},
			content: gzipped("\xef\xbb\xbfa\tx\tx\n\n \n-\t\n"), want: "a x:2\n\n",
			warnings: "blank line, skipped (2, first text:2)\n" +
				"document without terms, kept as an empty row (1, first text:4)\n"},
		{name: "tsv told by content that begins like a vector", file: "a.txt", cols: 1, opt: Options{MinDF: 1},
			content: "spam\t1:30 meeting\n", want: "spam meeting:1\n"},
		{name: "svmlight with TABs and a comment", file: "a.txt", cols: 2, content: "1\t1:1\t2:2 # x y\n",
			want: "1 1:1 2:2\n"},
		{name: "gzip of two parts", file: "a.svm.gz", cols: 1, content: gzipped("1 1:1\n2 1") + gzipped(":2\n"),
			want: "1 1:1\n2 1:2\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := writeFile(t, test.file, test.content)
			c := readWhole(t, file, test.opt)
			if got := show(c); got != test.want {
				t.Errorf("read\n%swant\n%s", got, test.want)
			}
			if got := showWarnings(c, filepath.Dir(file)); got != test.warnings {
				t.Errorf("warnings\n%swant\n%s", got, test.warnings)
			}
			if c.Documents.Cols != test.cols {
				t.Errorf("%d columns, want %d", c.Documents.Cols, test.cols)
			}
			if c.Source != file {
				t.Errorf("source %q, want %q", c.Source, file)
			}
		})
	}
}

// A folder has a sub-folder per class and a file per document. Files without sub-folders are
// documents without a class, such as for prediction. Binary files are skipped.
func TestReadFolder(t *testing.T) {
	for _, c := range []struct {
		files                 map[string]string
		opt                   Options
		want, names, warnings string
	}{
		{map[string]string{
			"pets/dog.txt": "Dogs bark.", "pets/cats/cat.txt": gzipped("cats, and dogs"), "cars/b.txt": "cars and\ncars",
			"cars/a.txt": "", "cars/.hidden": "\xff", ".git/config": "\xff", "README": "not a document",
			"empty/.placeholder": "",
		}, Options{}, "cars\ncars and:1\npets and:1 dogs:1\npets dogs:1\n",
			"cars/a.txt cars/b.txt pets/cats/cat.txt pets/dog.txt",
			"hidden file or folder, skipped (3, first .git)\n" +
				"file outside the class folders, skipped (1, first README)\n" +
				"document without terms, kept as an empty row (1, first cars/a.txt)\n"},
		{map[string]string{"b.txt": "cats", "a.txt": "dogs and cats", ".c": "hidden", "empty/.d": ""}, Options{MinDF: 1},
			" and:1 cats:1 dogs:1\n cats:1\n", "a.txt b.txt",
			"hidden file or folder, skipped (2, first .c)\n" +
				"file outside a class folder, read as a document without a class (2, first a.txt)\n"},
		{map[string]string{"a/1": "words", "a/2.png": "\x89PNG\x00\x01 words", "b/3": "words wor\xe9ds"}, Options{},
			"a words:1\nb words:1\n", "a/1 b/3",
			"binary file, skipped (1, first a/2.png)\n" +
				"invalid byte, read as a separator (1, first b/3)\n"},
	} {
		root := t.TempDir()
		for name, content := range c.files {
			writeInto(t, filepath.Join(root, filepath.FromSlash(name)), content)
		}
		read := readWhole(t, root, c.opt)
		if got, names := show(read), strings.Join(read.Names, " "); got != c.want || names != c.names {
			t.Errorf("read %s\n%swant %s\n%s", names, got, c.names, c.want)
		}
		if got := filepath.ToSlash(showWarnings(read, root)); got != c.warnings {
			t.Errorf("warnings\n%swant\n%s", got, c.warnings)
		}
		_, err := Read(t.Context(), root, Options{Strict: true})
		if _, binary := c.files["a/2.png"]; binary && (err == nil ||
			!strings.Contains(err.Error(), "2.png:1: the invalid byte 0x89")) {
			t.Errorf("strict: %v", err)
		}
	}
	only := writeFile(t, "root/a/1", "\x00")
	musttest.WantError(Read(t.Context(), filepath.Dir(filepath.Dir(only)), Options{}))(t,
		"binary data alone", "only binary files")
}

// TestLinks reads a linked root and linked files, and skips a link to a folder.
func TestLinks(t *testing.T) {
	root := t.TempDir()
	target := filepath.Join(root, "target", "class")
	writeInto(t, filepath.Join(target, "a"), "x y")
	for link, to := range map[string]string{"root": "target", "target/class/b": "a", "target/other": "class"} {
		if err := os.Symlink(to, filepath.Join(root, filepath.FromSlash(link))); err != nil {
			t.Skip("no links here: ", err)
		}
	}
	c := readWhole(t, filepath.Join(root, "root"), Options{})
	if got, want := show(c), "class x:1 y:1\nclass x:1 y:1\n"; got != want {
		t.Errorf("read\n%swant\n%s", got, want)
	}
	const other = "link to a folder or special file, skipped (1, first other)\n"
	if got, want := showWarnings(c, filepath.Join(root, "root")), other; got != want {
		t.Errorf("warnings\n%swant\n%s", got, want)
	}
}

// TestGorootLenient reads a made-up Go installation with some files that aren't UTF-8, and the
// fallback for a missing installation.
func TestGorootLenient(t *testing.T) {
	root := filepath.Dir(filepath.Dir(writeFile(t, "goroot/src/print.go", "outside")))
	for name, content := range map[string]string{
		"fmt/print.go": "package fmt", "go/a.go": "package\xffgo", "go/.b.go": "package go", "go/c.txt": "text",
		"fmt/testdata/x.go": "package\x00fmt",
	} {
		file := filepath.Join(root, "src", filepath.FromSlash(name))
		writeInto(t, file, content)
	}
	t.Setenv("GOROOT", root)
	c := readWhole(t, "goroot", Options{})
	rows := strings.Repeat("fmt fmt:1 package:1\n", 2) + strings.Repeat("go go:1 package:1\n", 2)
	if got, want := show(c), rows; got != want {
		t.Errorf("read\n%swant\n%s", got, want)
	}
	want := "file outside the class folders, skipped (1, first print.go)\n" +
		"invalid byte, read as a separator (2, first " +
		filepath.Join("fmt", "testdata", "x.go") + ")\n"
	if got := showWarnings(c, filepath.Join(root, "src")); got != want {
		t.Errorf("warnings\n%swant\n%s", got, want)
	}

	t.Setenv("GOROOT", t.TempDir())
	if got := findGoroot(t.Context()); got == "" || got == os.Getenv("GOROOT") {
		t.Errorf("found an installation in %q, expected the go command's", got)
	}
	musttest.WantError(readGoroot(context.Background(), "", &Options{Workers: 2}, &progressMeter{}))(t,
		"without an installation", "no Go installation")
}

// TestWorkers checks that corpus and warnings are the same for any number of workers, with files of
// many blocks.
func TestWorkers(t *testing.T) {
	svm := string(svmText(3000, true)) + "\n5\n"
	var tsv strings.Builder
	tsv.WriteString("\n")
	for i := range 4000 {
		fmt.Fprintf(&tsv, "c%d,all\t%s été 犬がいる\n", i%7,
			strings.Repeat(strings.Map(func(r rune) rune { return 'a' + (r*7+rune(i))%26 }, "Some words "), i%97))
	}
	folder := t.TempDir()
	for i := range 60 {
		writeInto(t, filepath.Join(folder, fmt.Sprint("class", i%4), fmt.Sprint(i)),
			strings.ToValidUTF8(tsv.String()[i*1000:i*3000+1], ""))
	}
	for _, source := range []string{
		writeFile(t, "a.svm", svm), writeFile(t, "a.tsv", tsv.String()),
		writeFile(t, "a.tsv.gz", gzipped(tsv.String())), folder,
		"synthetic:docs=3000,terms=500,length=40,classes=3",
	} {
		t.Run(filepath.Base(source), func(t *testing.T) {
			opt := Options{Workers: 1}
			if strings.HasPrefix(source, "synthetic") {
				opt.Vocabulary = []string{"t007", "t000", "no such term"}
			}
			want := readWhole(t, source, opt)
			for _, workers := range []int{2, 7} {
				opt.Workers = workers
				got := readWhole(t, source, opt)
				if !reflect.DeepEqual(got, want) || got.Digest() != want.Digest() {
					t.Errorf("%d workers read something else than 1", workers)
				}
			}
			if want.Documents.Rows() < 60 || want.Documents.NNZ() < 100 {
				t.Errorf("%d documents, %d values: the test is void", want.Documents.Rows(), want.Documents.NNZ())
			}
		})
	}
}

// TestBlocks writes and reads a file of many blocks, and compares.
func TestBlocks(t *testing.T) {
	var content, want strings.Builder
	for i := range 200000 {
		fmt.Fprintf(&content, "%d %d:%d\n", i%3, i%1000+1, i)
		fmt.Fprintf(&want, "%d %d:%v\n", i%3, i%1000+1, float32(i))
	}
	if content.Len() < 3*blockBytes {
		t.Fatal("the file is too short to have many blocks")
	}
	if got := show(readWhole(t, writeFile(t, "a.svm", content.String()), Options{})); got != want.String() {
		t.Error("read something else than was written")
	}
}

func TestOptions(t *testing.T) {
	file, text, empty := writeFile(t, "a.svm", "1 1:1\n"), writeFile(t, "a.tsv", "x\ta a\ny\ta\n"), t.TempDir()
	for _, test := range []struct {
		source string
		opt    Options
		want   string
	}{
		{file, Options{FormatOptions: FormatOptions{Format: "xls"}},
			`corpus: unknown format "xls"; valid formats are csv, fasttext, folder, idx, jsonl, lines, numpy, parquet, ` +
				`svmlight, tsv`},
		{file, Options{Workers: -1}, "corpus: Workers must be nonnegative, got -1"},
		{file, Options{MinDF: 3, MaxDF: 2}, "corpus: MaxDF must be at least MinDF, got 2 and 3"},
		{file, Options{Vocabulary: []string{"a", "b", "a"}},
			`corpus: the vocabulary has the term "a" twice`},
		{file, Options{Vocabulary: []string{}, LoadVocabulary: func() ([]string, error) { return nil, nil }},
			"corpus: Vocabulary and LoadVocabulary cannot be combined"},
		{file, Options{FormatOptions: FormatOptions{LabelSeparator: "\xff"}},
			`corpus: LabelSeparator must be UTF-8, got "\xff"`},
		{file, Options{TrainingFormat: FormatOptions{Format: "x"}},
			`corpus: unknown format "x"; valid formats are csv, fasttext, folder, idx, jsonl, ` +
				`lines, numpy, parquet, svmlight, tsv: TrainingFormat`},
		{file, Options{FormatOptions: FormatOptions{Format: FormatFolder}}, "corpus: " + file +
			" must be a folder with one sub-folder per class"},
		{filepath.Dir(file), Options{FormatOptions: FormatOptions{Format: FormatTSV}}, "corpus: " + filepath.Dir(file) +
			" is a folder, but format tsv needs a file"},
		{empty, Options{}, "corpus: " + empty +
			": no documents, expected one sub-folder per class with one file per document"},
		{"synthetic:docs=0", Options{},
			`corpus: synthetic:docs=0: docs must be an integer between 1 and 2147483647, got "0"`},
		{"synthetic:docs=1,docs=1", Options{},
			`corpus: synthetic:docs=1,docs=1: unknown or repeated parameter "docs"; valid parameters are ` +
				"synthetic:docs=N,terms=N,length=N,classes=N,seed=N,copies=N,changed=N"},
		{"synthetic:size=1", Options{},
			`corpus: synthetic:size=1: unknown or repeated parameter "size"; valid parameters are ` +
				"synthetic:docs=N,terms=N,length=N,classes=N,seed=N,copies=N,changed=N"},
		{"synthetic:terms=4000000,classes=1000", Options{},
			"corpus: synthetic:docs=2000,terms=4000000,length=200,classes=1000,seed=1: " +
				"terms * classes must be at most 1073741824, got 4000000000"},
	} {
		_, err := Read(context.Background(), test.source, test.opt)
		if err == nil || err.Error() != test.want {
			t.Errorf("error %v\nwant  %s", err, test.want)
		}
	}
	musttest.WantError(Read(context.Background(), file+"x", Options{}))(t, "a missing file", os.ErrNotExist)
	musttest.WantError(Read(t.Context(), file, Options{TrainingFormat: FormatOptions{Encoding: "x"}}))(t,
		"an unknown encoding")
	// The number of workers is limited to the useful number.
	for _, source := range []string{file, text, "synthetic:docs=9,terms=9,length=9,classes=2"} {
		readWhole(t, source, Options{Workers: math.MaxInt})
	}
}

// writeInto writes a file and creates its folder.
func writeInto(t testing.TB, file, content string) {
	t.Helper()
	musttest.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	musttest.NoError(t, os.WriteFile(file, []byte(content), 0o600))
}

// svmText returns an svmlight file of documents that resemble text: counts, or weights as other
// programs write them.
func svmText(documents int, weights bool) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for i := range documents {
		fmt.Fprintf(&b, "%d", i%20)
		index := 0
		for range 150 {
			index += 1 + rng.IntN(500)
			if weights {
				fmt.Fprintf(&b, " %d:%.6g", index, rng.Float64()/10)
			} else {
				fmt.Fprintf(&b, " %d:%d", index, 1+int(rng.ExpFloat64()*1.5))
			}
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}
