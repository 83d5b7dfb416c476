package learners

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/solver"
)

// -log2c and -log2g take lists of exponents as in grid.py.
func TestLog2Lists(t *testing.T) {
	if got, err := parseLog2List("C", "-1,3,2"); err != nil || !slices.Equal(got.Values, []float64{0.5, 2, 8}) {
		t.Errorf("-log2c: %v, %v", got, err)
	}
	if got, err := parseLog2List("gamma", "3,-15,-9"); err != nil ||
		!slices.Equal(got.Values, []float64{8, 1.0 / 64, math.Exp2(-15)}) {
		t.Errorf("-log2g: %v, %v", got, err)
	}
	for _, s := range []string{"", "1,2", "1,2,0", "1,0,1", "1,2,x", "1,2,1,4", "0,1e9,1"} {
		musttest.WantError(parseLog2List("C", s))(t, "-log2c "+s)
	}
}

func TestGridAlternatives(t *testing.T) {
	for spec, want := range map[string][]string{
		"ngd":               {"ngd"},
		"diffusion:t=0.1|2": {"diffusion:t=0.1", "diffusion:t=2"},
		"polynomial:gamma=1|2,degree=2|3": {"polynomial:gamma=1,degree=2", "polynomial:gamma=1,degree=3",
			"polynomial:gamma=2,degree=2", "polynomial:gamma=2,degree=3"},
		"sum(diffusion:t=0.1|1,linear:embed=tf-l1-sqrt)": {"sum(diffusion:t=0.1,linear:embed=tf-l1-sqrt)",
			"sum(diffusion:t=1,linear:embed=tf-l1-sqrt)"},
		"linear:embed=tf-l2|tfidf-l2": {"linear:embed=tf-l2", "linear:embed=tfidf-l2"},
		"diffusion|ngd-exp:t=1":       {"diffusion:t=1", "ngd-exp:t=1"},
		"0.2*diffusion:t=1|2 + 0.5*linear:embed=tf-l1-sqrt ": {"0.2*diffusion:t=1 + 0.5*linear:embed=tf-l1-sqrt ",
			"0.2*diffusion:t=2 + 0.5*linear:embed=tf-l1-sqrt "},
	} {
		got, err := source.ExpandAlternatives(spec)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, expected %q", spec, got, err, want)
		}
	}
	for _, spec := range []string{"diffusion:t=|1", "diffusion:t=1|", "|", "diffusion:t=1||2",
		strings.Repeat("a=1|2,", 11)} {
		musttest.WantError(source.ExpandAlternatives(spec))(t, spec)
	}
}

// Parsers of lists neither panic nor hang. They return distinct finite numbers, at most the allowed
// count.
func FuzzGridList(f *testing.F) {
	for _, s := range []string{"1,10,1", "3,-15,-9", "0,1e9,1", "diffusion:t=1|2,b=3|4"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if list, err := parseLog2List("C", s); err == nil &&
			(len(list.Values) == 0 || len(list.Values) > source.MaxValues) {
			t.Fatalf("%d values", len(list.Values))
		}
		if specs, err := source.ExpandAlternatives(s); err == nil {
			if len(specs) == 0 || len(specs) > source.MaxValues {
				t.Fatalf("%d specifications", len(specs))
			}
			for _, spec := range specs {
				if strings.Contains(spec, "|") {
					t.Fatalf("%q", spec)
				}
			}
		}
	})
}

// parseGrid parses line as arguments of grid, and returns the command and its kernels.
func parseGrid(line string) (*grid, []string, error) {
	f, r := cli.NewFlags("grid"), &grid{cvFlags: cvFlags{trainingFlags: &trainingFlags{}, folds: 5}}
	r.declare(f)
	f.Var(&r.lists, "grid", "")
	f.Var(log2Flag{&r.lists, "gamma"}, "log2g", "")
	f.Var(log2Flag{&r.lists, "C"}, "log2c", "")
	f.AddCheck(r.check)
	r.Source = "some" // default for lines without a source
	if err := f.Parse(strings.Fields(line)); err != nil {
		return nil, nil, err
	}
	g, err := r.points(threeClasses())
	var specs []string
	if g != nil {
		for _, k := range g.Kernels() {
			specs = append(specs, k.String())
		}
	}
	return r, specs, err
}

