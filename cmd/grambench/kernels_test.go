package main

import (
	"strings"
	"testing"

	"github.com/gramengine/gram/engine"
)

// Every kernel, parameter and range of the engine's catalogue is in the list.
func TestKernelsListsTheCatalogue(t *testing.T) {
	r, err := newKernelsReport(nil)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	r.writeText(&b)
	text := strings.Join(strings.Fields(b.String()), " ") // as it was before it was broken into lines
	all := append(engine.Catalogue(), engine.SetKernels()...)
	if len(r.Rows) != len(all) {
		t.Errorf("%d rows, expected %d", len(r.Rows), len(all))
	}
	for _, info := range all {
		for _, want := range []string{info.Name, info.Summary, info.Source} {
			if !strings.Contains(text, strings.Join(strings.Fields(want), " ")) {
				t.Errorf("%s: %q is missing", info.Name, want)
			}
		}
		for _, q := range info.Params {
			if want := q.Key + "=" + q.Default + ": " + q.Summary + "; " + q.Allowed; !(q.Key == "embed" && info.Parts != "") && !strings.Contains(text, want) {
				t.Errorf("%s: %q is missing", info.Name, want)
			}
		}
	}
}

// Every example of the catalogue can be asked for, and has the properties that the engine says.
func TestKernelsShowsEveryExample(t *testing.T) {
	for _, info := range engine.Catalogue() {
		for _, spec := range info.Examples {
			r, err := newKernelsReport([]string{spec})
			if err != nil {
				t.Errorf("%s: %v", spec, err)
				continue
			}
			want := engine.PropertiesOf(engine.MustParseKernel(spec))
			var v []kernelSpec
			for _, row := range r.Rows {
				v = append(v, row.Variants...)
			}
			i := 0
			for i < len(v) && v[i] != newKernelSpec(v[i].Spec, want) { // a name alone shows all examples
				i++
			}
			if i == len(v) {
				t.Errorf("%s: nothing of %+v in %+v", spec, want, v)
			}
		}
	}
}
