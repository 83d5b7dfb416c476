package sparse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse/token"
)

// columnsOptions cut tables into views of their columns.
func columnsOptions(t testing.TB, views string, workers int) Options {
	t.Helper()
	tokenizer := musttest.Get(token.Parse(views))(t)
	return Options{Workers: workers, MinDF: 1, Tokenizer: tokenizer, Format: FormatCSV}
}

// A table of columns has one meaning for any number of workers, as JSON and read again by its scales; a bound of memory
// holds while scales are found.
func TestReadColumns(t *testing.T) {
	var table, lines strings.Builder
	table.WriteString("title,price,class\n")
	documents := 40000
	if testing.Short() {
		documents = 15000 // which are several blocks, too
	}
	for i := range documents {
		price := fmt.Sprint(i * 7919 % 1000)
		if i%10 == 0 {
			price = ""
		}
		fmt.Fprintf(&table, "offer %d,%s,%c\n", i%50, price, 'a'+i%2)
		fmt.Fprintf(&lines, `{"title":"offer %d","price":"%s","class":"%c"}`+"\n", i%50, price, 'a'+i%2)
	}
	read := func(text, name string, opt Options) *Corpus {
		t.Helper()
		c := musttest.Get(ReadFrom(context.Background(), strings.NewReader(text), name, opt))(t)
		return c
	}
	opt := columnsOptions(t, "title=words + price=numbers", 1)
	want := read(table.String(), "a.csv", opt)
	checkCorpus(t, want)
	if len(want.Documents.Views) != 2 || want.Texts != nil || len(want.Warnings) != 1 ||
		want.Warnings[0].Count != int64(documents/10) ||
		!strings.HasSuffix(want.Tokenizer.String(), "price=numbers:1|125|249|375|499|625|749|875|999") {
		t.Fatalf("%s, %v, views %v", want.Tokenizer, want.Warnings, want.Documents.Views)
	}
	opt.Workers = 3
	if got := read(table.String(), "a.csv", opt); !reflect.DeepEqual(got, want) {
		t.Error("3 workers read something else than 1")
	}
	again := opt
	again.Tokenizer = want.Tokenizer
	if got := read(table.String(), "a.csv", again); !reflect.DeepEqual(got.Documents, want.Documents) {
		t.Error("the scales of the same documents give others")
	}
	opt.Format, opt.KeepTexts = FormatJSONL, 64<<20
	got := read(lines.String(), "a.jsonl", opt)
	if got.Digest() != want.Digest() || got.Texts[1] != `{"price":"919","title":"offer 1"}` {
		t.Errorf("JSON has the text %s, and other documents than the table", got.Texts[1])
	}
	counter := musttest.Get(NewCounter(want.Tokenizer, want.Vocabulary))(t)
	m, err := counter.Count(context.Background(), got.Texts)
	if err != nil || !reflect.DeepEqual(m.Values, want.Documents.Values) {
		t.Errorf("a counter of texts counts otherwise, %v", err)
	}
	var syntax *SyntaxError
	_, err = counter.Count(context.Background(), []string{got.Texts[0], "offer"})
	if !errors.As(err, &syntax) || syntax.File != "text 1" {
		t.Errorf("a text that is no row: %v", err)
	}
	opt = columnsOptions(t, "title=words + price=numbers", 2)
	opt.MemoryBytes = 4 << 20
	var memory *MemoryError
	_, err = ReadFrom(context.Background(), strings.NewReader(table.String()), "a.csv", opt)
	if !errors.As(err, &memory) {
		t.Errorf("within 4 MiB: %v", err)
	}
}

// Any bytes give the same corpus, or the same error, from any number of workers.
func FuzzReadColumns(f *testing.F) {
	f.Add([]byte("title,price,class\na b,1,x\nc,,y\n"))
	f.Add([]byte("title;price\n\"a\nb\";1e3\n\xff;2\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		const views = "title=words + price,title=chars:2 + price=numbers"
		want, wantErr := readBytes(readCSV, data, columnsOptions(t, views, 1))
		got, err := readBytes(readCSV, bytes.Clone(data), columnsOptions(t, views, 2))
		switch {
		case (wantErr == nil) != (err == nil) || err != nil && err.Error() != wantErr.Error():
			t.Fatalf("%v, and from 2 workers %v", wantErr, err)
		case err == nil && !reflect.DeepEqual(got, want):
			t.Fatal("2 workers read something else than 1")
		case err == nil:
			checkCorpus(t, want)
		}
	})
}
