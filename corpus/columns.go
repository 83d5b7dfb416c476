package corpus

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/corpus/token"
)

// Kind determines how a table column is used.
type Kind string

// The kinds of columns.
const (
	KindText     Kind = "text"
	KindNumber   Kind = "number"
	KindCategory Kind = "category"
	KindVector   Kind = "vector" // lists of numbers of equal length, compared by cosine
	KindLabel    Kind = "label"
	KindID       Kind = "id"     // document names
	KindGroup    Kind = "group"  // groups of documents, see Options.GroupColumn
	KindWeight   Kind = "weight" // weights of documents, see Corpus.Weights
	KindIgnored  Kind = "ignore"
)

var kinds = []Kind{KindLabel, KindID, KindGroup, KindWeight, KindText, KindCategory, KindNumber,
	KindVector, KindIgnored}

// TableColumn describes how a column of a table is used.
type TableColumn struct {
	Name  string
	Kind  Kind
	Comma bool // true if numbers have a decimal comma, as in 1.234,5
	Size  int  `json:",omitempty"` // number of coordinates of each vector in a vector column

	file string // .npy file with the vectors
}

// TableColumns returns the columns that the tokenizer t reads, with their kinds.
func TableColumns(t Tokenizer) (columns []TableColumn) {
	for _, c := range t.Columns() {
		kind := KindText
		if c.IsNumber {
			kind = KindNumber
		} else if c.IsCategory {
			kind = KindCategory
		} else if c.Size > 0 {
			kind = KindVector
		}
		columns = append(columns, TableColumn{Name: c.Name, Kind: kind, Size: c.Size})
	}
	return columns
}

// DescribeTable lists the columns of a table by kind, such as "label: queue; text: subject, body;
// number: price; ignored: none". It returns "" if the source isn't a table.
func (c *Corpus) DescribeTable() string {
	var parts []string
	for _, kind := range kinds {
		var names []string
		for _, column := range c.Table {
			if column.Kind == kind {
				name := column.Name
				if strings.ContainsAny(name, ",;: ") || name == "" {
					name = strconv.Quote(name)
				}
				if column.Comma {
					name += " (1.234,5)"
				}
				if column.Size > 0 {
					name += fmt.Sprintf(" (%d)", column.Size)
				}
				names = append(names, name)
			}
		}
		title := string(kind)
		if kind == KindIgnored {
			title = "ignored"
			if names == nil {
				names = []string{"none"}
			}
		}
		if names != nil {
			parts = append(parts, title+": "+strings.Join(names, ", "))
		}
	}
	if c.Table == nil {
		return ""
	}
	return strings.Join(parts, "; ")
}

// parseColumns parses FormatOptions.Columns, such as "subject=text, notes=ignore".
func parseColumns(s string) (columns []TableColumn, err error) {
	if s == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(s, ",") {
		at := strings.LastIndexByte(part, '=')
		c := TableColumn{Name: strings.TrimSpace(part[:max(at, 0)]), Kind: Kind(strings.TrimSpace(part[at+1:]))}
		if strings.HasSuffix(string(c.Kind), ".npy") {
			c.Kind, c.file = KindVector, string(c.Kind)
		}
		if c.Name == "" || !slices.Contains(kinds, c.Kind) {
			return nil, fmt.Errorf("corpus: Columns %q: %q must be COLUMN=KIND, where KIND is text, number, category, vector, "+
				"label, id, group, weight or ignore, or COLUMN=FILE.npy", s, part)
		}
		columns = append(columns, c)
	}
	return columns, nil
}

// Usual names of columns and JSON keys, in lower case. Earlier names in a list take precedence.
var (
	labelNames = []string{"label", "labels", "class", "category", "target", "sentiment", "topic"}
	textNames  = []string{"text", "content", "body", "message", "document", "review", "sentence", "comment", "tweet"}
	idNames    = []string{"id", "name", "key", "uuid", "guid", "index", "nr", ""}
)

// isID reports whether name, a result of normalizeName, is a usual name of an id column.
func isID(name string) bool {
	return slices.Contains(idNames, name) || strings.HasSuffix(name, "_id") || strings.HasSuffix(name, " id")
}

// normalizeName returns a name in lower case, without surrounding blanks, quotes and byte order
// mark.
func normalizeName(name string) string {
	return strings.ToLower(strings.Trim(name, " \t\r\n\u00a0\ufeff\"'`"))
}

func normalizeNames(names []string) (out []string) {
	for _, name := range names {
		out = append(out, normalizeName(name))
	}
	return out
}

