package model

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// With a written model, svm-predict computes our decision values and classes.
func TestSVMPredictAgrees(t *testing.T) {
	program(t, "svm-predict")
	kernels := []string{
		"linear", "polynomial:gamma=0.25,r=1,degree=2", "rbf:gamma=0.25", "sigmoid:gamma=0.015625,r=-0.5",
	}
	var all []recipe
	for _, typ := range Types {
		for _, k := range kernels {
			all = append(all, recipe{typ: typ, kernel: k, signed: true})
		}
	}
	all = append(all, []recipe{
		{typ: CSVC, kernel: kernels[2], words: true},
		{typ: CSVC, kernel: kernels[2], classes: []string{"7", "empty", "x"}},
		{typ: CSVC, kernel: kernels[2], classes: []string{"7", "-3", "1e2"}},
		{typ: CSVC, kernel: kernels[2], scheme: solver.OneVsRest, classes: []string{"-1", "1"}},
	}...)
	for _, r := range all {
		t.Run(r.String(), func(t *testing.T) {
			m := r.train(t)
			text, labels := libsvmText(t, m, false)
			docs := points(2, 20, 6, r.signed)
			file := rawFile(docs)
			got := decisions(t, m, docs)
			agreeWith(t, m, got, text, file)
			if m.Type.Classifies() {
				agreeOnClasses(t, m, labels, got, predict(t, text, file))
			}
		})
	}
}

// agreeWith compares decision values with svm-predict's. The file has no nil binary classifiers,
// and only the first classifier of one-vs-rest.
func agreeWith(t *testing.T, m *Model, got [][]decision, text, file string) {
	t.Helper()
	var kept [][]decision
	for _, row := range got {
		var own []decision
		for i, d := range row {
			if m.Classifier.Functions[i] != nil && (m.Classifier.Scheme == solver.OneVsOne || i == 0) {
				own = append(own, d)
			}
		}
		kept = append(kept, own)
	}
	agree(t, kept, predictDecisions(t, text, file))
}

// A model with any kernel can be written for kernel values from the user.
func TestPrecomputed(t *testing.T) {
	program(t, "svm-predict")
	for _, r := range []recipe{
		{typ: CSVC, kernel: "diffusion:t=0.5", embedding: sparse.SphereEmbedding},
		{typ: EpsilonSVR, kernel: "rbf:gamma=0.25"},
	} {
		m := r.train(t)
		train, docs := points(1, 60, 6, false), points(2, 20, 7, false)
		text, labels := libsvmText(t, m, true)
		x := musttest.Get(m.Embedder.Transform(docs))(t)
		y := musttest.Get(m.Embedder.Transform(train))(t)
		file := kernelFile(evaluate(t, r.kernel, x, y))
		got := decisions(t, m, docs)
		agreeWith(t, m, got, text, file)
		if m.Type.Classifies() {
			agreeOnClasses(t, m, labels, got, predict(t, text, file))
		}
	}
}

// Probabilities agree approximately with svm-predict's: a sigmoid of the wrong binary classifier or
// sign would differ much. svm-predict's iteration stops at a gradient of 0.005/k for k classes. Its
// objective's second derivative is above r₁₂² + r₂₁² >= ½ for two, so the probability is within
// 0.005, and the tolerance has a factor of two. Tests of ReadLIBSVM compare exact numbers.
func TestProbabilitiesAgree(t *testing.T) {
	program(t, "svm-predict")
	for _, classes := range [][]string{{"1", "2"}, nil} {
		m := recipe{typ: CSVC, kernel: "rbf:gamma=0.25", sigmoids: true, classes: classes}.train(t)
		text, labels := libsvmText(t, m, false)
		docs := points(2, 20, 6, false)
		lines := predict(t, text, rawFile(docs), "-b", "1")
		if want := fmt.Sprintf("[labels %s]", strings.Trim(fmt.Sprint(labels), "[]")); fmt.Sprint(lines[0]) != want {
			t.Errorf("svm-predict's columns are %v, expected %s", lines[0], want)
		}
		p := make([]float64, len(m.Classes))
		for i, row := range decisions(t, m, docs) {
			musttest.NoError(t, m.Classifier.Probabilities(p, plain(row)))
			for c, want := range lines[i+1][1:] {
				v := musttest.Get(strconv.ParseFloat(want, 64))(t)
				if !(math.Abs(p[c]-v) <= 0.01) {
					t.Errorf("document %d has class %d with %v, svm-predict says %v", i, c, p[c], v)
				}
			}
		}
	}
}

