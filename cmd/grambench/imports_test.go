package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/gramengine/gram"

// The packages of the command, below the module and with it, and those that commands share.
const (
	own    = "cmd/grambench/internal/"
	shared = module + "/internal/"
)

// library is what the command builds on, framework what its packages share.
var (
	library = []string{
		module + "/asm",
		module + "/sparse",
		module + "/corpus",
		module + "/tiles",
		module + "/engine",
		module + "/cuda",
		module + "/solver",
		module + "/learn",
	}
	framework = slices.Concat(library, []string{
		shared + "report", shared + "matrixio", shared + "chart", shared + "page", shared + "cli",
		shared + "backend", shared + "source",
	})
)

// allowed says, for each package of the module, which packages of the module and which modules of
// others it may import: imports point down only. Nested packages follow the rule of the nearest one
// above them, and may import what shares their top folder; tests may import what they like.
var allowed = map[string][]string{
	"sparse": {"github.com/minio/sha256-simd"},
	"corpus": {
		module + "/sparse", "github.com/minio/sha256-simd", "golang.org/x/text", "github.com/klauspost/compress",
	},
	"corpus/token":     {"golang.org/x/text", "github.com/kljensen/snowball"},
	"asm":              {"github.com/klauspost/cpuid/v2"},
	"tiles":            {"github.com/minio/sha256-simd"},
	"tiles/atomicfile": {"golang.org/x/sys"},
	"engine": {
		module + "/sparse",
		module + "/asm",
		module + "/tiles",
		"gonum.org/v1/gonum",
		"golang.org/x/sync",
	},
	"cuda":                     {module + "/engine/device", module + "/sparse", "gorgonia.org/cu"},
	"cuda/internal/timetable":  {module + "/cuda/internal/timemodel", module + "/sparse", module + "/corpus"},
	"engine/device":            {module + "/sparse"},
	"engine/device/devicetest": {module + "/engine/device", module + "/sparse"},

	// Below engine nobody knows engine, and panel and kernel don't know each other.
	"engine/kernel": {
		module + "/sparse",
		module + "/asm",
		module + "/engine/device",
		module + "/engine/internal/arccosine",
		module + "/engine/internal/heat",
		module + "/engine/internal/interpolate",
		module + "/engine/internal/shape",
	},
	"engine/internal":             {module + "/sparse", module + "/asm", "gonum.org/v1/gonum"},
	"engine/internal/arccosine":   {module + "/asm", module + "/engine/internal/interpolate", "gonum.org/v1/gonum"},
	"engine/internal/interpolate": {},
	"engine/internal/panel": {
		module + "/sparse",
		module + "/asm",
		module + "/tiles",
		module + "/engine/device",
	},
	"engine/internal/compute": {
		module + "/sparse",
		module + "/asm",
		module + "/tiles",
		module + "/engine/device",
		module + "/engine/kernel",
	},
	"engine/internal/cache": {
		module + "/sparse",
		module + "/tiles",
		module + "/engine/device",
		module + "/engine/internal/compute",
		module + "/engine/kernel",
		module + "/engine/internal/shape",
	},
	"engine/internal/nearest": {module + "/asm", module + "/engine/device"},
	"engine/spectrum":         {"gonum.org/v1/gonum"},

	"solver":                {module + "/asm", "gonum.org/v1/gonum"},
	"learn/internal/sphere": {},
	"learn/selection":       {module + "/sparse", module + "/corpus"},
	"learn/lmnn": {
		module + "/sparse", module + "/corpus", module + "/asm", module + "/learn/internal/archive",
		module + "/learn/internal/lbfgs", module + "/learn/internal/task", "gonum.org/v1/gonum",
	},
	"learn/internal/lbfgs": {},
	"learn/mkm": {
		module + "/sparse", module + "/corpus", module + "/engine", module + "/solver", "gonum.org/v1/gonum",
	},
	"learn/width": {"gonum.org/v1/gonum"},
	"learn/pca": {
		module + "/sparse", module + "/corpus", module + "/asm", module + "/engine", "gonum.org/v1/gonum",
	},
	"learn/knn": {
		module + "/sparse", module + "/corpus",
		module + "/asm",
		module + "/engine", module + "/solver",
	},
	"learn/logistic": {
		module + "/sparse", module + "/corpus", module + "/solver", module + "/learn/internal/sphere",
		module + "/learn/internal/archive", module + "/learn/internal/task",
	},
	"learn/linear": {
		module + "/sparse", module + "/corpus", module + "/solver", module + "/learn/internal/archive",
		module + "/learn/internal/task",
	},
	"learn/internal/task": {
		module + "/sparse", module + "/corpus", module + "/solver", module + "/learn/internal/archive",
	},
	"learn/landmark": {
		module + "/sparse", module + "/corpus", module + "/asm", module + "/engine", module + "/solver", "gonum.org/v1/gonum",
	},
	"learn/internal/dense":   {module + "/asm", "gonum.org/v1/gonum"},
	"learn/internal/archive": {module + "/sparse", module + "/corpus", "github.com/minio/sha256-simd"},
	"learn/model": {
		module + "/solver", module + "/sparse", module + "/corpus", module + "/tiles/atomicfile",
		module + "/learn/internal/archive",
	},
	"learn/svm": {
		module + "/sparse", module + "/corpus", module + "/asm", module + "/tiles", module + "/engine", module + "/solver",
		shared + "flagtext",
	},
	"cmd/grambench": {module},
	"cmd/libgram":   {module},

	// The command's framework: each knows what stands before it. Commands know the framework and
	// not each other; effects is what some of them share.
	"internal/run":      {},
	"internal/flagtext": {},
	"internal/report":   {},
	"internal/matrixio": {module + "/tiles/atomicfile"},
	"internal/parquet":  {},
	"internal/chart":    {shared + "matrixio", "gonum.org/v1/plot"},
	"internal/page":     {shared + "report", shared + "chart", shared + "matrixio", "gonum.org/v1/plot"},
	"internal/cli": {
		shared + "flagtext",
		shared + "matrixio",
		shared + "report",
		"github.com/schollz/progressbar/v3",
		"golang.org/x/term",
	},
	"internal/cli/clitest": {shared + "cli", "github.com/rogpeppe/go-internal"}, // for tests
	"internal/musttest":    {},                                                  // for tests
	"internal/backend":     slices.Concat(library, []string{shared + "cli", shared + "report"}),
	"internal/source":      framework,
	"internal/host":        {"github.com/klauspost/cpuid/v2", "golang.org/x/sys"},
	"docs":                 nil,
	"docs/machines":        {shared + "instrument"},
	"internal/soak":        slices.Concat(library, []string{shared + "host"}),
	"internal/instrument": slices.Concat(library, []string{module, shared + "report", shared + "host",
		"gonum.org/v1/gonum", "github.com/klauspost/cpuid/v2"}),
	own + "matrices": slices.Concat(framework, []string{"github.com/klauspost/cpuid/v2"}),
	"learn":          slices.Concat(library, []string{shared + "flagtext", "gonum.org/v1/gonum"}),
	// gram: no cli, no plots
	"": slices.Concat(library, []string{
		shared + "flagtext", "gonum.org/v1/gonum", "github.com/minio/sha256-simd"}),
	own + "effects": framework,
	own + "machines": slices.Concat(framework, []string{module + "/" + own + "effects", shared + "parquet",
		"gonum.org/v1/plot"}),
	own + "explain":    slices.Concat(framework, []string{module + "/" + own + "effects", "gonum.org/v1/plot"}),
	own + "soak":       slices.Concat(framework, []string{shared + "soak", shared + "host"}),
	own + "verify":     slices.Concat(framework, []string{"github.com/minio/sha256-simd"}),
	own + "neighbours": slices.Concat(framework, []string{"gonum.org/v1/plot"}),
	own + "spectral":   slices.Concat(framework, []string{"gonum.org/v1"}),
	own + "bench": slices.Concat(framework, []string{shared + "instrument", module + "/docs/machines",
		"github.com/klauspost/cpuid/v2", "gonum.org/v1/plot"}),
	own + "serve": slices.Concat(framework, []string{module, "github.com/VictoriaMetrics/metrics"}),

	"testdata": {},

	// a module of its own, which nobody imports
	"lab": {module, "github.com/klauspost/cpuid/v2", "gonum.org/v1", "github.com/parquet-go/parquet-go"},
}