func findUsualName(names, usual []string) string {
	for _, name := range usual {
		if slices.Contains(names, name) {
			return name
		}
	}
	return ""
}

// table holds the first records of a table and the detected columns.
type table struct {
	separator     byte
	maxLine       int
	firstRecord   []string   // nil if it is longer than the sample
	firstBytes    int        // size of the first record in bytes
	sampleRecords [][]string // other records at the beginning of the table

	keyed         bool              // true if columns are keys of JSON objects
	stringColumns map[string]bool   // true for each column whose values are strings; nil if unknown
	isIgnored     func(at int) bool // reports whether a column is ignored unless an option names it; may be nil
	names         []string          // normalized names of firstRecord
	indices       [2]map[string]int // first index of each name in firstRecord, and in names
	nameCount     map[string]int    // number of columns with each name in firstRecord
	hasHeader     bool              // true if the first record is a header
	headerGuessed bool              // true if looksLikeHeader set hasHeader
	columns       []TableColumn
	decimalComma  bool         // true if numbers may have a decimal comma, as in 1.234,5
	noLabels      bool         // true if labels come from another source or don't exist
	err           *SyntaxError // error in the columns; nil if there is none

	// Column indices, -1 if there is none.
	labelColumn, textColumn, groupColumn, idColumn, weightColumn int

	rowColumns       []int     // indices of the tokenizer's columns; nil if documents are texts
	tokenizer        Tokenizer // tokenizer with views of the detected columns; zero if there are no views
	tokenizerColumns Columns   // columns of tokenizer, or of Options.Tokenizer if tokenizer is zero
	labelNamed       bool      // true if an option names the label column
	viewsInferred    bool      // true if the views were inferred with the default tokenizer
}

// detectColumns sets the columns from the options and the first records.
func (t *table) detectColumns(opt *Options) {
	t.labelColumn, t.textColumn, t.groupColumn, t.idColumn, t.weightColumn = -1, -1, -1, -1, -1
	t.columns = make([]TableColumn, len(t.firstRecord))
	t.nameCount = map[string]int{}
	t.names = normalizeNames(t.firstRecord)
	for i, name := range t.firstRecord {
		t.columns[i].Name = strings.Trim(name, "\ufeff")
		t.nameCount[name]++
	}
	opt.applyColumns(t.names)
	t.labelNamed = opt.LabelColumn != "" && !opt.labelOptional
	t.indices = [2]map[string]int{token.FirstIndices(t.firstRecord), token.FirstIndices(t.names)}
	t.noLabels = t.noLabels || opt.labelOptional && opt.LabelColumn != "" && t.columnIndex(opt.LabelColumn) < 0
	if !t.noLabels {
		t.assignKind(opt.LabelColumn, KindLabel, "LabelColumn")
	}
	t.assignKind(opt.TextColumn, KindText, "TextColumn")
	group := t.assignKind(opt.GroupColumn, "", "GroupColumn") // the group column may also be the label column
	t.assignKind(opt.IDColumn, KindID, "IDColumn")
	given, _ := parseColumns(opt.Columns)
	for _, c := range given {
		if !opt.labelOptional || t.columnIndex(c.Name) >= 0 {
			t.assignKind(c.Name, c.Kind, "Columns")
		}
	}
	for _, c := range TableColumns(opt.Tokenizer) {
		at := t.assignKind(c.Name, c.Kind, "Tokenizer")
		if t.rowColumns = append(t.rowColumns, at); at >= 0 && at < len(t.columns) {
			t.columns[at].Size = c.Size
		}
	}
	if t.groupColumn = max(t.groupColumn, group); t.err == nil {
		t.inferKinds(opt)
	}
	if !t.hasHeader {
		for i := range t.columns {
			t.columns[i].Name = strconv.Itoa(i + 1)
		}
	}
}

// columnIndex returns the index of the column with the given name or number, or -1 if none exists.
func (t *table) columnIndex(given string) int {
	if n, err := strconv.Atoi(given); err == nil && !t.keyed {
		if n < 1 || n > len(t.firstRecord) && t.firstRecord != nil {
			return indexOf(t.indices[0], given) // the number is a name, such as a year
		}
		return n - 1
	}
	if at := indexOf(t.indices[0], given); at >= 0 {
		return at
	}
	return indexOf(t.indices[1], normalizeName(given))
}

func indexOf(of map[string]int, name string) int {
	if at, is := of[name]; is {
		return at
	}
	return -1
}

