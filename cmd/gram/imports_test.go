package main

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

const module = "github.com/gramengine/gram"

// layers lists the packages from the bottom to the top. Entries include unlisted subfolders. A
// package imports only packages of lower layers and of its own entry.
var layers = []string{
	"internal/run",
	"internal/flagtext internal/params internal/musttest internal/snake docs",
	"asm sparse tiles internal/synthetic internal/table",
	"corpus solver engine/device internal/matrixio internal/learn/dense internal/learn/lbfgs",
	"engine/internal",
	"engine/kernel engine/internal/panel engine/internal/nearest internal/learn/archive " +
		"internal/chart",
	"engine/internal/compute internal/report internal/learn/model internal/space",
	"engine/internal/cache engine/spectrum internal/learn/task",
	"engine",
	"internal/learn/score",
	"internal/learn/tune",
	"internal/learn/knn internal/learn/landmark internal/learn/linear internal/learn/logistic internal/learn/pca " +
		"internal/learn/svm",
	"internal/learn",
	". cuda internal/cli",
	"internal/backend internal/instrument internal/soak cmd/libgram",
	"internal/source cmd/internal/effects",
	"cmd/internal/bench cmd/internal/explain cmd/internal/learners cmd/internal/matrices cmd/internal/neighbours " +
		"cmd/internal/serve cmd/internal/soak cmd/internal/spectral cmd/internal/verify",
	"cmd/internal/grambench",
	"cmd/commands",
	"cmd/gram cmd/grambench",
	"lab",
}

// layerOf returns the layer of a package of the module, or -1, and the package's entry.
func layerOf(path string) (layer int, entry string) {
	for path = strings.TrimPrefix(path, module); path != ""; path = path[:strings.LastIndexByte(path, '/')] {
		entry = path[1:]
		for layer, entries := range layers {
			if slices.Contains(strings.Fields(entries), entry) {
				return layer, entry
			}
		}
	}
	return slices.IndexFunc(layers, func(l string) bool { return strings.HasPrefix(l, ".") }), "."
}

// misplaced reports whether a package imports a package of the module that isn't in a lower layer.
func misplaced(of, imported string) bool {
	at, entry := layerOf(of)
	below, other := layerOf(imported)
	return below >= at && entry != other
}

// Programs use models only through the interfaces of package learn, never by concrete type.
func TestModelsAreInterfaces(t *testing.T) {
	concrete := regexp.MustCompile(
		`\.\(\*?((svm|model|knn|linear|logistic|landmark)\.[A-Z]\w*|learn\.(Machines|Regression))\)`)
	files, err := exec.Command("git", "-C", "../..", "ls-files", "*.go").Output()
	if err != nil {
		t.Skip(err)
	}
	for _, name := range strings.Fields(string(files)) {
		if strings.HasPrefix(name, "internal/learn/") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		text := musttest.Get(os.ReadFile("../../" + name))(t)
		for _, found := range concrete.FindAllString(string(text), -1) {
			t.Errorf("%s asserts %s, expected an interface of package learn", name, found)
		}
	}
}

func TestImportsPointDown(t *testing.T) {
	seen := 0
	for _, folder := range []string{"../..", "../../lab"} {
		list := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
		list.Dir = folder
		text, err := list.Output()
		if err != nil {
			t.Skip(err) // the go command may be missing if only the test binary runs
		}
		for line := range strings.Lines(string(text)) {
			p := strings.Fields(line)
			if _, entry := layerOf(p[0]); entry == "." && p[0] != module {
				t.Errorf("%s is in no layer", p[0])
			}
			for _, i := range p[1:] {
				if seen++; strings.HasPrefix(i, module) && misplaced(p[0], i) {
					t.Errorf("%s imports %s, which isn't below it", p[0], i)
				}
			}
		}
	}
	if seen < 500 {
		t.Errorf("%d imports, expected at least 500", seen)
	}
	for from, to := range map[string]string{
		"/sparse": "/engine", "/solver": "/internal/learn/model", "/engine/kernel": "/engine", "/engine": "/cuda",
		"/internal/learn/knn": "/internal/learn/svm", "": "/internal/cli", "/cmd/gram": "/lab",
		"/cmd/internal/soak": "/cmd/internal/bench",
	} {
		if !misplaced(module+from, module+to) {
			t.Errorf("%s may import %s", from, to)
		}
	}
}