// ruleFor returns the rule of the nearest package at or above a path inside the module.
func ruleFor(path string) (rule []string, known bool) {
	for {
		if rule, known = allowed[path]; known {
			return rule, true
		}
		above := strings.LastIndexByte(path, '/')
		if above < 0 {
			return nil, false
		}
		path = path[:above]
	}
}

// listed is what go list says about a package.
type listed struct {
	ImportPath string
	Imports    []string
	Standard   bool
}

// violations returns the imports that break the rules.
func violations(packages []listed) []string {
	standard := map[string]bool{"C": true, "unsafe": true}
	for _, p := range packages {
		if p.Standard {
			standard[p.ImportPath] = true
		}
	}
	var bad []string
	for _, p := range packages {
		inside, ok := strings.CutPrefix(p.ImportPath+"/", module+"/")
		if !ok {
			continue
		}
		inside = strings.TrimSuffix(inside, "/")
		folder, _, _ := strings.Cut(inside, "/")
		rule, known := ruleFor(inside)
		if !known {
			bad = append(bad, p.ImportPath+" has no rule")
			continue
		}
		for _, i := range p.Imports {
			under := func(path string) bool { return i == path || strings.HasPrefix(i, path+"/") }
			below := inside != "" && strings.HasPrefix(i, p.ImportPath+"/internal/")
			shared := inside != "" && under(module+"/"+folder) &&
				// these know nothing of what shares their folder
				!strings.HasPrefix(inside, "engine/") && folder != "cmd" && folder != "internal"
			if i == module+"/internal/run" {
				continue // knows nothing of ours
			}
			if under(module+"/lab") && folder != "lab" {
				bad = append(bad, p.ImportPath+" imports "+i+": only lab knows lab")
			} else if !standard[i] && !slices.ContainsFunc(rule, under) && !shared && !below {
				bad = append(bad, p.ImportPath+" imports "+i)
			}
		}
	}
	return bad
}

