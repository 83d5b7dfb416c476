package corpus

import (
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// TestCountingStops checks that counting the words of a long text stops early.
func TestCountingStops(t *testing.T) {
	done := make(chan struct{})
	close(done)
	c := termCounter{done: done}
	c.add([]byte(strings.Repeat("a ", 2*checkInterval)))
	if got := c.states[0].count; got >= checkInterval {
		t.Errorf("%d words counted, expected fewer than %d", got, checkInterval)
	}
}

// If no term remains, a warning gives the reason, but not if there was no term at first.
func TestNoTermLeft(t *testing.T) {
	for content, want := range map[string]bool{"a\tx y\nb\tz\n": true, "a\tx y\nb\ty\n": false, "a\t1\nb\t2\n": false} {
		c := readWhole(t, writeFile(t, "a.tsv", content), Options{})
		got := slices.ContainsFunc(c.Warnings, func(w Warning) bool { return w.Option == "MinDF" })
		if got != want {
			t.Errorf("%q: %v, expected a warning: %t", content, c.Warnings, want)
		}
	}
}

// LoadVocabulary gives the same corpus as Vocabulary, and is only called for text.
func TestVocabularyLater(t *testing.T) {
	tsv := writeFile(t, "a.tsv", "x\tto be or not to be\ny\tbe\n")
	folder := t.TempDir()
	writeInto(t, filepath.Join(folder, "x", "1"), "to be or not to be")
	for _, source := range []string{tsv, folder, "synthetic:docs=30,terms=50,length=20,classes=2"} {
		vocabulary := []string{"to", "be", "t07", "t00"}
		want := readWhole(t, source, Options{Vocabulary: vocabulary})
		asked := 0
		later := func() ([]string, error) { asked++; return vocabulary, nil }
		if got := readWhole(t, source, Options{LoadVocabulary: later}); !reflect.DeepEqual(got, want) || asked != 1 {
			t.Errorf("%s: another corpus, or the vocabulary was asked for %d times", source, asked)
		}
		if want.Documents.NNZ() == 0 {
			t.Errorf("%s: no values, the test is void", source)
		}

		wrong := errors.New("no model")
		fail := func() ([]string, error) { return nil, wrong }
		musttest.WantError(Read(t.Context(), source, Options{LoadVocabulary: fail}))(t, source, wrong)
		twice := func() ([]string, error) { return []string{"a", "b", "a"}, nil }
		musttest.WantError(Read(t.Context(), source, Options{LoadVocabulary: twice}))(t, source, `"a" twice`)
		musttest.WantError(Read(t.Context(), source, Options{Vocabulary: vocabulary, LoadVocabulary: later}))(t,
			source+": two vocabularies")
	}
	vectors := readWhole(t, writeFile(t, "a.svm", "1 1:1\n"), Options{LoadVocabulary: func() ([]string, error) {
		t.Error("vectors ask for a vocabulary")
		return nil, nil
	}})
	if vectors.Vocabulary != nil {
		t.Error("vectors have a vocabulary")
	}
}
