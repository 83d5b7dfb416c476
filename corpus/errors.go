package corpus

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/corpus/token"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// SyntaxError reports a violation of the source's format.
type SyntaxError struct {
	File     string // name of the file or stream
	Line     int64  // line number from 1; 0 for the whole file
	Found    string // invalid input, such as "index 7 is not above 9"
	Expected string // valid input, such as "ascending indices"
	Option   string // field of Options that allows the input, such as "Signed"; empty if there is none
	Remedy   string // effect of the field Option, such as "accepts negative values"
	// GuessedFormat is the detected format and its evidence, such as "svmlight from line 1". It is
	// empty if the format was set or is certain.
	GuessedFormat string
	Err           error // underlying error, such as io.ErrUnexpectedEOF for a truncated compressed file; nil if none
}

// Error returns "corpus: FILE:LINE: FOUND, expected EXPECTED", followed by the remedy and the
// guessed format in parentheses, if any.
func (e *SyntaxError) Error() string {
	return e.Describe(func(field string) string { return "Options." + field })
}

// Describe is like Error, but calls option to format names of Options fields, such as flags.
func (e *SyntaxError) Describe(option func(field string) string) string {
	s := fmt.Sprintf("corpus: %s: %s, expected %s", position(e.File, e.Line), e.Found, e.Expected)
	if e.Option != "" {
		s += fmt.Sprintf(" (%s %s)", option(e.Option), e.Remedy)
	}
	if e.GuessedFormat != "" {
		s += fmt.Sprintf(" (the format was guessed: %s; %s sets another format)", e.GuessedFormat, option("Format"))
	}
	return s
}

// Describe returns the message, followed by the option and the remedy in parentheses, if any. It
// calls option to format the name of an Options field.
func (w Warning) Describe(option func(field string) string) string {
	if w.Option == "" {
		return w.Message
	}
	return fmt.Sprintf("%s (%s %s)", w.Message, option(w.Option), w.Remedy)
}

// Unwrap returns the underlying error, or nil.
func (e *SyntaxError) Unwrap() error { return e.Err }

// position returns file:line, or only the file for line 0.
func position(file string, line int64) string {
	if line == 0 {
		return file
	}
	return file + ":" + strconv.FormatInt(line, 10)
}

func newSyntaxError(found, expected string) *SyntaxError {
	return &SyntaxError{Found: found, Expected: expected}
}

func (e *SyntaxError) withOption(field, does string) *SyntaxError {
	e.Option, e.Remedy = field, does
	return e
}

// withPosition sets File, and adds line to Line, so that Line counts from the start of the file.
func (e *SyntaxError) withPosition(file string, line int64) *SyntaxError {
	e.File, e.Line = file, e.Line+line
	return e
}

func rowError(err error) *SyntaxError {
	var bad *token.ColumnError
	if !errors.As(err, &bad) {
		return newSyntaxError(err.Error(), "a row")
	}
	return newSyntaxError(bad.Found+" in the column "+bad.Column, bad.Expected)
}

func quote[T ~string | ~[]byte](s T) string { return quoteTruncated(s, 40) }

func quoteList(names []string) string { return quoteTruncated(strings.Join(names, ", "), 200) }

func quoteTruncated[T ~string | ~[]byte](s T, most int) string {
	if len(s) <= most {
		return strconv.Quote(string(s))
	}
	return strconv.Quote(strings.ToValidUTF8(string(s[:most]), "")) + "..."
}

// warnings is a list of warnings, one per kind.
type warnings []Warning

func (c *Corpus) warningList() *warnings { return (*warnings)(&c.Warnings) }

// add adds count occurrences of a warning; first is the position of the first occurrence. Calls
// must be in the order of the source.
func (w *warnings) add(message string, count int64, first string) {
	w.addWarning(Warning{Message: message, Count: count, First: first})
}

func (w *warnings) addWarning(what Warning) {
	if what.Count == 0 {
		return
	}
	for i := range *w {
		if (*w)[i].Message == what.Message {
			(*w)[i].Count += what.Count
			return
		}
	}
	*w = append(*w, what)
}

// addWithOption is like add, for a warning that a field of Options avoids.
func (w *warnings) addWithOption(message string, count int64, first, field, does string) {
	w.addWarning(Warning{Message: message, Count: count, First: first, Option: field, Remedy: does})
}

func (w *warnings) addBadBytes(count int64, first string) {
	w.addWithOption("invalid byte, read as a separator", count, first,
		"Encoding", "sets the encoding, such as windows-1252")
}

// addLines adds the occurrences that t counted in a block of lines. The block starts at firstLine.
func (w *warnings) addLines(message string, t tally, file string, firstLine int64) {
	w.add(message, t.count, position(file, firstLine+int64(t.first)))
}

const blankMessage = "blank line, skipped"

// tally counts the occurrences of a warning in a block. It also holds the position of the first
// occurrence.
type tally struct {
	count int64
	first int32 // line or document of the first occurrence, counted from 0 in the block
}

func (t *tally) add(count int64, at int32) {
	if t.count == 0 {
		t.first = at
	}
	t.count += count
}

// DocumentNumber returns the number that messages use for document i: i + 1 for documents that were
// read or generated, and i for unnamed documents in memory.
func (c *Corpus) DocumentNumber(i int) int {
	if c.Format != "" || c.Names != nil {
		return i + 1
	}
	return i
}

// DocumentName returns the name of document i in messages: Names[i], or "document" and
// [Corpus.DocumentNumber] if there are no names.
func (c *Corpus) DocumentName(i int) string {
	if i >= 0 && i < len(c.Names) {
		return c.Names[i]
	}
	return fmt.Sprintf("document %d", c.DocumentNumber(i))
}