func TestImportsPointDown(t *testing.T) {
	var failure *exec.ExitError
	var packages []listed
	for _, of := range []struct{ folder, pattern string }{{"../..", module + "/..."}, {"../../lab", module + "/lab/..."}} {
		list := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,Standard", of.pattern)
		list.Dir = of.folder
		text, err := list.Output()
		if errors.As(err, &failure) {
			t.Fatalf("go list: %s", failure.Stderr)
		}
		if err != nil {
			t.Skip(err) // no go command where only the test binary is run
		}
		for d := json.NewDecoder(strings.NewReader(string(text))); ; {
			var p listed
			if err := d.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			packages = append(packages, p)
		}
	}
	for _, folder := range []string{"sparse", "corpus", "asm", "engine", "solver", "cmd/grambench", "lab/cmd/gramlab"} {
		if !slices.ContainsFunc(packages, func(p listed) bool { return p.ImportPath == module+"/"+folder }) {
			t.Errorf("package %s isn't listed", folder)
		}
	}
	for _, v := range violations(packages) {
		t.Error(v)
	}
}

// The rules themselves must be able to fail.
func TestImportRulesBite(t *testing.T) {
	cases := map[string]listed{
		"upwards":           {ImportPath: module + "/sparse", Imports: []string{"fmt", module + "/engine"}},
		"a stranger":        {ImportPath: module + "/asm", Imports: []string{"gonum.org/v1/gonum/mat"}},
		"the command":       {ImportPath: module + "/solver", Imports: []string{module + "/cmd/grambench"}},
		"a package unseen":  {ImportPath: module + "/extras"},
		"models":            {ImportPath: module + "/solver", Imports: []string{module + "/learn/model"}},
		"the facade":        {ImportPath: module, Imports: []string{module + "/internal/cli"}},
		"a nested package":  {ImportPath: module + "/learn/model", Imports: []string{module + "/engine"}},
		"engine from below": {ImportPath: module + "/engine/normal", Imports: []string{module + "/engine"}},
		"siblings":          {ImportPath: module + "/engine/normal", Imports: []string{module + "/engine/kernel"}},
		"the lab":           {ImportPath: module + "/cmd/grambench", Imports: []string{module + "/lab/internal/repro"}},
		"a similar prefix":  {ImportPath: module + "/engine", Imports: []string{module + "/sparser"}},
	}
	for name, p := range cases {
		if bad := violations([]listed{{ImportPath: "fmt", Standard: true}, p}); len(bad) != 1 {
			t.Errorf("%s: violations are %q, expected one", name, bad)
		}
	}
	if bad := violations([]listed{{ImportPath: module + "/engine",
		Imports: []string{module + "/sparse", "gonum.org/v1/gonum/mat"}}}); bad != nil {
		t.Errorf("what is allowed is refused: %q", bad)
	}
}
