package corpus

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// Labels are looked for beside images, however either is compressed.
func TestIDXNames(t *testing.T) {
	want := []string{"train-labels-idx1-ubyte", "train-labels-idx1-ubyte.gz", "train-labels-idx1-ubyte.zst"}
	for _, suffix := range []string{"", ".gz", ".zst"} {
		if got := idxLabels("train-images-idx3-ubyte" + suffix); !slices.Equal(got, want) {
			t.Errorf("%q: %q, expected %q", suffix, got, want)
		}
		folder := t.TempDir()
		file := filepath.Join(folder, "train-images-idx3-ubyte"+suffix)
		musttest.Do(t, os.WriteFile(file, nil, 0o666))
		if got := findIDX(folder); got != file {
			t.Errorf("found %q, expected %q", got, file)
		}
	}
}

// What the whole of a file needs is foretold from a part: terms once, the rest in proportion, refused
// beyond twice the bound only.
func TestForetell(t *testing.T) {
	for _, c := range []struct {
		done, total, held, terms int64
		refused                  bool
	}{
		{8 << 20, 80 << 20, 20 << 20, 0, false},
		{8 << 20, 80 << 20, 21 << 20, 0, true},
		{8 << 20, 80 << 20, 21 << 20, 5 << 20, false},
		{8<<20 - 1, 80 << 20, 21 << 20, 0, false},
		{8 << 20, 8 << 20, 210 << 20, 0, false}, // all was read
	} {
		a, m := &allowance{limit: 100 << 20}, &meter{}
		a.held.Store(c.held)
		a.terms.Store(c.terms)
		m.done.Store(c.done)
		m.total.Store(c.total)
		if err := a.foretell("x", m); (err != nil) != c.refused {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
