package corpus

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gramengine/gram/internal/musttest"
)

// Variants of formats are recognised: other separators in a .csv, arrays, fastText's lines, and
// names with capitals, blanks, quotes and byte order marks.
func TestForms(t *testing.T) {
	const want = "cat meow:1 purr:1\ndog,pet bark:1\n"
	for _, c := range []struct {
		file, content string
		opt           Options
	}{
		{"a.csv", "label\ttext\ncat\tmeow, purr\n\"dog,pet\"\tbark\n", Options{}},
		{"a.csv", "id\tText\tlabel\n1\tmeow purr\tcat\n2\t\"bark\n\"\tdog,pet\n", Options{}},
		{"a.csv", "cat\tmeow, purr\ndog,pet\tbark\n", Options{}},
		{"a.csv", "nr;Text;\"Label\"\n1;meow, purr;cat\n2;bark;dog,pet\n", Options{}},
		{"a.csv", "\ufeff\"id\", \"Text\", \"Label \"\n1, \"meow, purr\", \"cat\"\n2, \"bark\n\", \"dog,pet\"\n", Options{}},
		{"a.csv", "id,'text','label'\n1,meow purr,cat\n2,bark,\"dog,pet\"\n", Options{}},
		{"a.csv", "id,text,kind\n1,meow purr,cat\n2,bark,\"dog,pet\"\n",
			Options{FormatOptions: FormatOptions{LabelColumn: "3"}}},
		{"a.json", "\n[ {\"label\":\"cat\",\"text\":\"meow ] \\\"purr\"} ,\n\n" +
			"{\"text\":\"bark\",\n\"label\":[\"dog\",\"pet\"]}]\n", Options{}},
		{"a", `[{"Label":"cat"," TEXT ":"meow purr"},{"text":"bark","label":["dog","pet"]}]`, Options{}},
		{"a.txt", "__label__cat meow purr\n \t__label__dog\t__label__pet bark\n", Options{}},
	} {
		if got := show(texts(t, c.file, c.content, c.opt)); got != want {
			t.Errorf("%s %q: read\n%swant\n%s", c.file, c.content, got, want)
		}
	}
	for _, c := range []struct{ name, text, want string }{
		{"standard input", "meow, purr\nbark", " meow:1 purr:1\n bark:1\n"},
		{"standard input", "id,Text,label\n1,\"meow\npurr\",cat\n", "cat meow:1 purr:1\n"},
		{"standard input", "label,\"text\"\ncat,meow purr\n", "cat meow:1 purr:1\n"},
		{"standard input", "review, text\npurr", " review:1 text:1\n purr:1\n"},
		{"a.txt", "review,text\npurr", " review:1 text:1\n purr:1\n"},
		{"", "text\npurr", " text:1\n purr:1\n"},
	} {
		got, err := ReadFrom(context.Background(), strings.NewReader(c.text), c.name, Options{MinDF: 1})
		if err != nil || show(got) != c.want {
			t.Errorf("%q from %q: %v, %v, expected %q", c.text, c.name, got, err, c.want)
		}
	}
	for content, want := range map[string]string{
		"[{\"text\":\"a\"},\n\n{\"b\":1,\"a\":2}]":          `a.json:2: no key text among "b, a|a, b", expected an object`,
		"[{\"text\":\"a\"},\n]":                             `a.json:2: .*invalid character`,
		"[{\"text\":\"a\"},\n":                              `a.json:2: an unclosed array`,
		"[{\"text\":\"a\"}\n":                               `a.json:2: an unclosed array`,
		"[{\"text\":\"a\"}]\n{}":                            `a.json:2: data after the array`,
		"[{\"text\":\"a\n\"}]":                              `a.json:1: .*invalid character`,
		"[{\"text\":\"" + strings.Repeat("a", 200) + "\"}]": `a.json:1: a line of more than`,
	} {
		_, err := Read(context.Background(), writeFile(t, "a.json", content), Options{MaxLineBytes: 100})
		if err == nil || !regexp.MustCompile(want).MatchString(err.Error()) {
			t.Errorf("%q: %v, expected %s", content, err, want)
		}
	}
}

