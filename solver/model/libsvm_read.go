package model

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// ReadLIBSVM reads a model in LIBSVM's text format, as svm-train and [Model.WriteLIBSVM] write it;
// file is its name in errors. What the form doesn't hold is zero, or -1 where [Model] says so:
// settings, corpus, objectives, iterations, whether the search converged.
//
// Classes are called by LIBSVM's labels. Indices are terms as they are, there is no vocabulary, and
// the embedding is tf, the raw values, fitted on the support vectors, since nothing else is known,
// and open: indices that no support vector has count for the length of a document, as in LIBSVM. Of
// a precomputed kernel, support vectors have no values, and SupportDoc says their documents. Values
// are rounded to float32, coefficients aren't. prob_density_marks, by which newer LIBSVMs give
// probabilities for one class, are left out.
//
// Memory is in proportion to what was read. Errors: a *[SyntaxError] for the first bad line, those
// of r, and ctx.Err() within a second of cancellation.
func ReadLIBSVM(ctx context.Context, r io.Reader, file string) (*Model, error) {
	if ctx == nil || r == nil {
		return nil, errNothingGiven
	}
	l := &libsvmReader{ctx: ctx, r: bufio.NewReaderSize(r, 256<<10), file: file, header: map[string][]string{}, lines: map[string]int64{}}
	if err := l.readHeader(); err != nil {
		return nil, err
	}
	if err := l.understand(); err != nil {
		return nil, err
	}
	if err := l.vectors(); err != nil {
		return nil, err
	}
	m := l.m
	m.Embedder = sparse.Embedding{}.Fit(m.Support)
	m.Embedder.Open = true
	if err := m.Validate(); err != nil { // what the form can say wrong was found already, at its line
		return nil, &SyntaxError{file, l.line, err.Error(), "a model"}
	}
	return m, nil
}

// libsvmReader reads one model.
type libsvmReader struct {
	ctx    context.Context
	r      *bufio.Reader
	file   string
	line   int64               // number of the line that was read last
	header map[string][]string // values of each keyword
	lines  map[string]int64    // where it stands
	m      *Model

	precomputed bool
	total       int
	sizes       []int // support vectors of each class, or of all where there are none
}

func (l *libsvmReader) fail(line int64, found, expected string, args ...any) error {
	return &SyntaxError{l.file, line, found, fmt.Sprintf(expected, args...)}
}

// next returns the next line without its end, io.EOF behind the last.
func (l *libsvmReader) next() (string, error) {
	if err := l.ctx.Err(); err != nil {
		return "", err
	}
	l.line++
	var long []byte
	for {
		piece, err := l.r.ReadSlice('\n')
		if err == nil || errors.Is(err, io.EOF) && len(long)+len(piece) > 0 {
			return strings.TrimRight(string(append(long, piece...)), "\r\n"), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return "", err
		}
		if err := l.ctx.Err(); err != nil {
			return "", err
		}
		long = append(long, piece...)
	}
}

// readHeader gathers the lines down to SV.
func (l *libsvmReader) readHeader() error {
	for {
		text, err := l.next()
		if errors.Is(err, io.EOF) {
			return l.fail(l.line, "the end of the file", "the header of a LIBSVM model down to the line SV")
		}
		if err != nil {
			return err
		}
		words := strings.Fields(text)
		if len(words) == 0 {
			return l.fail(l.line, "an empty line", "one of %s", strings.Join(keywords, ", "))
		}
		key := words[0]
		if !slices.Contains(keywords, key) {
			return l.fail(l.line, quote(key), "one of %s", strings.Join(keywords, ", "))
		}
		if before := l.lines[key]; before > 0 {
			return l.fail(l.line, key+" a second time", "it once, as in line %d", before)
		}
		l.header[key], l.lines[key] = words[1:], l.line
		if key == "SV" {
			return nil
		}
	}
}