func TestGridKernels(t *testing.T) {
	const five = "diffusion:t=0.1 diffusion:t=0.25 diffusion:t=0.5 diffusion:t=1 diffusion:t=2"
	for line, want := range map[string]struct {
		kernels string
		c       []float64
	}{
		"a": {five,
			[]float64{0.1, 1, 10, 100}},
		"-kernel ngd a":             {"ngd:shift=0", []float64{0.1, 1, 10, 100}},
		"-kernel ngd|bhattacharyya": {"ngd:shift=0 bhattacharyya", nil},
		"-c 3 a": {five,
			nil},
		"-grid c=1 a":   {"diffusion:t=0.5", []float64{1}},
		"-grid t=1,2 a": {"diffusion:t=1 diffusion:t=2", nil},
		"-grid t=1,2 -kernel diffusion -kernel ngd-exp -kernel linear": {"diffusion:t=1 diffusion:t=2 ngd-exp:t=1 " +
			"ngd-exp:t=2 linear", nil},
		"-grid degree=1,2 -grid coef0=0,1 -kernel polynomial:gamma=3": {
			"polynomial:gamma=3,r=0,degree=1 polynomial:gamma=3,r=1,degree=1 " +
				"polynomial:gamma=3,r=0,degree=2 polynomial:gamma=3,r=1,degree=2", nil},
		"-t 2 -log2g -1,1,1 -log2c 0,2,2": {"rbf:gamma=0.5 rbf:gamma=1 rbf:gamma=2",
			[]float64{1, 4}},
		"-log2g 0,1,1":                        {"rbf:gamma=1 rbf:gamma=2", nil},
		"-type c_svc:kernel=rbf -log2g 0,1,1": {"rbf:gamma=1 rbf:gamma=2", nil},
		"-t 2":                                {"rbf:gamma=0.2", []float64{0.1, 1, 10, 100}},
		"-grid t=1,2 -embed tfidf-l1-sqrt": {"diffusion:t=1,embed=tfidf-l1-sqrt " +
			"diffusion:t=2,embed=tfidf-l1-sqrt",
			nil},
		"-s 1 a": {five, nil},
	} {
		r, kernels, err := parseGrid(line)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		g, err := r.points(threeClasses())
		if got := strings.Join(kernels, " "); err != nil || got != want.kernels || !slices.Equal(g.C, want.c) {
			t.Errorf("%s: %s, C %v, %v, expected %s, C %v", line, got, g.C, err, want.kernels, want.c)
		}
	}
	for line, want := range map[string]string{
		"-grid x=1 a": "unknown parameter", "-grid t=1 -kernel ngd": "unknown parameter",
		"-grid t=1 -kernel diffusion:t=0.5+ngd": "unknown parameter", "-grid C=0": "above 0",
		"-grid t=-1": "above 0", "-grid C=1 -grid C=2": "occurs twice", "-grid C=1 -log2c 0,1,1": "occurs twice",
		"-grid C=1 -c 2":                                "C is set by both -c 2 and -grid C",
		"-type linear -c 3 -grid C=1,2":                 "C is set by both -c 3 and -grid C",
		"-type knn -set k=3 -grid k=1,2":                "k is set by both -set k=3 and -grid k",
		"-type linear:loss=hinge -grid loss=hinge":      "loss is set by both -type linear:loss=hinge",
		"-s 1 -n 0.1 -grid nu=0.2":                      "nu is set by both -n 0.1 and -grid nu",
		"-ngrams 2 -grid ngrams=1":                      "ngrams is set by",
		"-kernel diffusion:t=0.5 -grid t=1":             "t is set by both -kernel diffusion:t=0.5 and -grid t",
		"-kernel ngd -kernel rbf:gamma=1 -grid gamma=2": "gamma is set by both -kernel rbf:gamma=1",
		"-t 2 -g 1 -log2g 0,1,1":                        "gamma is set by both -g 1 and -grid gamma",
		"-grid nu=0.1":                                  "unknown parameter \"nu\"",
		"-s 1 -grid C=1":                                "unknown parameter \"c\"",
		"-s 1 -grid nu=2":                               "at most 1", "-s 2": "one_class", "-grid embed=x": "embed",
		"-grid scheme=labels": "one-vs-rest",
		"-grid ngrams=2..1":   "ngrams", "-grid ngrams=1,": "empty", "-grid ngrams=1,1": "twice",
		"-grid embed=tf -embed tf": "embed is set by both",
		"-kernel diffusion:t=1|1":  "twice", "-grid degree=1.5 -kernel polynomial": "whole number",
		"-plot a": "not defined", "-kernel diffusion:t=1|": "empty value", "a b": "unexpected",
		"-in a b": "both name a source",
	} {
		_, _, err := parseGrid(line)
		var usage cli.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, expected a usage error with %q", line, err, want)
		}
	}
}

