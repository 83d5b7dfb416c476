package svm_test

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// newsgroups returns the training and test documents of the first classes of 20 Newsgroups. The
// test is skipped where they are missing.
func newsgroups(t *testing.T, classes int) (train, test *corpus.Corpus) {
	t.Helper()
	folder := filepath.Join("..", "..", "..", "shared", "data", "20news-bydate")
	if _, err := os.Stat(folder); err != nil {
		t.Skip("20 Newsgroups is not here: ", err)
	}
	var vocabulary []string
	read := func(name string) *corpus.Corpus {
		c := musttest.Get(corpus.Read(t.Context(), filepath.Join(folder, name), corpus.Options{Vocabulary: vocabulary}))(t)
		return c
	}
	train = read("train.tsv.gz")
	vocabulary = train.Vocabulary
	test = read("test.tsv.gz")
	names := train.Classes[:min(classes, len(train.Classes))]
	return ofClasses(train, names), ofClasses(test, names)
}

// ofClasses returns the documents of the given classes, which are then all that there are.
func ofClasses(c *corpus.Corpus, names []string) *corpus.Corpus {
	number := map[string]int32{}
	for k, name := range names {
		number[name] = int32(k)
	}
	var chosen []int
	labels := sparse.Labels{Offsets: []int64{0}}
	for i := range c.Documents.Rows() {
		if k, ok := number[c.Classes[c.Labels.Of(i)[0]]]; ok {
			chosen = append(chosen, i)
			labels.Add(k)
		}
	}
	out := *c.Select(chosen)
	out.Classes, out.Labels = names, labels
	return &out
}

// programs are LIBSVM's.
type programs struct{ svmTrain, svmPredict, folder string }

// findLIBSVM finds svm-train and svm-predict, by $SVM_TRAIN and $SVM_PREDICT or in the path. The
// test is skipped where they are missing.
func findLIBSVM(t *testing.T) *programs {
	t.Helper()
	find := func(variable, name string) string {
		if path := os.Getenv(variable); path != "" {
			name = path
		}
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skip(name + " is not installed")
		}
		return path
	}
	return &programs{find("SVM_TRAIN", "svm-train"), find("SVM_PREDICT", "svm-predict"), t.TempDir()}
}

// run runs a program and returns what it printed.
func runProgram(t *testing.T, c *exec.Cmd) string {
	t.Helper()
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", c.Path, err, out)
	}
	return string(out)
}

// writeRows writes rows of kernel values in LIBSVM's form, each with a label and a number from 1.
// The values are those of the rows to the bit.
func writeRows(w io.Writer, n int, label func(i int) int32, row func(i int) []float32) error {
	b := bufio.NewWriterSize(w, 1<<20)
	var line []byte
	for i := range n {
		line = strconv.AppendInt(line[:0], int64(label(i)), 10)
		line = append(line, " 0:"...)
		line = strconv.AppendInt(line, int64(i+1), 10)
		for j, v := range row(i) {
			line = append(line, ' ')
			line = strconv.AppendInt(line, int64(j+1), 10)
			line = append(line, ':')
			line = strconv.AppendFloat(line, float64(v), 'g', -1, 32)
		}
		if _, err := b.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return b.Flush()
}

// train runs svm-train with C = 10 and otherwise its defaults on a matrix.
func (p *programs) train(t *testing.T, gram *engine.Symmetric, c *corpus.Corpus) *libsvmModel {
	t.Helper()
	matrix := filepath.Join(p.folder, "matrix")
	f, err := os.Create(matrix)
	if err != nil {
		t.Fatal(err)
	}
	err = writeRows(f, gram.N, func(i int) int32 { return c.Labels.Of(i)[0] }, gram.Row)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(p.folder, "model")
	runProgram(t, exec.Command(p.svmTrain, "-q", "-t", "4", "-c", strconv.Itoa(c10), "-m", "1000", matrix, file))
	os.Remove(matrix)
	return readLIBSVM(t, file)
}

// predict runs svm-predict on the rows of a matrix between test and training documents.
func (p *programs) predict(t *testing.T, cross *engine.Dense, m *libsvmModel) []int {
	t.Helper()
	out := filepath.Join(p.folder, "predictions")
	c := exec.Command(p.svmPredict, "/dev/stdin", m.file, out)
	r, w := io.Pipe()
	go func() { w.CloseWithError(writeRows(w, cross.Rows, func(int) int32 { return 0 }, cross.Row)) }()
	c.Stdin = r
	runProgram(t, c)
	text := musttest.Get(os.ReadFile(out))(t)
	var classes []int
	for line := range strings.Lines(string(text)) {
		v := musttest.Get(strconv.Atoi(strings.TrimSpace(line)))(t)
		classes = append(classes, v)
	}
	if len(classes) != cross.Rows {
		t.Fatalf("svm-predict wrote %d labels for %d documents", len(classes), cross.Rows)
	}
	return classes
}

// libsvmModel is what svm-train has written for a precomputed kernel.
type libsvmModel struct {
	file   string
	labels []int       // in the order of the machines
	counts []int       // support vectors of each
	serial []int       // number of each support vector in the matrix, from 1
	coef   [][]float64 // len(labels)-1 of each support vector
}

// readLIBSVM reads a model file by its description in LIBSVM's FAQ ("Could you explain the model
// file?"), without the code that users read models with.
func readLIBSVM(t *testing.T, file string) *libsvmModel {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	integer := func(s string) int {
		v := musttest.Get(strconv.Atoi(s))(t)
		return v
	}
	m := &libsvmModel{file: file}
	head, vectors, found := bytes.Cut(text, []byte("\nSV\n"))
	if !found {
		t.Fatalf("%s has no support vectors", file)
	}
	for line := range strings.Lines(string(head)) {
		fields := strings.Fields(line)
		for _, field := range fields[1:] {
			switch fields[0] {
			case "label":
				m.labels = append(m.labels, integer(field))
			case "nr_sv":
				m.counts = append(m.counts, integer(field))
			}
		}
	}
	for line := range strings.Lines(string(vectors)) {
		fields := strings.Fields(line)
		coef := make([]float64, len(fields)-1)
		for k := range coef {
			if coef[k], err = strconv.ParseFloat(fields[k], 64); err != nil {
				t.Fatal(err)
			}
		}
		m.coef = append(m.coef, coef)
		m.serial = append(m.serial, integer(strings.TrimPrefix(fields[len(coef)], "0:")))
	}
	return m
}

// machine returns the machine of two classes, Support as rows of the matrix. A support vector of
// the class at place p of the labels has its coefficient against the class at place q in column q,
// or q-1 where q is behind p.
func (m *libsvmModel) machine(a, b int) *solver.Machine {
	out := &solver.Machine{}
	first := 0
	for p, count := range m.counts {
		for q := range m.labels {
			if p != q && (m.labels[p] == a && m.labels[q] == b || m.labels[p] == b && m.labels[q] == a) {
				column := q
				if q > p {
					column--
				}
				for s := first; s < first+count; s++ {
					if v := m.coef[s][column]; v != 0 {
						out.Support, out.Coef = append(out.Support, m.serial[s]-1), append(out.Coef, v)
					}
				}
			}
		}
		first += count
	}
	return out
}