// understand makes the model as the header describes it.
func (l *libsvmReader) understand() error {
	l.m = &Model{}
	typ, err := oneOf(l, "svm_type", types)
	if err != nil {
		return err
	}
	l.m.Type = typ
	name, err := oneOf(l, "kernel_type", kernelNames)
	if err != nil {
		return err
	}
	k := kernel{typ: name}
	l.precomputed = name == Precomputed
	for _, key := range kernelKeys[name] {
		v, err := l.floats(key, 1)
		if err != nil {
			return err
		}
		switch key {
		case "degree":
			if v[0] != math.Trunc(v[0]) || v[0] < 0 || v[0] > math.MaxInt32 {
				return l.fail(l.lines[key], l.header[key][0], "a whole number of at least 0")
			}
			k.degree = int(v[0])
		case "gamma":
			k.gamma = v[0]
		case "coef0":
			k.coef0 = v[0]
		}
	}
	l.m.Kernel = k.String()
	sizes, err := l.ints("total_sv", 1, 0, math.MaxInt32)
	if err != nil {
		return err
	}
	l.total = sizes[0]
	if typ.Classifies() {
		return l.understandClasses()
	}
	for _, key := range []string{"label", "nr_sv", "probB", "probA"} {
		if l.lines[key] > 0 && !(key == "probA" && typ != OneClass) {
			return l.fail(l.lines[key], key, "no such line for %s", typ)
		}
	}
	if _, err := l.ints("nr_class", 1, 2, 2); err != nil {
		return err
	}
	rho, err := l.floats("rho", 1)
	if err != nil {
		return err
	}
	if l.lines["probA"] > 0 {
		v, err := l.floats("probA", 1)
		if err != nil {
			return err
		}
		if l.m.Laplace = v[0]; v[0] < 0 {
			return l.fail(l.lines["probA"], l.header["probA"][0], "a scale of at least 0")
		}
	}
	l.sizes = []int{l.total}
	l.m.Classifier = solver.Classifier{Scheme: solver.OneVsRest, Classes: 1, Machines: []*solver.Machine{{Rho: rho[0]}}}
	return nil
}

// understandClasses reads what belongs to classes: their names, and the machine of each pair.
func (l *libsvmReader) understandClasses() error {
	nr, err := l.ints("nr_class", 1, 1, math.MaxInt32)
	if err != nil {
		return err
	}
	k := nr[0]
	labels, err := l.ints("label", k, math.MinInt32, math.MaxInt32)
	if err != nil {
		return err
	}
	for _, label := range labels {
		l.m.Classes = append(l.m.Classes, strconv.Itoa(label))
	}
	if name, twice := repeated(l.m.Classes); twice {
		return l.fail(l.lines["label"], "label "+name+" twice", "labels that differ")
	}
	if l.sizes, err = l.ints("nr_sv", k, 0, math.MaxInt32); err != nil {
		return err
	}
	sum := 0
	for _, n := range l.sizes {
		sum += n
	}
	if sum != l.total {
		return l.fail(l.lines["nr_sv"], fmt.Sprintf("%d support vectors in all", sum), "%d, as total_sv says in line %d", l.total, l.lines["total_sv"])
	}
	rho, err := l.floats("rho", pairs(k))
	if err != nil {
		return err
	}
	l.m.Classifier = solver.Classifier{Classes: k, Machines: make([]*solver.Machine, len(rho))}
	for i := range rho {
		l.m.Classifier.Machines[i] = &solver.Machine{Rho: rho[i]}
	}
	if l.lines["probA"] == 0 && l.lines["probB"] == 0 {
		return nil
	}
	a, err := l.floats("probA", pairs(k))
	if err != nil {
		return err
	}
	b, err := l.floats("probB", pairs(k))
	if err != nil {
		return err
	}
	for i, machine := range l.m.Classifier.Machines {
		machine.Sigmoid = &solver.Sigmoid{A: a[i], B: b[i]}
	}
	l.m.Settings.Probabilities = len(rho) > 0
	return nil
}

// values returns the n values of a keyword.
func (l *libsvmReader) values(key string, n int) ([]string, error) {
	if l.lines[key] == 0 {
		return nil, l.fail(l.lines["SV"], "no line "+key+" above", "one")
	}
	if have := len(l.header[key]); have != n {
		return nil, l.fail(l.lines[key], fmt.Sprintf("%s with %d values", key, have), "%d", n)
	}
	return l.header[key], nil
}

// oneOf returns the one value of a keyword, which must be in a list.
func oneOf[T ~string](l *libsvmReader, key string, list []T) (T, error) {
	text, err := l.values(key, 1)
	if err != nil {
		return "", err
	}
	if !slices.Contains(list, T(text[0])) {
		return "", l.fail(l.lines[key], key+" "+quote(text[0]), "one of %v", list)
	}
	return T(text[0]), nil
}

func (l *libsvmReader) floats(key string, n int) ([]float64, error) {
	texts, err := l.values(key, n)
	if err != nil {
		return nil, err
	}
	out := make([]float64, n)
	for i, text := range texts {
		if out[i], err = parseFloat(text, 64); err != nil {
			return nil, l.fail(l.lines[key], key+" "+quote(text), "a finite number")
		}
	}
	return out, nil
}

func (l *libsvmReader) ints(key string, n, least, most int) ([]int, error) {
	texts, err := l.values(key, n)
	if err != nil {
		return nil, err
	}
	out := make([]int, n)
	for i, text := range texts {
		if out[i], err = strconv.Atoi(text); err != nil || out[i] < least || out[i] > most {
			return nil, l.fail(l.lines[key], key+" "+quote(text), "a whole number from %d to %d", least, most)
		}
	}
	return out, nil
}
