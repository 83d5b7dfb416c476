package model

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// WriteLIBSVM writes the model in LIBSVM's text format, which svm-predict reads. It returns the
// integer label of each class (see [LIBSVMLabels]). The first class becomes LIBSVM's first class,
// whose decision values are positive.
//
// Column j has index j+1, or j if Form.ZeroBased is set. The format stores no embedding, so the
// model's embedding must be tf. For other embeddings, embed the documents before training. Numbers
// are written with the fewest digits that identify the float64.
//
// LIBSVM's models are one-vs-one. A one-vs-rest model of two classes is written as its first binary
// classifier, because the second is the negated first, up to the tolerance of training. Classes
// without documents are left out. Sigmoids are written if all binary classifiers have a sigmoid. A
// temperature isn't written.
//
// If precomputed is set, it writes a model with LIBSVM's precomputed kernel, which can replace any
// kernel. A support vector is then written as the number of its training document, counted from 1.
// For each test document, svm-predict expects the kernel values with all training documents in
// order.
//
// If precomputed is set, it fails if a support vector's document is unknown. Otherwise it fails if
// LIBSVM lacks the kernel or embedding, or if documents have views. It also fails for independent
// labels, for one-vs-rest unless there are two classes, if class names are numbers but not
// integers, or if an index is above 2³¹-1.
func (m *Model) WriteLIBSVM(ctx context.Context, w io.Writer, precomputed bool) (labels []int32, err error) {
	fail := func(err error) ([]int32, error) { return nil, fmt.Errorf("model: LIBSVM format: %w", err) }
	if labels, err = LIBSVMLabels(m.Classes); err != nil {
		return fail(err)
	}
	l := &libsvmWriter{
		m: m, kernel: libsvmKernel{typ: Precomputed},
		w: bufio.NewWriterSize(archive.ContextWriter{Ctx: ctx, W: w}, archive.BufferBytes),
	}
	if !precomputed {
		if m.Embedder.Views != nil {
			return fail(fmt.Errorf("views are not supported; use documents without views or a precomputed kernel"))
		}
		if l.kernel, err = parseKernel(m.Kernel); err != nil {
			return fail(err)
		}
		if e := m.Embedder.Embedding; e != (sparse.Embedding{}) {
			return fail(fmt.Errorf("embedding %s is not supported; use tf or a precomputed kernel", e))
		}
	}
	if err := l.chooseFunctions(); err != nil {
		return fail(err)
	}
	if err := l.transpose(); err != nil {
		return fail(err)
	}
	l.writeHeader(labels)
	if err := l.writeVectors(); err != nil {
		return fail(err)
	}
	return labels, nil
}

type libsvmWriter struct {
	m      *Model
	kernel libsvmKernel

	classes   []int                      // classes to write, ascending; types without classes have a single class 0
	functions []*solver.DecisionFunction // binary classifiers to write, in LIBSVM's order

	// LIBSVM's sv_coef as a sparse matrix, stored by support vector
	offsets      []int
	rows         []int32
	coefs        []float64
	classVectors [][]int // lists of support vectors with coefficients, one list per element of classes

	w   *bufio.Writer
	buf []byte
}

// chooseFunctions selects the binary classifiers that LIBSVM's format can represent.
func (l *libsvmWriter) chooseFunctions() error {
	m, c := l.m, &l.m.Classifier
	if !m.Type.Classifies() {
		l.classes, l.functions = []int{0}, c.Functions
		return nil
	}
	switch {
	case c.Scheme == solver.OneVsOne:
		for i, there := range c.PresentClasses() {
			if there || c.Classes == 1 {
				l.classes = append(l.classes, i)
			}
		}
		for _, machine := range c.Functions {
			if machine != nil {
				l.functions = append(l.functions, machine)
			}
		}
	case c.Scheme == solver.OneVsRest && c.Classes == 2:
		l.classes, l.functions = []int{0, 1}, c.Functions[:1]
	default:
		return fmt.Errorf("scheme %s with %d classes is not supported; use one-vs-one", c.Scheme, c.Classes)
	}
	return nil
}

