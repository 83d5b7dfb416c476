package gram_test

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// A model may be used concurrently: everybody gets what one alone gets.
func TestModelPredictsConcurrently(t *testing.T) {
	for _, o := range []gram.TrainOptions{{Kernel: "diffusion:t=1", C: 1}, {Type: "logistic"}, {Type: "knn:k=1"}} {
		m := gram.Must(gram.Train(t.Context(), few(t), o))
		want := gram.Must(m.PredictTexts(t.Context(), fewTexts))
		m = m.With(gram.Options{Workers: 1}) // nothing is ready
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if got, err := m.PredictTexts(t.Context(), fewTexts); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %+v, %v, expected %+v", o.Type, got, err, want)
				}
			})
		}
		all.Wait()
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A text without a word that the model knows says so.
func TestPredictTextsKnown(t *testing.T) {
	m := gram.Must(gram.Train(t.Context(), few(t), gram.TrainOptions{Kernel: "linear", C: 1}))
	p := gram.Must(m.PredictTexts(t.Context(), []string{"", "unheard words", "green green salt"}))
	if !slices.Equal(p.Known, []int{0, 0, 2}) || len(p.Labels) != 3 || !reflect.DeepEqual(p.Labels[0], p.Labels[1]) {
		t.Errorf("known %v, labels %v", p.Known, p.Labels)
	}
	for _, row := range p.Scores {
		for _, v := range row {
			if math.IsNaN(v) {
				t.Errorf("scores %v", p.Scores)
			}
		}
	}
}

// A few texts that MinDF 2 leaves empty are a warning, and none where MinDF is given.
func TestTextsWarn(t *testing.T) {
	for minDF, want := range map[int]bool{0: true, 1: false, 2: false} {
		var warnings []string
		o := gram.ReadOptions{MinDF: minDF, Options: gram.Options{Warn: func(s string) { warnings = append(warnings, s) }}}
		gram.Must(gram.Texts(t.Context(), []string{"one two", "three four", "five six"}, nil, o))
		if all := strings.Join(warnings, "\n"); strings.Contains(all, "MinDF 1") != want || minDF == 1 && all != "" {
			t.Errorf("MinDF %d: warnings %q", minDF, all)
		}
	}
}

// A kernel of the program's own is known by its name, from the matrix to the loaded model.
func TestOwnKernels(t *testing.T) {
	own := gram.Must(engine.NewKernel(engine.Custom{Name: "halved", Embedding: sparse.Sphere,
		Eval: func(c, _, _ float64) float64 { return 1 - c/2 }}))
	o := gram.Options{Kernels: []engine.Kernel{own}}
	c := few(t)
	k := gram.Must(gram.Gram(t.Context(), c, "halved", o))
	if !(math.Abs(k.At(0, 3)-0.5) <= 1e-6) || !(math.Abs(k.At(2, 2)-1) <= 1e-6) {
		t.Errorf("values %v and %v, expected 0.5 and 1", k.At(0, 3), k.At(2, 2))
	}
	m := gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Options: o, Kernel: "halved"}))
	path := filepath.Join(t.TempDir(), "own.model")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	loaded := gram.Must(gram.Load(path))
	if _, err := loaded.PredictTexts(t.Context(), fewTexts); err == nil {
		t.Error("a model of a kernel that the program doesn't have predicts")
	}
	want, got := gram.Must(m.Predict(t.Context(), c)), gram.Must(loaded.With(o).Predict(t.Context(), c))
	if !reflect.DeepEqual(want, got) {
		t.Errorf("%+v before, %+v after it was loaded", want, got)
	}
}

// Model files of LIBSVM's svm-train are loaded.
func TestLoadLIBSVM(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.model")
	const text = "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 0.5\nlabel 1 -1\nnr_sv 1 1\nSV\n" +
		"1 1:1\n-1 2:1\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := gram.NewRows(3) // columns are LIBSVM's indices
	if err := errors.Join(r.Add([]uint32{1}, []float64{3}), r.Add([]uint32{2}, []float64{3})); err != nil {
		t.Fatal(err)
	}
	p := gram.Must(gram.Must(gram.Load(path)).Predict(t.Context(), r.Corpus()))
	if p.Label(0) != "1" || p.Label(1) != "-1" || !(math.Abs(p.Scores[0][0]-2.5) <= 1e-6) {
		t.Errorf("%+v", p)
	}
}

// The facade builds for WebAssembly, and takes no command, plots or GPU along.
func TestImportsOfTheFacade(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	build := exec.Command("go", "build", ".")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("go build for wasm: %v\n%s", err, out)
	}
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.Lines(string(out)) {
		if strings.TrimSpace(path) == "github.com/gramengine/gram/internal/run" {
			continue // what every computation may use and how it reports
		}
		for _, other := range []string{"gonum.org/v1/plot", "gram/internal/", "gram/cuda", "gram/cmd", "gram/cluster",
			"gorgonia", "progressbar"} {
			if strings.Contains(path, other) {
				t.Errorf("the facade takes %s along", strings.TrimSpace(path))
			}
		}
	}
}