// TermName returns the name of a term in messages, such as term "text". If there is no vocabulary,
// the name is the index in an svmlight file. In other formats, it is the column, from 0.
func (c *Corpus) TermName(t uint32) string {
	switch {
	case int(t) < len(c.Vocabulary):
		return fmt.Sprintf("term %q", c.Tokenizer.FormatTerm(c.Vocabulary[t]))
	case c.Format != FormatSVMLight:
		return fmt.Sprintf("column %d", t)
	case c.FormatOptions.ZeroBased == "true":
		return fmt.Sprintf("index %d", t)
	}
	return fmt.Sprintf("index %d", int64(t)+1)
}

// DescribeError adds the source, document names and term texts to a [sparse.ValueError], or to an
// error about the kernel value of two documents. Other errors are unchanged.
func (c *Corpus) DescribeError(err error) error {
	var value *sparse.ValueError
	var pair interface { // implemented by kernel.PairError
		error
		Describe(name func(i int) string) string
	}
	switch {
	case c == nil:
	case errors.As(err, &value):
		return fmt.Errorf("%s: %s, %s: value must be %s, got %v", c.Source, c.DocumentName(value.Row), c.TermName(value.Term),
			value.Expected, value.Value)
	case errors.As(err, &pair):
		return fmt.Errorf("%s: %s, %w", c.Source, pair.Describe(c.DocumentName), errors.Unwrap(pair))
	}
	return err
}

// WithoutDocuments returns the corpus without documents, texts and labels, for
// [Corpus.DescribeError].
func (c *Corpus) WithoutDocuments() *Corpus {
	out := *c
	out.Documents, out.Raw, out.Labels = nil, Raw{}, sparse.Labels{}
	return &out
}

// PanicError reports that a function of [Options] panicked, on any goroutine. Function is its name.
// Value is the panic's value, which Unwrap returns if it is an error. Stack is the stack of the
// goroutine.
type PanicError = run.PanicError

// warnHeader warns if the label or the text of the first line looks like a header.
func (c *Corpus) warnHeader(label, text, at string) {
	if ids := c.Labels.Classes(0); len(ids) == 1 && c.classSizes()[ids[0]] == 1 && len(c.Classes) > 1 &&
		(slices.Contains(labelNames, label) || slices.Contains(textNames, text)) {
		c.warningList().addWithOption(fmt.Sprintf("the first line, %s and %s, looks like a header, but is read as a document",
			quote(label), quote(text)), 1, at, "LabelColumn", label+" reads it as a header")
	}
}

// warnSingletonClasses warns if most documents are alone in a class, unless labels are numbers.
func (c *Corpus) warnSingletonClasses(at func(i int) string) {
	if single, first, most := c.singletons(); most && c.NumericLabelCount() == 0 { // see HasTargets
		c.warningList().addWithOption(fmt.Sprintf("document alone in its class, like most of the %d documents",
			c.Documents.Rows()), single, at(first), "LabelColumn", "sets the label column by name or number")
	}
}

func (c *Corpus) classSizes() []int64 {
	count := make([]int64, len(c.Classes))
	for _, id := range c.Labels.IDs {
		count[id]++
	}
	return count
}

// singletons returns the number n of documents whose classes have no other document, and the first
// such document. most is true if n is at least 4 and more than half of all documents.
func (c *Corpus) singletons() (n int64, first int, most bool) {
	count := c.classSizes()
	for i := range c.Documents.Rows() {
		ids := c.Labels.Classes(i)
		if len(ids) > 0 && !slices.ContainsFunc(ids, func(id int32) bool { return count[id] > 1 }) {
			if n++; n == 1 {
				first = i
			}
		}
	}
	return n, first, n >= 4 && 2*n > int64(c.Documents.Rows())
}

// HasTargets reports whether the labels look like regression targets: all are numbers, and most
// occur once. Readers don't warn about such labels.
func (c *Corpus) HasTargets() bool {
	_, _, most := c.singletons()
	return most && c.NumericLabelCount() > 0
}

// NumericLabelCount returns the number of distinct labels if all labels are numbers, else 0.
func (c *Corpus) NumericLabelCount() int {
	for _, name := range c.Classes {
		if _, err := strconv.ParseFloat(name, 64); err != nil {
			return 0
		}
	}
	return len(c.Classes)
}

// CheckClasses returns an error if the labels seem to come from a wrong column: there are at least
// 1,000 classes, or 50 numeric classes, and most documents are alone in their class. It also fails
// if [Corpus.Validate] does.
func (c *Corpus) CheckClasses() error {
	if err := c.Validate(); err != nil {
		return err
	}
	many := 1000
	if c.NumericLabelCount() > 0 {
		many = 50
	}
	n, _, most := c.singletons()
	if len(c.Classes) < many || !most {
		return nil
	}
	return fmt.Errorf("corpus: %s: found %d classes, but %d of %d documents are alone in their class; choose another "+
		"label column, or use a regression such as epsilon_svr",
		c.Source, len(c.Classes), n, c.Documents.Rows())
}

// warnViews warns about views with too few terms to distinguish documents.
func (c *Corpus) warnViews(views []sparse.View) {
	split, _ := c.Tokenizer.SplitViews()
	for i, v := range views {
		end := uint32(len(c.Vocabulary))
		if i+1 < len(views) {
			end = views[i+1].First
		}
		if n := end - v.First; n < 2 && len(c.Vocabulary) > 0 && len(split) == len(views) {
			c.warningList().addWithOption(fmt.Sprintf("%s in the view %s", []string{"no term", "only one term"}[n], split[i]),
				1, "",
				"Tokenizer", "with words:digits keeps digits in words")
		}
	}
}
