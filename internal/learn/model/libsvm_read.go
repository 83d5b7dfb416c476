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

	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// ReadLIBSVM reads a model in LIBSVM's text format, as written by svm-train or [Model.WriteLIBSVM].
// file is the file name in errors. Fields that the format lacks, such as settings and corpus, are
// unknown: 0, nil or -1.
//
// Class names are LIBSVM's labels. Index i becomes column i-1, or column i if a support vector has
// index 0, see Form.ZeroBased. There is no vocabulary. The embedding is tf, fitted on the support
// vectors. The embedding is open: an index that no support vector has contributes only to the norms
// of documents, as in LIBSVM. If the kernel is precomputed, support vectors have no values, and
// SupportDocs has the indices of their documents. Values, but not coefficients, are rounded to
// float32. The line prob_density_marks, which newer versions write, is ignored.
//
// Memory is proportional to the bytes read. ReadLIBSVM returns a *[SyntaxError] for the first
// invalid line, errors of r, or ctx.Err() within a second after ctx is done.
func ReadLIBSVM(ctx context.Context, r io.Reader, file string) (*Model, error) {
	l := &libsvmReader{
		r: bufio.NewReaderSize(archive.ContextReader{Ctx: ctx, R: r}, 256<<10), file: file, header: map[string][]string{},
		lines: map[string]int64{},
	}
	if err := l.readHeader(); err != nil {
		return nil, err
	}
	if err := l.parseHeader(); err != nil {
		return nil, err
	}
	if err := l.readVectors(); err != nil {
		return nil, err
	}
	m := l.m
	m.Form.ZeroBased = "true"
	if !l.precomputed && !slices.Contains(m.Support.Terms, 0) {
		m.Form.ZeroBased = "false"
		for k := range m.Support.Terms {
			m.Support.Terms[k]--
		}
		m.Support.Cols = max(m.Support.Cols-1, 0)
	}
	m.Embedder = sparse.Embedding{}.Fit(m.Support)
	m.Embedder.Open = true
	return m, nil
}

type libsvmReader struct {
	r      *bufio.Reader
	file   string
	line   int64               // line number of the current line
	header map[string][]string // values of each keyword
	lines  map[string]int64    // line number of each keyword
	err    error               // the first error in a value of the header
	m      *Model

	precomputed bool
	numSupport  int
	classSizes  []int // number of support vectors per class; only the total if there are no classes
}

func (l *libsvmReader) fail(line int64, found, expected string, args ...any) error {
	return &SyntaxError{l.file, line, found, fmt.Sprintf(expected, args...)}
}

// nextLine returns the next line without the line ending, or io.EOF after the last line.
func (l *libsvmReader) nextLine() (string, error) {
	l.line++
	text, err := l.r.ReadString('\n')
	if err != nil && (text == "" || !errors.Is(err, io.EOF)) {
		return "", err
	}
	return strings.TrimRight(text, "\r\n"), nil
}

func (l *libsvmReader) readHeader() error {
	for {
		text, err := l.nextLine()
		if errors.Is(err, io.EOF) {
			return l.fail(l.line, "the end of the file", "a LIBSVM header that ends with the line SV")
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
			return l.fail(l.line, "repeated key "+key, "each key once (first in line %d)", before)
		}
		l.header[key], l.lines[key] = words[1:], l.line
		if key == "SV" {
			return nil
		}
	}
}

func (l *libsvmReader) parseHeader() error {
	typ, k := oneOf(l, "svm_type", Types), libsvmKernel{typ: oneOf(l, "kernel_type", kernelNames)}
	l.m = &Model{Type: typ}
	l.precomputed = k.typ == Precomputed
	for _, key := range kernelKeys[k.typ] {
		v := l.float(key)
		switch key {
		case "degree":
			if v != math.Trunc(v) || v < 0 || v > math.MaxInt32 {
				return l.fail(l.lines[key], l.header[key][0], "a non-negative integer")
			}
			k.degree = int(v)
		case "gamma":
			k.gamma = v
		case "coef0":
			k.coef0 = v
		}
	}
	l.m.Kernel = k.String()
	l.numSupport = l.int("total_sv", 0, math.MaxInt32)
	switch {
	case l.err != nil:
		return l.err
	case typ.Classifies():
		return l.parseClasses()
	}
	for _, key := range []string{"label", "nr_sv", "probB", "probA"} {
		if l.lines[key] > 0 && !(key == "probA" && typ != OneClass) {
			return l.fail(l.lines[key], key, "no line %s for type %s", key, typ)
		}
	}
	l.int("nr_class", 2, 2)
	rho := l.float("rho")
	l.classSizes = []int{l.numSupport}
	l.m.Classifier = solver.Classifier{Scheme: solver.OneVsRest, Classes: 1,
		Functions: []*solver.DecisionFunction{{Rho: rho}}}
	return l.err
}