// transpose collects the coefficients of each support vector. For classes a < b, a support vector
// of a has its coefficient in row b-1, a support vector of b in row a.
func (l *libsvmWriter) transpose() error {
	n := l.m.Support.Rows()
	l.offsets = make([]int, n+1)
	for _, machine := range l.functions {
		for _, s := range machine.Support {
			l.offsets[s+1]++
		}
	}
	for s := range n {
		l.offsets[s+1] += l.offsets[s]
	}
	next := make([]int, n)
	copy(next, l.offsets)
	l.rows, l.coefs = make([]int32, l.offsets[n]), make([]float64, l.offsets[n])
	a, b := 0, 1
	for _, machine := range l.functions {
		for i, s := range machine.Support {
			row := 0
			if l.m.Type.Classifies() {
				switch int(l.m.SupportClasses[s]) {
				case l.classes[a]:
					row = b - 1
				case l.classes[b]:
					row = a
				default:
					return fmt.Errorf(
						"support vector %d of the binary classifier for classes %q and %q belongs to another class", s,
						l.m.Classes[l.classes[a]], l.m.Classes[l.classes[b]],
					)
				}
			}
			l.rows[next[s]], l.coefs[next[s]] = int32(row), machine.Coef[i]
			next[s]++
		}
		if b++; b == len(l.classes) {
			a++
			b = a + 1
		}
	}
	place := make(map[int32]int, len(l.classes))
	for i, class := range l.classes {
		place[int32(class)] = i
	}
	l.classVectors = make([][]int, len(l.classes))
	for s := range n {
		i := 0
		if l.offsets[s] == l.offsets[s+1] {
			continue
		}
		if l.m.Type.Classifies() {
			i = place[l.m.SupportClasses[s]]
		}
		l.classVectors[i] = append(l.classVectors[i], s)
	}
	return nil
}

func (l *libsvmWriter) writeHeader(labels []int32) {
	l.writeLine("svm_type", string(l.m.Type))
	l.writeLine("kernel_type", l.kernel.typ)
	for _, key := range kernelKeys[l.kernel.typ] {
		l.writeLine(
			key,
			map[string]string{
				"degree": strconv.Itoa(l.kernel.degree), "gamma": formatNumber(l.kernel.gamma),
				"coef0": formatNumber(l.kernel.coef0),
			}[key],
		)
	}
	classifies := l.m.Type.Classifies()
	classes, total := 2, 0 // LIBSVM writes nr_class 2 for types without classes
	if classifies {
		classes = len(l.classes)
	}
	for _, of := range l.classVectors {
		total += len(of)
	}
	l.writeLine("nr_class", strconv.Itoa(classes))
	l.writeLine("total_sv", strconv.Itoa(total))
	var rho, a, b, names, sizes []string
	for _, machine := range l.functions {
		rho = append(rho, formatNumber(machine.Rho))
		if s := machine.Sigmoid; s != nil {
			a, b = append(a, formatNumber(s.A)), append(b, formatNumber(s.B))
		}
	}
	l.writeLine("rho", rho...)
	if classifies {
		for i, class := range l.classes {
			names = append(names, strconv.Itoa(int(labels[class])))
			sizes = append(sizes, strconv.Itoa(len(l.classVectors[i])))
		}
		l.writeLine("label", names...)
		if len(l.functions) > 0 && len(a) == len(l.functions) {
			l.writeLine("probA", a...)
			l.writeLine("probB", b...)
		}
		l.writeLine("nr_sv", sizes...)
	}
	l.writeLine("SV")
}

func (l *libsvmWriter) writeLine(key string, values ...string) {
	fmt.Fprintln(l.w, strings.Join(append([]string{key}, values...), " "))
}

func (l *libsvmWriter) writeVectors() error {
	width := max(len(l.classes)-1, 1)
	for _, of := range l.classVectors {
		for _, s := range of {
			at := l.offsets[s]
			l.buf = l.buf[:0]
			for row := range width {
				c := 0.0
				if at < l.offsets[s+1] && int(l.rows[at]) == row {
					c = l.coefs[at]
					at++
				}
				l.buf = strconv.AppendFloat(l.buf, c, 'g', -1, 64)
				l.buf = append(l.buf, ' ')
			}
			write := l.appendValues
			if l.kernel.typ == Precomputed {
				write = l.appendSerial
			}
			if err := write(s); err != nil {
				return err
			}
			if _, err := l.w.Write(append(l.buf, '\n')); err != nil {
				return err
			}
		}
	}
	return l.w.Flush()
}

func (l *libsvmWriter) appendSerial(s int) error {
	doc := l.m.SupportDocs[s]
	if doc < 0 || doc >= math.MaxInt32 {
		return fmt.Errorf(
			"training document of support vector %d must be between 0 and %d, got %d", s,
			math.MaxInt32-1, doc,
		)
	}
	l.buf = append(l.buf, "0:"...)
	l.buf = strconv.AppendInt(l.buf, doc+1, 10)
	l.buf = append(l.buf, ' ')
	return nil
}

func (l *libsvmWriter) appendValues(s int) error {
	first := int64(1)
	if l.m.Form.ZeroBased == "true" {
		first = 0
	}
	columns, values := l.m.Support.Row(s)
	for k, v := range values {
		if v == 0 {
			continue
		}
		index := int64(columns[k]) + first
		if index > math.MaxInt32 {
			return fmt.Errorf("support vector %d has index %d, which exceeds the limit of %d", s, index, math.MaxInt32)
		}
		l.buf = strconv.AppendInt(l.buf, index, 10)
		l.buf = append(l.buf, ':')
		l.buf = strconv.AppendFloat(l.buf, float64(v), 'g', -1, 64)
		l.buf = append(l.buf, ' ')
	}
	return nil
}

func formatNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
