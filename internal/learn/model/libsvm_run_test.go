package model

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// program returns the path of one of LIBSVM's programs, or skips the test.
func program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	return path
}

// libsvmFile is a LIBSVM file in pieces. It is read as svm.cpp defines it, without code of this
// package.
type libsvmFile struct {
	header map[string][]string
	coefs  [][]string // coefficients of each support vector
	rows   []string   // values of each support vector, as text
}

func pieces(text string) libsvmFile {
	head, vectors, _ := strings.Cut(text, "\nSV\n")
	f := libsvmFile{header: map[string][]string{}}
	for line := range strings.Lines(head) {
		words := strings.Fields(line)
		f.header[words[0]] = words[1:]
	}
	k, _ := strconv.Atoi(f.header["nr_class"][0])
	for line := range strings.Lines(vectors) {
		words := strings.Fields(line)
		f.coefs, f.rows = append(f.coefs, words[:k-1]), append(f.rows, strings.Join(words[k-1:], " "))
	}
	return f
}

// machines returns the file of a regression for each pair of classes i < j. The regression predicts
// the decision value from the support vectors of i with the coefficients in row j-1, and the
// support vectors of j with the coefficients in row i, as in svm_predict_values. Types without
// classes have one file.
func (f libsvmFile) machines() []string {
	var files []string
	write := func(rho string, lines []string) {
		var b strings.Builder
		fmt.Fprintf(&b, "svm_type epsilon_svr\nkernel_type %s\n", f.header["kernel_type"][0])
		for _, key := range []string{"degree", "gamma", "coef0"} {
			if v := f.header[key]; v != nil {
				fmt.Fprintf(&b, "%s %s\n", key, v[0])
			}
		}
		fmt.Fprintf(&b, "nr_class 2\ntotal_sv %d\nrho %s\nSV\n%s", len(lines), rho, strings.Join(lines, ""))
		files = append(files, b.String())
	}
	var start []int
	var sizes []int
	at := 0
	for _, n := range f.header["nr_sv"] {
		size, _ := strconv.Atoi(n)
		start, sizes = append(start, at), append(sizes, size)
		at += size
	}
	p := 0
	for i := range sizes {
		for j := i + 1; j < len(sizes); j++ {
			var lines []string
			for s := start[i]; s < start[i]+sizes[i]; s++ {
				lines = append(lines, f.coefs[s][j-1]+" "+f.rows[s]+"\n")
			}
			for s := start[j]; s < start[j]+sizes[j]; s++ {
				lines = append(lines, f.coefs[s][i]+" "+f.rows[s]+"\n")
			}
			write(f.header["rho"][p], lines)
			p++
		}
	}
	if sizes == nil {
		var lines []string
		for s := range f.rows {
			lines = append(lines, f.coefs[s][0]+" "+f.rows[s]+"\n")
		}
		write(f.header["rho"][0], lines)
	}
	return files
}

