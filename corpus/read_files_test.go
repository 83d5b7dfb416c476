package corpus

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// Files lists exactly the files that Read opens: a listed file can't be missing, any other file
// can.
func TestFiles(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	images, labels := idx("\x01\x02", 1, 1, 2), idx("\x05", 1)
	for name, text := range map[string]string{
		"a.svm": "1 1:1\n", "images.svm": "1 1:1\n", "labels.svm": "1 1:1\n", "mail/ham/1": "a b\n",
		"mail/ham/deep/2": "a c\n", "mail/spam/3": "b c\n", "mail/README": "left out", "mail/spam/.x": "left out",
		"loose/1": "a b\n", "loose/2": "a c\n",
		"x-images-idx3-ubyte": images, "x-labels-idx1-ubyte": labels,
	} {
		musttest.NoError(t, os.MkdirAll(filepath.Dir(name), 0o777))
		musttest.NoError(t, os.WriteFile(name, []byte(text), 0o666))
	}
	for source, want := range map[string]string{
		"a.svm": "a.svm", "images.svm": "images.svm", "mail": "mail/ham/1 mail/ham/deep/2 mail/spam/3",
		"loose":               "loose/1 loose/2",
		"x-images-idx3-ubyte": "x-images-idx3-ubyte x-labels-idx1-ubyte", "synthetic:docs=3": "", "synthetic": "",
	} {
		files, err := Files(context.Background(), source)
		var got []string
		for _, file := range files {
			got = append(got, filepath.ToSlash(file))
		}
		slices.Sort(got)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v, %v, expected %s", source, got, err, want)
		}
		if strings.HasPrefix(source, "synthetic") {
			continue
		}
		if _, err := Read(context.Background(), source, Options{MinDF: 1}); err != nil {
			t.Errorf("%s: %v", source, err)
		}
	}
	if files, err := Files(context.Background(), "nowhere"); files != nil ||
		!errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a source that isn't there: %v, %v", files, err)
	}
	files, err := Files(context.Background(), "goroot")
	if err != nil || len(files) > 0 && len(files) < 1000 {
		t.Errorf("goroot: %d files, %v", len(files), err)
	}
}
