package repro

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
)

func readLines(t *testing.T, lines ...string) *corpus.Corpus {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.tsv")
	musttest.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o666))
	opt := corpus.Options{FormatOptions: corpus.FormatOptions{Format: corpus.FormatTSV}, MinDF: 1}
	return musttest.Get(corpus.Read(context.Background(), path, opt))(t)
}

// words formats each document as class: term count.
func words(c *corpus.Corpus) (out []string) {
	for i := range c.Documents.Rows() {
		var parts []string
		for _, id := range c.Labels.Classes(i) {
			parts = append(parts, c.Classes[id])
		}
		text := strings.Join(parts, "+") + ":"
		terms, values := c.Documents.Row(i)
		for k, term := range terms {
			text += fmt.Sprintf(" %s %v", c.Vocabulary[term], values[k])
		}
		out = append(out, text)
	}
	return out
}

func TestTerms(t *testing.T) {
	c := readLines(t, "x\tthe cat sat", "y\tThe cat an the", "x\tan axe")
	for want, terms := range map[string]TermSettings{
		"x: cat 1 sat 1 the 1|y: an 1 cat 1 the 2|x: an 1 axe 1": {MinDF: 1},
		"x: cat 1 the 1|y: an 1 cat 1 the 2|x: an 1":             {MinDF: 2},
		"x: cat 1|y: cat 1|x:":                                   {MinDF: 2, StopWords: SMARTStopWords},
	} {
		got := terms.Apply(c)
		if text := strings.Join(words(got), "|"); text != want {
			t.Errorf("%v: %s, expected %s", terms, text, want)
		}
		musttest.NoError(t, got.Documents.Validate())
	}
}

// smart.txt is the published SMART list.
func TestSMART(t *testing.T) {
	all := strings.Fields(smartWords)
	plain := slices.DeleteFunc(slices.Clone(all), func(w string) bool { return strings.Contains(w, "'") })
	slices.Sort(plain)
	if n := len(slices.Compact(slices.Clone(plain))); len(all) != 571 || len(plain) != 524 || n != 523 {
		t.Errorf("%d words, %d without an apostrophe, %d different, expected 571, 524 and 523", len(all), len(plain), n)
	}
}

func TestConcat(t *testing.T) {
	a, b := readLines(t, "x\tcat dog", "y,x\teel"), readLines(t, "z\tbee dog dog zoo", "x\tcat")
	both := Concat(a, b)
	if want := slices.Concat(words(a), words(b)); !slices.Equal(words(both), want) {
		t.Errorf("%q, expected %q", words(both), want)
	}
	if err := both.Documents.Validate(); err != nil || len(both.Vocabulary) != 5 || len(both.Classes) != 3 {
		t.Errorf("%v, %v, %v", err, both.Vocabulary, both.Classes)
	}
}

func TestLists(t *testing.T) {
	var n Floats
	var i Ints
	if n.UnmarshalText([]byte("10, 0.5,1,1")) != nil || n.String() != "0.5,1,10" ||
		i.UnmarshalText([]byte("80,40")) != nil || i.String() != "40,80" {
		t.Errorf("%v %v", n, i)
	}
	for _, bad := range []string{"", "1,,2", "0", "-1", "x", "NaN", "Inf", "1.5x"} {
		if n.UnmarshalText([]byte(bad)) == nil || i.UnmarshalText([]byte(bad)) == nil {
			t.Errorf("%q is accepted as a list of numbers", bad)
		}
	}
	if i.UnmarshalText([]byte("1.5")) == nil {
		t.Error("1.5 is accepted as an integer")
	}
	got, err := Words{"c", "a"}.Select("letters", "a", "b", "c")
	if err != nil || got.String() != "a,c" || got.Has("b") {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := (Words{"d"}).Select("letters", "a"); err == nil || CheckOneOf("letters", "", "a") == nil {
		t.Error("words that aren't allowed are accepted")
	}
}