func (l *libsvmReader) parseClasses() error {
	k := l.int("nr_class", 1, math.MaxInt32)
	for _, label := range l.ints("label", k, math.MinInt32, math.MaxInt32) {
		l.m.Classes = append(l.m.Classes, strconv.Itoa(label))
	}
	if name, twice := archive.FindDuplicate(l.m.Classes); twice {
		return l.fail(l.lines["label"], "label "+name+" twice", "unique labels")
	}
	l.classSizes = l.ints("nr_sv", k, 0, math.MaxInt32)
	if all := sum(l.classSizes); l.err == nil && all != l.numSupport {
		return l.fail(l.lines["nr_sv"], fmt.Sprintf("%d support vectors in total", all),
			"%d, the value of total_sv in line %d", l.numSupport, l.lines["total_sv"])
	}
	rho := l.floats("rho", numPairs(k))
	l.m.Classifier = solver.Classifier{Classes: k, Functions: make([]*solver.DecisionFunction, len(rho))}
	for i := range rho {
		l.m.Classifier.Functions[i] = &solver.DecisionFunction{Rho: rho[i]}
	}
	if l.err != nil || l.lines["probA"] == 0 && l.lines["probB"] == 0 {
		return l.err
	}
	a, b := l.floats("probA", numPairs(k)), l.floats("probB", numPairs(k))
	if l.err != nil {
		return l.err
	}
	for i, machine := range l.m.Classifier.Functions {
		machine.Sigmoid = &solver.Sigmoid{A: a[i], B: b[i]}
	}
	return nil
}

// values returns the n values of a keyword. After an error, it stores the error in l.err and
// returns nil, like oneOf and parseValues.
func (l *libsvmReader) values(key string, n int) []string {
	switch have := len(l.header[key]); {
	case l.err != nil:
	case l.lines[key] == 0:
		l.err = l.fail(l.lines["SV"], "SV", "a line %s before SV", key)
	case have != n:
		l.err = l.fail(l.lines[key], fmt.Sprintf("%s with %d values", key, have), "%d values", n)
	default:
		return l.header[key]
	}
	return nil
}

func oneOf[T ~string](l *libsvmReader, key string, list []T) (v T) {
	for _, text := range l.values(key, 1) {
		if v = T(text); !slices.Contains(list, v) {
			l.err = l.fail(l.lines[key], key+" "+quote(text), "one of %v", list)
		}
	}
	return v
}

func parseValues[T any](
	l *libsvmReader, key string, n int, parse func(text string) (T, error), expected string,
) (out []T) {
	for _, text := range l.values(key, n) {
		v, err := parse(text)
		if err != nil {
			l.err = l.fail(l.lines[key], key+" "+quote(text), "%s", expected)
			return nil
		}
		out = append(out, v)
	}
	return out
}

func (l *libsvmReader) floats(key string, n int) []float64 {
	return parseValues(l, key, n, func(text string) (float64, error) { return parseFloat(text, 64) }, "a finite number")
}

func (l *libsvmReader) ints(key string, n, least, most int) []int {
	return parseValues(l, key, n, func(text string) (int, error) {
		v, err := strconv.Atoi(text)
		if v < least || v > most {
			err = strconv.ErrRange
		}
		return v, err
	}, fmt.Sprintf("an integer from %d to %d", least, most))
}

func (l *libsvmReader) float(key string) float64 { return sum(l.floats(key, 1)) }

func (l *libsvmReader) int(key string, least, most int) int { return sum(l.ints(key, 1, least, most)) }

func sum[T int | float64](values []T) (sum T) {
	for _, v := range values {
		sum += v
	}
	return sum
}

// readVectors reads the lines after SV. A line has the coefficients of a support vector, which are
// a column of LIBSVM's sv_coef, and then the support vector's values. For a support vector of class
// i, row r of sv_coef is for the binary classifier of classes i and r if r < i, else of classes i
// and r+1.
func (l *libsvmReader) readVectors() error {
	m := l.m
	m.Support, m.SupportClasses = &sparse.CSR{Offsets: []int64{0}}, []int32{}
	for class, size := range l.classSizes {
		machines := m.Classifier.Functions
		if m.Type.Classifies() {
			machines = functionsOf(&m.Classifier, class)
		} else {
			class = -1
		}
		for range size {
			if err := l.readVector(machines); err != nil {
				return err
			}
			m.SupportClasses = append(m.SupportClasses, int32(class))
		}
	}
	for {
		text, err := l.nextLine()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case strings.TrimSpace(text) != "":
			return l.fail(l.line, quote(text), "the end of the file after %d support vectors", l.numSupport)
		}
	}
}