// Labels that are document numbers or texts can't be classes.
func TestCheckClasses(t *testing.T) {
	for single, bad := range map[int]bool{999: false, 1000: true} {
		lines := strings.Repeat("class\tx y\n", 999)
		for i := range single {
			lines += fmt.Sprintf("id%d\tx y\n", i)
		}
		if err := texts(t, "a.tsv", lines, Options{}).CheckClasses(); (err != nil) != bad {
			t.Errorf("%d classes of one document: %v", single, err)
		}
	}
	// Fifty numbers are regression targets, without a warning. Repeated numbers are classes.
	for numbers, bad := range map[int]bool{3: false, 48: false, 49: true, 50: true} {
		lines := strings.Repeat("0\tx y\n", numbers-1)
		for i := range numbers {
			lines += fmt.Sprintf("%d.5\tx y\n", i)
		}
		c := texts(t, "a.tsv", lines, Options{})
		if err := c.CheckClasses(); (err != nil) != bad || len(c.Warnings) != 0 || c.HasTargets() != (numbers > 3) {
			t.Errorf("%d numbers: %v, warnings %v, %v", numbers, err, c.Warnings, c.HasTargets())
		}
	}
	for i, lines := range []string{strings.Repeat("a\tx y\n", 49), "", strings.Repeat("7\tx y\n", 60)} {
		for i := range 55 {
			lines += fmt.Sprintf("%d\tx y\n", i)
		}
		c := texts(t, "a.tsv", lines, Options{})
		if err := c.CheckClasses(); (err != nil) != (i == 1) || c.HasTargets() != (i == 1) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// FuzzJSONArray checks that an array of objects is read like the same objects in lines, and gives
// an error whenever encoding/json does.
func FuzzJSONArray(f *testing.F) {
	f.Add([]byte(`{"label":"a","text":"b]\","}, {"text":"","class":[1,true,"],"]}`))
	f.Add([]byte("{\"text\":\"\\\\\"}\n,{\"text\":\"}\"}"))
	f.Fuzz(func(t *testing.T, elements []byte) {
		data := slices.Concat([]byte("["), elements, []byte("]"))
		opt := Options{MinDF: 1, Workers: 1, MaxLineBytes: 1 << 16}
		got, err := readBytes(readJSONL, data, opt)
		var objects []json.RawMessage
		if json.Unmarshal(data, &objects) != nil {
			if err == nil && utf8.Valid(data) {
				t.Fatalf("%q is read, which is not JSON", data)
			}
			return
		}
		var lines bytes.Buffer
		for _, o := range objects {
			musttest.NoError(t, json.Compact(&lines, o))
			lines.WriteByte('\n')
		}
		want, wantErr := readBytes(readJSONL, lines.Bytes(), opt)
		if len(objects) == 0 || lines.Bytes()[0] == '[' {
			return
		}
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: %v, and in lines %v", data, err, wantErr)
		}
		if err == nil && (got.Digest() != want.Digest() || !reflect.DeepEqual(got.Classes, want.Classes)) {
			t.Fatalf("%q: not the objects in lines", data)
		}
	})
}

// FuzzReadFastText checks that lines are read according to their fields.
func FuzzReadFastText(f *testing.F) {
	fuzzReader(f, readFastText, Options{}, "__label__a __label__b,c some text\n\n__label__a\nmore __label__x text\r\n",
		"__label__ x", "__label__a __label__a x", "\t__label__\xff x", "__label__a\tx\x00")
}

// FuzzFastTextFields checks the fields of a line.
func FuzzFastTextFields(f *testing.F) {
	f.Add("__label__a  __label__b,c\tsome __label__x text")
	f.Fuzz(func(t *testing.T, line string) {
		line = strings.Map(func(r rune) rune {
			if r == '\n' || r == '\r' || r == 0 {
				return -1
			}
			return r
		}, strings.ToValidUTF8(line, ""))
		var want []string
		for _, word := range strings.Fields(line) {
			if name, ok := strings.CutPrefix(word, fastTextLabel); ok {
				want = append(want, name)
			}
		}
		wrong := slices.Contains(want, "")
		opt := Options{MinDF: 1, Workers: 1, MaxLineBytes: 1 << 16}
		c, err := readBytes(readFastText, []byte(line+"\n__label__z q\n"), opt)
		again := slices.Clone(want)
		slices.Sort(again)
		switch wrong = wrong || len(slices.Compact(again)) < len(want); {
		case wrong != (err != nil):
			t.Fatalf("%q: %v", line, err)
		case err != nil || strings.TrimSpace(line) == "":
			return
		}
		var got []string
		for _, id := range c.Labels.Classes(0) {
			got = append(got, c.Classes[id])
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q: labels %q, expected %q", line, got, want)
		}
	})
}

// Options.TrainingFormat sets unset options for a similar source, whose labels may be missing.
func TestLike(t *testing.T) {
	like := texts(t, "a.csv", "id;Words;kind\n1;meow, purr;cat/pet\n",
		Options{FormatOptions: FormatOptions{TextColumn: "words", LabelColumn: "3", LabelSeparator: "/"}}).FormatOptions
	if want := (FormatOptions{Extension: ".csv", TextColumn: "words", LabelColumn: "3",
		LabelSeparator: "/"}); like != want {
		t.Fatalf("form %+v, expected %+v", like, want)
	}
	if f := texts(t, "a.csv", "label,text\na,b\n", Options{}).FormatOptions; f != (FormatOptions{}) {
		t.Errorf("form %+v without options", f)
	}
	for _, c := range []struct {
		file, content string
		opt           Options
		want          string
	}{
		{"b.CSV", "nr;words;x\n1;purr;a/b\n", Options{}, "a,b purr:1\n"},
		{"b.csv", "nr;words\n1;purr\n", Options{}, " purr:1\n"},
		{"b.csv", "nr;words;x\n1;purr;a/b\n",
			Options{FormatOptions: FormatOptions{TextColumn: "x", LabelColumn: "1", LabelSeparator: "|"}}, "1 a:1 b:1\n"},
		{"b.tsv", "a/b\twords\n", Options{}, "a/b words:1\n"},
	} {
		c.opt.TrainingFormat = like
		if got := show(texts(t, c.file, c.content, c.opt)); got != c.want {
			t.Errorf("%s %q: read %q, expected %q", c.file, c.content, got, c.want)
		}
	}
	keys := FormatOptions{Format: FormatJSONL, LabelColumn: "y", TextColumn: "t"}
	if got := show(texts(t, "b", `{"t":"purr"}`, Options{TrainingFormat: keys})); got != " purr:1\n" {
		t.Errorf("JSON without labels: read %q", got)
	}
}
