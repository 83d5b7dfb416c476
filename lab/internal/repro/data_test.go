package repro

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

func TestMissingData(t *testing.T) {
	r := &Run{Data: t.TempDir()}
	err := r.Require(WebKB, Reuters)
	var missing *MissingError
	if !errors.As(err, &missing) || missing.Source.Name != "webkb" {
		t.Fatalf("%v, expected webkb to be missing", err)
	}
	for _, part := range []string{
		filepath.Join(r.Data, "webkb", "all.tsv.gz"), "label<TAB>text", "class|university", "CMU",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q isn't in %q", part, err)
		}
	}
	musttest.Do(t, os.Mkdir(filepath.Join(r.Data, "webkb"), 0o777))
	musttest.Do(t, os.WriteFile(filepath.Join(r.Data, "webkb", "all.tsv.gz"), nil, 0o666))
	if err := r.Require(WebKB); err != nil {
		t.Error(err)
	}
	if err := r.Require(WebKB, Reuters); !errors.As(err, &missing) || missing.Source.Name != "reuters-modapte" {
		t.Errorf("%v, expected reuters-modapte to be missing", err)
	}
}