// Models of svm-train are read, and give svm-predict's decisions.
func TestReadSVMTrain(t *testing.T) {
	svmTrain := program(t, "svm-train")
	program(t, "svm-predict")
	docs, test := points(1, 60, 6, true), points(2, 20, 9, true) // no support vector has terms 7 to 9
	linear := func(x, y *sparse.CSR) (values [][]float64) {
		f := sparse.Embedding{}.Fit(docs)
		a, errA := f.Transform(x)
		b, errB := f.Transform(y)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		return evaluate(t, "linear", a, b)
	}
	trainLines, gramLines := strings.Split(rawFile(docs), "\n"), strings.Split(kernelFile(linear(docs, docs)), "\n")
	toTest := linear(test, docs)
	for _, c := range []struct {
		typ, classes int // svm-train's -s
	}{{0, 2}, {0, 3}, {0, 1}, {1, 3}, {2, 1}, {3, 0}, {4, 0}} {
		for kernel := range kernelNames {
			for _, probable := range []bool{false, true} {
				t.Run(fmt.Sprintf(
					"%s/%s/classes=%d/probabilities=%v", Types[c.typ], kernelNames[kernel], c.classes, probable,
				), func(t *testing.T) {
					if probable && c.typ == 2 {
						t.Skip("not in every LIBSVM")
					}
					lines := trainLines
					if kernelNames[kernel] == Precomputed {
						lines = gramLines
					}
					var b strings.Builder
					for i := range docs.Rows() {
						target := "1"
						_, values := docs.Row(i)
						switch {
						case c.classes == 0 && len(values) > 0:
							target = fmt.Sprint(values[0] * values[len(values)-1])
						case c.classes > 1:
							target = fmt.Sprint((i*i+i/7)%c.classes*5 - 5)
						}
						b.WriteString(target + strings.TrimPrefix(lines[i], "0") + "\n")
					}
					dir := t.TempDir()
					in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
					musttest.NoError(t, os.WriteFile(in, []byte(b.String()), 0o666))
					args := []string{
						"-q", "-s", fmt.Sprint(c.typ), "-t", fmt.Sprint(kernel), "-n", "0.2", "-d", "2", "-r", "0.5",
						"-g", "0.05",
					}
					if probable {
						args = append(args, "-b", "1")
					}
					if text, err := exec.Command(svmTrain, append(args, in, out)...).CombinedOutput(); err != nil {
						t.Fatalf("%v: %s", err, text)
					}
					text := musttest.Get(os.ReadFile(out))(t)
					m, err := ReadLIBSVM(ctx, strings.NewReader(string(text)), out)
					if err != nil {
						t.Fatalf("%v\n%s", err, text)
					}
					checkRead(t, m, string(text), probable)
					file, values := rawFile(test), [][]decision(nil)
					if m.Kernel == Precomputed {
						file = kernelFile(toTest)
						var columns [][]float64
						for _, row := range toTest {
							var own []float64
							for _, doc := range m.SupportDocs {
								own = append(own, row[doc])
							}
							columns = append(columns, own)
						}
						values = decide(m, columns)
					} else {
						values = decisions(t, m, test)
					}
					if c.classes != 1 || c.typ == 2 { // a single class has no binary classifier
						agree(t, values, predictDecisions(t, string(text), file))
					}
					if m.Type.Classifies() {
						labels := musttest.Get(LIBSVMLabels(m.Classes))(t)
						agreeOnClasses(t, m, labels, values, predict(t, string(text), file))
					}
				})
			}
		}
	}
}

// checkRead checks that a model that was read can be written in both formats without loss, and that
// its kernel is in canonical form.
func checkRead(t *testing.T, m *Model, text string, probable bool) {
	t.Helper()
	if m.Kernel != Precomputed {
		if k, err := kernel.Parse(m.Kernel); err != nil || k.String() != m.Kernel ||
			k.Embedding() != m.Embedder.Embedding {
			t.Errorf("kernel %q, %v", m.Kernel, err)
		}
	}
	again, _ := libsvmText(t, m, false)
	back := musttest.Get(ReadLIBSVM(ctx, strings.NewReader(again), "again"))(t)
	same(t, back, m)
	own := musttest.Get(Read(ctx, strings.NewReader(string(encode(t, m)))))(t)
	same(t, own, m)
	want, got := pieces(text), pieces(again)
	for key, values := range want.header {
		if len(values) != len(got.header[key]) {
			t.Fatalf("%s: %v, expected %v", key, got.header[key], values)
		}
		for i, v := range values {
			a, errA := strconv.ParseFloat(v, 64)
			b, errB := strconv.ParseFloat(got.header[key][i], 64)
			if a != b || (errA == nil) != (errB == nil) || errA != nil && v != got.header[key][i] {
				t.Errorf("%s: %v, expected %v", key, got.header[key], values)
			}
		}
	}
	if !slices.Equal(got.rows, want.rows) {
		t.Errorf("support vectors are written as\n%q, expected\n%q", got.rows, want.rows)
	}
	for i, machine := range m.Classifier.Functions {
		if m.Type.Classifies() && (machine.Sigmoid != nil) != probable {
			t.Errorf("machine %d has a sigmoid: %v, expected %v", i, machine.Sigmoid != nil, probable)
		}
	}
}
