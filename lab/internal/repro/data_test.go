package repro

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	if err := os.Mkdir(filepath.Join(r.Data, "webkb"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.Data, "webkb", "all.tsv.gz"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := r.Require(WebKB); err != nil {
		t.Error(err)
	}
	if err := r.Require(WebKB, Reuters); !errors.As(err, &missing) || missing.Source.Name != "reuters-modapte" {
		t.Errorf("%v, expected reuters-modapte to be missing", err)
	}
}
