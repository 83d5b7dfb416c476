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

// readLines reads a corpus of a few lines.
func readLines(t *testing.T, lines ...string) *corpus.Corpus {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.tsv")
	musttest.Do(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o666))
	opt := corpus.Options{Form: corpus.Form{Format: corpus.FormatTSV}, MinDF: 1}
	c := musttest.Get(corpus.Read(context.Background(), path, opt))(t)
	return c
}

// words writes documents as class: term count.
func words(c *corpus.Corpus) (out []string) {
	for i := range c.Documents.Rows() {
		var parts []string
		for _, id := range c.Labels.Of(i) {
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

func TestPreparation(t *testing.T) {
	c := readLines(t, "x\tthe cat sat", "y\tThe cat an the", "x\tan axe")
	stop := filepath.Join(t.TempDir(), "stop")
	musttest.Do(t, os.WriteFile(stop, []byte("The\n of"), 0o666))
	for want, p := range map[string]Preparation{
		"x: cat 1 sat 1 the 1|y: an 1 cat 1 the 2|x: an 1 axe 1": {MinDF: 1, MinLetters: 1},
		"x: cat 1 the 1|y: an 1 cat 1 the 2|x: an 1":             {MinDF: 2, MinLetters: 1},
		"x: cat 1 sat 1 the 1|y: cat 1 the 2|x: axe 1":           {MinDF: 1, MinLetters: 3},
		"x: cat 1|y: cat 1|x:":                                   {MinDF: 2, MinLetters: 3, StopWords: stop},
	} {
		got := musttest.Get(p.Apply(c))(t)
		if text := strings.Join(words(got), "|"); text != want {
			t.Errorf("%v: %s, expected %s", p, text, want)
		}
		if err := got.Documents.Validate(); err != nil {
			t.Error(err)
		}
	}
}

// SMART's list is the published one, and leaves its words out.
func TestSMART(t *testing.T) {
	all := strings.Fields(smart)
	plain := slices.DeleteFunc(slices.Clone(all), func(w string) bool { return strings.Contains(w, "'") })
	slices.Sort(plain)
	if n := len(slices.Compact(slices.Clone(plain))); len(all) != 571 || len(plain) != 524 || n != 523 {
		t.Errorf("%d words, %d without an apostrophe, %d different, expected 571, 524 and 523", len(all), len(plain), n)
	}
	c := readLines(t, "x\tAccordingly the cat sat", "y\tcat zero")
	got, err := Preparation{MinDF: 1, MinLetters: 1, StopWords: SMART}.Apply(c)
	if text := strings.Join(words(got), "|"); err != nil || text != "x: cat 1 sat 1|y: cat 1" {
		t.Errorf("%s, %v", text, err)
	}
	if got, err = (Preparation{MinDF: 1, MinLetters: 1, StopWords: NoWords}).Apply(c); err != nil || got != c {
		t.Errorf("none: %v, %v", words(got), err)
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
	var n Numbers
	var i Ints
	w := Words{Of: []string{"a", "b", "c"}}
	if n.Set("10, 0.5,1,1") != nil || n.String() != "0.5,1,10" || i.Set("80,40") != nil || i.String() != "40,80" ||
		w.Set("c,a") != nil ||
		w.String() != "a,c" ||
		w.Has("b") {
		t.Errorf("%v %v %v", n, i, w.Chosen)
	}
	for _, bad := range []string{"", "1,,2", "0", "-1", "x", "NaN", "Inf"} {
		if n.Set(bad) == nil || i.Set(bad) == nil {
			t.Errorf("%q is accepted as a list of numbers", bad)
		}
	}
	if i.Set("1.5") == nil || w.Set("d") == nil || w.Set("") == nil {
		t.Error("what isn't allowed is accepted")
	}
}