// functionsOf returns the binary classifiers of a class against each other class, in class order.
func functionsOf(c *solver.Classifier, class int) []*solver.DecisionFunction {
	of := make([]*solver.DecisionFunction, 0, c.Classes-1)
	for other := range c.Classes {
		if a, b := min(class, other), max(class, other); a < b {
			of = append(of, c.Functions[a*c.Classes-a*(a+1)/2+b-a-1])
		}
	}
	return of
}

func (l *libsvmReader) readVector(machines []*solver.DecisionFunction) error {
	m := l.m
	s := m.Support.Rows()
	text, err := l.nextLine()
	if errors.Is(err, io.EOF) {
		return l.fail(
			l.line, fmt.Sprintf("the end of the file after %d support vectors", s), "%d, the value of total_sv", l.numSupport,
		)
	}
	if err != nil {
		return err
	}
	for i, machine := range machines {
		var word string
		word, text = cutWord(text)
		c, err := parseFloat(word, 64)
		if err != nil {
			return l.fail(
				l.line, fmt.Sprintf("coefficient %d: %s", i+1, quote(word)), "%d finite numbers", len(machines),
			)
		}
		if c != 0 {
			machine.Support, machine.Coef = append(machine.Support, s), append(machine.Coef, c)
		}
	}
	doc := int64(-1)
	if l.precomputed {
		if doc, err = l.parseSerial(text); err != nil {
			return err
		}
	} else if err := l.parseRow(text); err != nil {
		return err
	}
	m.Support.Offsets = append(m.Support.Offsets, int64(len(m.Support.Values)))
	m.SupportDocs = append(m.SupportDocs, doc)
	return nil
}

// parseSerial reads 0:n, a support vector of a precomputed kernel, and returns n-1.
func (l *libsvmReader) parseSerial(text string) (int64, error) {
	word, rest := cutWord(text)
	serial, ok := strings.CutPrefix(word, "0:")
	n, err := strconv.Atoi(serial)
	if rest = strings.TrimSpace(rest); !ok || err != nil || n < 1 || n > math.MaxInt32 || rest != "" {
		return 0, l.fail(
			l.line, quote(strings.TrimSpace(text)),
			"0:n with the number n >= 1 of a training document (precomputed kernel)",
		)
	}
	return int64(n) - 1, nil
}

func (l *libsvmReader) parseRow(text string) error {
	m := l.m.Support
	before := int64(-1)
	for {
		var word string
		if word, text = cutWord(text); word == "" {
			return nil
		}
		left, right, colon := strings.Cut(word, ":")
		index, err := strconv.ParseUint(left, 10, 31)
		if !colon || err != nil {
			return l.fail(l.line, quote(word), "index:value with an index from 0 to %d", math.MaxInt32)
		}
		if int64(index) <= before {
			return l.fail(l.line, fmt.Sprintf("index %d after %d", index, before), "ascending indices")
		}
		v, err := parseFloat(right, 32)
		if err != nil {
			return l.fail(l.line, fmt.Sprintf("index %d: %s", index, quote(right)), "a number in the range of float32")
		}
		before = int64(index)
		m.Terms, m.Values = append(m.Terms, uint32(index)), append(m.Values, float32(v))
		m.Cols = max(m.Cols, int(index)+1)
	}
}

// cutWord returns the first word of a text and the remaining text. It doesn't allocate.
func cutWord(text string) (word, rest string) {
	text = strings.TrimLeft(text, " \t")
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}

// parseFloat reads a finite decimal number, correctly rounded. -0 becomes 0. It rejects other
// formats of strconv (hexadecimal, underscores, inf, nan).
func parseFloat(text string, bits int) (float64, error) {
	if strings.Trim(text, "+-.0123456789eE") != "" {
		return 0, strconv.ErrSyntax
	}
	v, err := strconv.ParseFloat(text, bits)
	return v + 0, err
}

func quote(s string) string {
	const most = 40
	if len(s) <= most {
		return strconv.Quote(s)
	}
	return strconv.Quote(s[:most]) + "..."
}
