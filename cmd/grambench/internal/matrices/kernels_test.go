package matrices

import (
	"strings"
	"testing"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
)

// Every kernel, parameter and range of the engine's catalogue is in the list.
func TestKernelsListsTheCatalogue(t *testing.T) {
	r := musttest.Get(newKernelsReport(nil))(t)
	var b strings.Builder
	r.WriteText(&b)
	text := strings.Join(strings.Fields(b.String()), " ") // as it was before it was broken into lines
	all := kernel.Catalogue()
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
			if want := q.Key + "=" + q.Default + ": " + q.Summary + "; " +
				q.Allowed; !(q.Key == "embed" && info.Parts != "") &&
				!strings.Contains(text, want) {
				t.Errorf("%s: %q is missing", info.Name, want)
			}
		}
	}
}

// Every example of the catalogue can be asked for, and what is shown is what the engine says of it:
// a specification alone, or the name of a kernel, whose examples are all shown, each as it was
// written.
func TestKernelsShowsEveryExample(t *testing.T) {
	names := 0
	for _, info := range kernel.Catalogue() {
		for _, spec := range info.Examples {
			r, err := newKernelsReport([]string{spec})
			if err != nil {
				t.Errorf("%s: %v", spec, err)
				continue
			}
			if len(r.Rows) != 1 {
				t.Errorf("%s: %d rows, expected one", spec, len(r.Rows))
				continue
			}
			row, k := r.Rows[0], kernel.MustParse(spec)
			shown := []string{k.String()}
			if spec == info.Name {
				names++
				shown = info.Examples
			} else if row.Name != k.String() {
				t.Errorf("%s is called %s, expected %s", spec, row.Name, k)
			}
			if len(row.Variants) != len(shown) {
				t.Errorf("%s: %d variants, expected %q", spec, len(row.Variants), shown)
				continue
			}
			for i, v := range row.Variants {
				p := kernel.PropertiesOf(kernel.MustParse(shown[i]))
				want := kernelSpec{
					Spec:             shown[i],
					Definite:         p.Definite.String(),
					Condition:        p.Condition,
					Source:           p.Source,
					UsesNorms:        p.UsesNorms,
					NonNegative:      p.NonNegative,
					PositiveDiagonal: p.PositiveDiagonal,
				}
				if v != want {
					t.Errorf("%s shows %+v, expected %+v", spec, v, want)
				}
			}
			var text strings.Builder
			r.WriteText(&text)
			for _, want := range []string{k.String(), kernel.PropertiesOf(k).Definite.String()} {
				if !strings.Contains(text.String(), want) && spec != info.Name {
					t.Errorf("%s: %q isn't in\n%s", spec, want, text.String())
				}
			}
		}
	}
	if names == 0 {
		t.Error("no example is a name alone")
	}
}
