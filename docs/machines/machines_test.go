package machines

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gramengine/gram/internal/instrument"
)

var update = flag.Bool("update-book", false, "write docs/machines.md anew")

// The page is what the files say.
func TestPage(t *testing.T) {
	const file = "../machines.md"
	want, err := Page()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%s isn't what go test ./docs/machines -update-book writes, %v", file, err)
	}
}

// Every file of the book is whole: all workloads on one worker, checked results, a machine and a date.
func TestBook(t *testing.T) {
	if !slices.Contains(Names(), Reference) {
		t.Fatalf("%s isn't among %v", Reference, Names())
	}
	for _, name := range Names() {
		r, err := Load(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := time.Parse(time.RFC3339, r.Date); err != nil || r.Machine.Model == "" || r.Machine.Cores == 0 {
			t.Errorf("%s: %v, machine %+v", name, err, r.Machine)
		}
		for _, w := range instrument.Workloads {
			row := r.Row(w.Name, w.Version, 1)
			if row == nil || !row.Known || !(row.Error.Part <= 1) || len(row.Seconds) < 24 {
				t.Errorf("%s: %s is %+v, expected at least 24 checked rounds", name, w, row)
			}
		}
	}
	if index, n := instrument.Index(MustLoad(Reference), MustLoad(Reference), 1); index != 100 ||
		n != len(instrument.Workloads) {
		t.Errorf("the index of the reference is %v of %d workloads", index, n)
	}
	if _, err := Load("none"); err == nil || !strings.Contains(err.Error(), Reference) {
		t.Errorf("a machine that isn't there: %v", err)
	}
}
