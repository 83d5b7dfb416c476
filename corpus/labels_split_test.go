package corpus

import (
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// A warning reports commas that may be part of a label name, unless Options.LabelSeparator is set.
// Labels that also occur alone are separate labels, as in Reuters.
func TestLabelSeparator(t *testing.T) {
	repeat := func(labels ...string) []string { return append(labels, labels...) }
	for name, c := range map[string]struct {
		labels    []string
		separator string
		classes   int
		single    bool
		warning   string
	}{
		"names":      {repeat("Entities, things", "Human, beings", "Descriptions"), "", 5, false, `as "Entities, things"`},
		"names, one": {repeat("Entities, things", "Human, beings", "Descriptions"), "none", 3, true, ""},
		"no blanks":  {repeat("Smith,John", "Smith,Jane", "Poe"), "", 4, false, `as "Smith,John"`},
		"topics":     {[]string{"earn", "acq,earn", "acq", "acq,earn", "grain,wheat", "wheat", "grain"}, "", 4, false, ""},
		"blanks":     {[]string{"earn", "acq, earn", "acq"}, "", 2, false, `as "acq, earn"`},
		"comma":      {[]string{"earn", "acq, earn", "acq"}, ",", 2, false, ""},
		"bars":       {[]string{"earn", "acq, or so|earn", "b"}, "|", 3, false, ""},
		"alone":      {[]string{"a", "b", "a"}, "", 2, true, ""},
	} {
		opt := Options{FormatOptions: FormatOptions{LabelSeparator: c.separator}, MinDF: 1}
		texts := musttest.MakeSlice(len(c.labels), func(i int) string { return "word" })
		tsv := strings.Join(c.labels, "\tword\n") + "\tword\n"
		csv := "label,text\n\"" + strings.Join(c.labels, "\",word\n\"") + "\",word\n"
		file := opt
		file.Labels = writeFile(t, "labels", strings.Join(c.labels, "\n")+"\n")
		for form, read := range map[string]func() (*Corpus, error){
			"texts": func() (*Corpus, error) { return FromTexts(t.Context(), texts, c.labels, opt) },
			"tsv":   func() (*Corpus, error) { return Read(t.Context(), writeFile(t, "a.tsv", tsv), opt) },
			"csv":   func() (*Corpus, error) { return Read(t.Context(), writeFile(t, "a.csv", csv), opt) },
			"file": func() (*Corpus, error) {
				return Read(t.Context(), writeFile(t, "a.txt", strings.Repeat("word\n", len(texts))), file)
			},
		} {
			got, err := read()
			if err != nil {
				t.Fatalf("%s, %s: %v", name, form, err)
			}
			if single := len(got.Labels.IDs) == len(texts); len(got.Classes) != c.classes || single != c.single {
				t.Errorf("%s, %s: classes %q, one each: %v", name, form, got.Classes, single)
			}
			warned := ""
			for _, w := range got.Warnings {
				if w.Option == "LabelSeparator" {
					warned = w.Message
				}
			}
			if (warned == "") != (c.warning == "") || !strings.Contains(warned, c.warning) {
				t.Errorf("%s, %s: warning %q, expected %q", name, form, warned, c.warning)
			}
		}
	}
	jsonl := strings.Repeat(`{"text":"word","label":["a, b","c"]}`+"\n", 3)
	c, err := Read(t.Context(), writeFile(t, "a.jsonl", jsonl), Options{})
	if err != nil || len(c.Classes) != 2 || len(c.Warnings) > 0 {
		t.Errorf("JSON: %+v, %v", c, err)
	}
}

// If a table is read as lines, its labels become words, with a warning.
func TestTableAsLines(t *testing.T) {
	for content, want := range map[string]bool{
		"a\tword\nb\tword\n": true, "a\tword\nword\n": false, "word\nword\n": false,
	} {
		opt := Options{FormatOptions: FormatOptions{Format: FormatLines}, MinDF: 1}
		c := musttest.Get(Read(t.Context(), writeFile(t, "a.tsv", content), opt))(t)
		if warned := len(c.Warnings) == 1 && c.Warnings[0].Option == "Format"; warned != want {
			t.Errorf("%q: warnings %v, want one: %v", content, c.Warnings, want)
		}
	}
}
