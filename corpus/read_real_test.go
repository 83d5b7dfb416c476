package corpus

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// readWhole reads a source and checks invariants that hold for every corpus.
func readWhole(t testing.TB, source string, opt Options) *Corpus {
	t.Helper()
	c := musttest.Get(Read(context.Background(), source, opt))(t)
	checkCorpus(t, c)
	return c
}

// checkCorpus checks the invariants of a corpus.
func checkCorpus(t testing.TB, c *Corpus) {
	t.Helper()
	musttest.NoError(t, c.Validate())
	if rows := c.Documents.Rows(); len(c.Labels.Offsets) != rows+1 {
		t.Fatalf("labels: %d offsets for %d documents", len(c.Labels.Offsets), rows)
	}
	met := 0 // classes are numbered in order of their first document
	for _, id := range c.Labels.IDs {
		if int(id) > met {
			t.Fatalf("class %d after %d classes of %d", id, met, len(c.Classes))
		}
		met = max(met, int(id)+1)
	}
	if met != len(c.Classes) {
		t.Fatalf("%d classes, but documents of %d", len(c.Classes), met)
	}
	if c.Vocabulary != nil && len(c.Vocabulary) != c.Documents.Cols {
		t.Fatalf("%d terms for %d columns", len(c.Vocabulary), c.Documents.Cols)
	}
}

// documentsOf returns the number of documents of each class.
func documentsOf(c *Corpus) map[string]int {
	n := map[string]int{}
	for _, id := range c.Labels.IDs {
		n[c.Classes[id]]++
	}
	return n
}

// asciiTerms returns the number of distinct runs of the letters a to z in the vocabulary. Published
// figures count these, so that a word such as naïve counts as na and ve.
func asciiTerms(c *Corpus) int {
	runs := map[string]bool{}
	for _, term := range c.Vocabulary {
		for _, run := range strings.FieldsFunc(term, func(r rune) bool { return r < 'a' || r > 'z' }) {
			runs[run] = true
		}
	}
	return len(runs)
}

// TestRealCorpora compares documents, classes and terms with the figures published with the
// corpora.
func TestRealCorpora(t *testing.T) {
	musttest.SkipRace(t)
	musttest.SkipIfEmulated(t)
	root := filepath.Join("..", "..", "shared", "data")
	if _, err := os.Stat(root); err != nil {
		t.Skip("the real corpora are not here: ", err)
	}
	for _, want := range []struct {
		file           string
		documents      int
		classes        int
		classDocuments map[string]int
		terms          int // runs of a to z in lower case, counted with Python's re
	}{
		{"webkb/all.tsv.gz", 4199, 20, map[string]int{"student|misc": 1083}, 40683},
		{"reuters-modapte/train.tsv.gz", 9603, 115, map[string]int{"earn": 2877, "acq": 1650, "corn": 181}, 27377},
		{"reuters-modapte/test.tsv.gz", 3299, 93, map[string]int{"earn": 1087, "acq": 719, "corn": 56}, 16488},
		{"20news-bydate/train.tsv.gz", 11314, 20, map[string]int{"rec.sport.hockey": 600}, 89038},
		{"20news-bydate/test.tsv.gz", 7532, 20, map[string]int{"rec.sport.hockey": 399}, 69500},
	} {
		t.Run(want.file, func(t *testing.T) {
			c := readWhole(t, filepath.Join(root, want.file), Options{MinDF: 1})
			if got := c.Documents.Rows(); got != want.documents {
				t.Errorf("%d documents, want %d", got, want.documents)
			}
			if len(c.Classes) != want.classes {
				t.Errorf("%d classes, want %d", len(c.Classes), want.classes)
			}
			documents := documentsOf(c)
			for class, n := range want.classDocuments {
				if documents[class] != n {
					t.Errorf("%s: %d documents, want %d", class, documents[class], n)
				}
			}
			if got := asciiTerms(c); got != want.terms {
				t.Errorf("%d runs of a to z, want %d", got, want.terms)
			}
			if len(c.Warnings) > 0 {
				t.Errorf("warnings %v", c.Warnings)
			}
		})
	}
}

// TestGoroot compares the number of files with an independent walk.
func TestGoroot(t *testing.T) {
	root := findGoroot(context.Background())
	if root == "" {
		t.Skip("no Go installation found")
	}
	c := readWhole(t, "goroot", Options{})
	src := musttest.Get(filepath.EvalSymlinks(filepath.Join(root, "src")))(t)
	files := 0
	filepath.WalkDir(src, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && filepath.Ext(path) == ".go" && filepath.Dir(path) != src {
			files++
		}
		return err
	})
	if got := c.Documents.Rows(); got != files {
		t.Errorf("%d documents, want %d", got, files)
	}
	if files < 5000 || c.Documents.Cols < 40000 || len(c.Classes) < 40 {
		t.Errorf("%d documents, %d terms, %d classes: this is not the source of Go", files, c.Documents.Cols,
			len(c.Classes))
	}
	for i, name := range c.Names {
		if class := c.Classes[c.Labels.Classes(i)[0]]; !strings.HasPrefix(name, class+"/") {
			t.Fatalf("%s has the class %s", name, class)
		}
	}
	for term, df := range c.Documents.DocumentFrequency() {
		if df < defaultTextMinDF {
			t.Fatalf("%s is in %d documents", c.Vocabulary[term], df)
		}
	}
	t.Logf("%d documents, %d terms, %d of them a-z; %v", files, c.Documents.Cols, asciiTerms(c), c.Warnings)
}