// predict runs svm-predict on a model and a file of documents. It returns the words of each output
// line.
func predict(t testing.TB, model, documents string, args ...string) [][]string {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for name, text := range map[string]string{"documents": documents, "model": model} {
		musttest.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	for _, name := range []string{"documents", "model", "out"} {
		paths = append(paths, filepath.Join(dir, name))
	}
	if out, err := exec.Command(program(t, "svm-predict"), append(args, paths...)...).CombinedOutput(); err != nil {
		t.Fatalf("svm-predict: %v: %s", err, out)
	}
	out := musttest.Get(os.ReadFile(paths[2]))(t)
	var lines [][]string
	for line := range strings.Lines(string(out)) {
		lines = append(lines, strings.Fields(line))
	}
	return lines
}

// predictDecisions returns svm-predict's decision values for all binary classifiers of a file.
func predictDecisions(t testing.TB, model, documents string) [][]float64 {
	t.Helper()
	var out [][]float64
	for _, file := range pieces(model).machines() {
		for i, words := range predict(t, file, documents) {
			v := musttest.Get(strconv.ParseFloat(words[0], 64))(t)
			if i == len(out) {
				out = append(out, nil)
			}
			out[i] = append(out[i], v)
		}
	}
	return out
}

// agree compares decision values with svm-predict's. Both programs sum at most 60 products in
// float64, with 60 roundings relative to the sum of absolute values. Exponents of Gaussian kernels
// are below 30, with about ten roundings of numbers up to eight times as large; other kernels need
// fewer. In total there are fewer than 60 + 30·80 roundings of 2⁻⁵³, which is 3·10⁻¹³.
func agree(t testing.TB, got [][]decision, want [][]float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d documents, svm-predict has %d", len(got), len(want))
	}
	for i := range got {
		if len(got[i]) != len(want[i]) {
			t.Fatalf("document %d: %d decision values, svm-predict has %d", i, len(got[i]), len(want[i]))
		}
		for k, d := range got[i] {
			if !(math.Abs(d.value-want[i][k]) <= 3e-13*d.scale) {
				t.Errorf("document %d, machine %d: decision value %v, svm-predict has %v", i, k, d.value, want[i][k])
			}
		}
	}
}

// agreeOnClasses compares our classes with svm-predict's. It skips ties of votes: svm-predict takes
// the first class, Gram the class with the largest sum of decision values.
func agreeOnClasses(t testing.TB, m *Model, labels []int32, decisions [][]decision, lines [][]string) {
	t.Helper()
	if len(lines) != len(decisions) {
		t.Fatalf("%d documents, svm-predict has %d", len(decisions), len(lines))
	}
	compared := 0
	for i, row := range decisions {
		values := plain(row)
		if m.Classifier.Scheme == solver.OneVsOne && tiedVotes(m.Classifier.Classes, values) {
			continue
		}
		compared++
		if want := fmt.Sprint(labels[m.Classifier.PredictClass(values)]); lines[i][0] != want {
			t.Errorf("document %d: svm-predict says class %s, expected %s", i, lines[i][0], want)
		}
	}
	if compared == 0 {
		t.Error("all documents have tied votes")
	}
}

// tiedVotes reports whether several classes have the most votes.
func tiedVotes(classes int, decisions []float64) bool {
	votes := make([]int, classes)
	for i, pair := range solver.ClassPairs(classes) {
		if decisions[i] > 0 {
			votes[pair[0]]++
		} else {
			votes[pair[1]]++
		}
	}
	slices.Sort(votes)
	return classes > 1 && votes[classes-1] == votes[classes-2]
}

// svmlight formats documents with label 0 and their index:value pairs.
func svmlight(rows int, row func(i int, pair func(index int, value float64))) string {
	var b strings.Builder
	for i := range rows {
		b.WriteByte('0')
		row(i, func(index int, value float64) { fmt.Fprintf(&b, " %d:%v", index, value) })
		b.WriteByte('\n')
	}
	return b.String()
}

// rawFile formats documents without embedding.
func rawFile(docs *sparse.CSR) string {
	return svmlight(docs.Rows(), func(i int, pair func(int, float64)) {
		terms, values := docs.Row(i)
		for k, c := range terms {
			pair(int(c)+1, float64(values[k]))
		}
	})
}

// kernelFile formats rows of kernel values as LIBSVM's precomputed kernel.
func kernelFile(values [][]float64) string {
	return svmlight(len(values), func(i int, pair func(int, float64)) {
		pair(0, float64(i+1))
		for j, v := range values[i] {
			pair(j+1, v)
		}
	})
}

// libsvmText returns the model in LIBSVM's format.
func libsvmText(t testing.TB, m *Model, precomputed bool) (string, []int32) {
	t.Helper()
	var b bytes.Buffer
	labels := musttest.Get(m.WriteLIBSVM(ctx, &b, precomputed))(t)
	return b.String(), labels
}
