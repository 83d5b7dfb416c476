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
	for _, part := range []string{filepath.Join(r.Data, "webkb", "all.tsv.gz"), "label<TAB>text", "class|university", "CMU"} {
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

// Every experiment says what the list and the help promise.
func TestExperiments(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range Experiments() {
		if seen[e.Name] || e.Name == "" || e.Paper == "" || e.Data == "" {
			t.Errorf("%+v: a name twice, or something is missing", e)
		}
		seen[e.Name] = true
		if (e.Waits == "") != (e.Setup != nil) || e.Waits == "" && (e.Time == "" || e.Help == "") {
			t.Errorf("%s: either it waits or it has a protocol, a time and a help text", e.Name)
		}
		if found, ok := Find(e.Name); !ok || found.Name != e.Name || !strings.Contains(Names(), e.Name) {
			t.Errorf("%s isn't found", e.Name)
		}
	}
	if _, ok := Find("nothing"); ok {
		t.Error("what isn't there is found")
	}
}
