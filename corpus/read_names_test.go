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