// assignKind sets the kind of the column that option names, and returns the column's index. given
// is the value of the option. If given is empty, or if t.err isn't nil, it returns -1. If kind is
// empty, the column's kind doesn't change.
func (t *table) assignKind(given string, kind Kind, option string) int {
	if given == "" || t.err != nil {
		return -1
	}
	at := t.columnIndex(given)
	_, err := strconv.Atoi(given)
	named := err != nil || t.keyed || at >= 0 && strconv.Itoa(at+1) != given
	switch {
	case at < 0 && !named:
		t.err = newSyntaxError(fmt.Sprintf("%d columns", len(t.firstRecord)), "a column "+given)
	case at < 0:
		t.err = newSyntaxError("the columns "+quoteList(t.firstRecord), "a column called "+quote(given))
	case named && t.isDuplicate(at):
		t.err = newSyntaxError("two columns called "+quote(t.firstRecord[at]), "distinct names")
	case kind == "":
		t.hasHeader = t.hasHeader || named
		return at
	case at < len(t.columns) && t.columns[at].Kind != "" && t.columns[at].Kind != kind:
		t.err = newSyntaxError(fmt.Sprintf("column %s as %s and as %s", given, t.columns[at].Kind, kind), "a single kind")
	default:
		t.hasHeader = t.hasHeader || named
		t.setKind(at, kind)
		return at
	}
	t.err.withOption(option, "sets the column by name or number")
	return -1
}

func (t *table) setKind(at int, kind Kind) {
	place := map[Kind]*int{KindLabel: &t.labelColumn, KindText: &t.textColumn, KindGroup: &t.groupColumn,
		KindWeight: &t.weightColumn,
		KindID:     &t.idColumn}[kind]
	if place != nil {
		*place = at
	}
	if at < len(t.columns) {
		t.columns[at].Kind = kind
	}
}

func (t *table) isDuplicate(at int) bool { return t.nameCount[t.firstRecord[at]] > 1 }

// findUnassigned returns the column index of the first name whose column has no kind yet, or has
// the given kind. It returns -1 if there is no such column.
func (t *table) findUnassigned(names []string, kind Kind) int {
	for _, name := range names {
		at := indexOf(t.indices[1], name)
		if at >= 0 && (t.columns[at].Kind == "" || t.columns[at].Kind == kind) {
			return at
		}
	}
	return -1
}

func parseWeight(value string) (float64, *SyntaxError) {
	w, ok := token.ParseNumber(value)
	if !ok || !(w > 0) {
		return 0, newSyntaxError("weight "+quote(value), "a positive number")
	}
	return w, nil
}

// appendFields appends to fields the fields of record that belong to the tokenizer's columns.
func (t *table) appendFields(record, fields []string) []string {
	for _, at := range t.rowColumns {
		fields = append(fields, record[at])
	}
	t.normalizeNumbers(fields)
	return fields
}

// normalizeNumbers applies normalizeNumber to numeric columns. fields are the fields of the
// tokenizer's columns.
func (t *table) normalizeNumbers(fields []string) {
	for i, at := range t.rowColumns {
		if at < 0 || t.columns[at].Kind != KindNumber {
			continue
		}
		if comma := t.columns[at].Comma; comma || strings.Contains(fields[i], ",") {
			fields[i] = normalizeNumber(fields[i], comma)
		}
	}
}

// warn warns if the guessed header may be a document, or if no label column was found.
func (t *table) warn(c *Corpus) {
	at, warn := position(c.Source, 1), c.warningList()
	if t.headerGuessed && slices.ContainsFunc(c.Classes, func(name string) bool {
		return normalizeName(name) == t.names[t.labelColumn]
	}) {
		warn.addWithOption(fmt.Sprintf("the first line, %s, is read as a header, although later documents have the label %s",
			quoteList(t.firstRecord), t.firstRecord[t.labelColumn]), 1, at, "LabelColumn",
			strconv.Itoa(t.labelColumn+1)+" reads it as a document")
	}
	if t.hasHeader && !t.keyed && t.labelColumn < 0 && !t.noLabels && len(t.firstRecord) > 2 {
		warn.addWithOption("no column of labels: "+strings.Join(t.firstRecord, ", "), 1, at, "LabelColumn",
			"sets the label column by name")
	}
}

// addRemedy adds a remedy to a read error if the kind of the column was inferred.
func (t *table) addRemedy(err error) error {
	if bad := (*SyntaxError)(nil); t.tokenizer != (Tokenizer{}) && errors.As(err, &bad) &&
		strings.Contains(bad.Found, " in the column ") {
		bad.Option, bad.Remedy = "Columns", "sets the kind of a column, as in price=text"
	}
	return err
}