// The train command can be pasted into a shell and is accepted by train.
func TestTrainCommand(t *testing.T) {
	_, _, err := parseGrid(
		"-in my_mail -min-df 3 " +
			"-s 4 -e 0.01 -w1 5 -signed -h 0 -m 2G -format tsv -kernel diffusion:t=1|2 -scheme one-vs-rest",
	)
	if err == nil {
		t.Fatal("weights for a regression")
	}
	r, _, err := parseGrid(
		"-in my_mail -min-df 3 -e 0.01 -w1 5 -wcats 0.5 -signed " +
			"-h 0 -m 2G -gpu-tensor -format tsv -kernel diffusion:t=1|2 -scheme one-vs-rest",
	)
	musttest.NoError(t, err)
	r.Source = "my mail's"
	best := &gridRow{Kernel: "0.5*diffusion:t=1 + (2*ngd:shift=pi)",
		Regularization: solver.Regularization{C: 1e-3, Epsilon: 0.25}}
	got := r.trainCommand(false, (&gridReport{grid: r}).settingsOf(best))
	want := `gram train -in 'my mail'\''s' -e 0.01 -format tsv -gpu-tensor -h 0 -m 2G -min-df 3 ` +
		`-scheme one-vs-rest -signed -weight 1=5 -weight cats=0.5 ` +
		`-kernel '0.5*diffusion:t=1 + (2*ngd:shift=pi)' -c 0.001 -epsilon 0.25`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, q := range []struct {
		line, want string
		best       gridRow
	}{
		// a parameter in -set isn't repeated
		{"-set k=3 -type knn -grid uniform=0,1", "-type knn:k=3,uniform=true", gridRow{Type: "knn:k=3,uniform=true"}},
		{"-set c=3 -set tolerance=0.1 -type linear -grid loss=hinge,squared-hinge",
			"-set tolerance=0.1 -type linear:loss=hinge -c 3",
			gridRow{Type: "linear:loss=hinge", Regularization: solver.Regularization{C: 3}}},
		// the command keeps all parameters of -type
		{"-type linear:loss=hinge,tolerance=0.1,weight=1=2,balanced=true -grid C=1,2",
			"-set tolerance=0.1 -weight 1=2 -weight balanced -type linear:loss=hinge -c 2",
			gridRow{Type: "linear:loss=hinge", Regularization: solver.Regularization{C: 2}}},
		{"-type nu_svc:nu=0.1,tolerance=0.1 -kernel ngd|linear", "-type nu_svc -set tolerance=0.1 -kernel ngd -nu 0.1",
			gridRow{Kernel: "ngd", Regularization: solver.Regularization{Nu: 0.1}}},
	} {
		r, _, err := parseGrid(q.line)
		if err != nil {
			t.Errorf("%s: %v", q.line, err)
			continue
		}
		got, want := r.trainCommand(false, (&gridReport{grid: r}).settingsOf(&q.best)), "gram train -in some "+q.want
		if got != want {
			t.Errorf("%s: got  %s\nwant %s", q.line, got, want)
		}
		if _, err := parseSVM(strings.TrimPrefix(got, "gram train ")); err != nil {
			t.Errorf("%s: %v", got, err)
		}
	}
}

// A hint is printed if the best value is at an end of its list.
func TestGridEdges(t *testing.T) {
	lists := []kernel.ParamGrid{
		{Name: "C", Values: []float64{1, 10, 100}}, {Name: "t", Values: []float64{0.5, 1, 2}},
		{Name: "gamma", Values: []float64{1, 2}},
	}
	for _, c := range []struct {
		best gridRow
		want string
	}{
		{gridRow{Kernel: "diffusion:t=1", Regularization: solver.Regularization{C: 10}}, ""},
		{gridRow{Kernel: "diffusion:t=2", Regularization: solver.Regularization{C: 10}}, "largest t of the search, 2"},
		{gridRow{Kernel: "diffusion:t=0.5", Regularization: solver.Regularization{C: 10}}, "smallest t of the search, 0.5"},
		{gridRow{Kernel: "ngd", Regularization: solver.Regularization{C: 100}}, "largest C of the search, 100"},
	} {
		got := strings.Join(edgeHints(lists, &c.best), "; ")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) || strings.Count(got, ";") > 1 {
			t.Errorf("%+v: %q, expected %q", c.best, got, c.want)
		}
	}
}

// A chart has a curve per combination of the other parameters, over the longest list.
func TestCurves(t *testing.T) {
	row := gridRow{Kernel: "rbf:gamma=2,embed=tf-l2", Scheme: "one-vs-rest", NGrams: "1..2",
		Regularization: solver.Regularization{C: 10, Epsilon: 0.5}}
	for _, c := range []struct {
		lists []kernel.ParamGrid
		over  string
		x     float64
		name  string
	}{
		{nil, "C", 10, "rbf:gamma=2,embed=tf-l2, epsilon = 0.5"},
		{[]kernel.ParamGrid{{Name: "gamma", Values: []float64{1, 2}}, {Name: "C", Values: []float64{1, 10}}}, "C", 10,
			"rbf:gamma=2,embed=tf-l2, epsilon = 0.5"},
		{[]kernel.ParamGrid{{Name: "gamma", Values: []float64{1, 2, 3}}, {Name: "C", Values: []float64{1, 10}}}, "gamma", 2,
			"rbf:embed=tf-l2, C = 10, epsilon = 0.5"},
		{[]kernel.ParamGrid{{Name: "epsilon", Values: []float64{0.5, 1}}}, "epsilon", 0.5, "rbf:gamma=2,embed=tf-l2, C = 10"},
	} {
		r := &gridReport{grid: &grid{}, searchGrid: &learn.Grid{Lists: c.lists}}
		x, name := r.curveOf(&row, r.plotParameter())
		if r.plotParameter() != c.over || x != c.x || name != c.name {
			t.Errorf("%v: %s = %v of %q, expected %s = %v of %q", c.lists, r.plotParameter(), x, name, c.over, c.x, c.name)
		}
	}
}
