package corpus

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/corpus/token"
)

// Kind is the kind of a table column.
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

// TableColumn describes a column of a table.
type TableColumn struct {
	Name  string
	Kind  Kind
	Comma bool // numbers have a decimal comma, as in 1.234,5
	Size  int  `json:",omitempty"` // length of a vector

	file string // .npy file with the vectors
}

// TableColumns returns the columns that a tokenizer reads, with their kinds.
func TableColumns(t Tokenizer) (columns []TableColumn) {
	for _, c := range t.Columns() {
		kind := KindText
		if c.Number {
			kind = KindNumber
		} else if c.Category {
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

// parseColumns parses Form.Columns, such as "subject=text, notes=ignore".
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

// Usual names of columns and keys, in lower case and by descending priority.
var (
	labelNames = []string{"label", "labels", "class", "category", "target", "sentiment", "topic"}
	textNames  = []string{"text", "content", "body", "message", "document", "review", "sentence", "comment", "tweet"}
	idNames    = []string{"id", "name", "key", "uuid", "guid", "index", "nr", ""}
)

// isID reports whether name, a result of columnName, is a usual name of an id column.
func isID(name string) bool {
	return slices.Contains(idNames, name) || strings.HasSuffix(name, "_id") || strings.HasSuffix(name, " id")
}

// columnName returns a name in lower case, without surrounding blanks, quotes and byte order mark.
func columnName(name string) string {
	return strings.ToLower(strings.Trim(name, " \t\r\n\u00a0\ufeff\"'`"))
}

// columnNames applies columnName to each name.
func columnNames(names []string) (out []string) {
	for _, name := range names {
		out = append(out, columnName(name))
	}
	return out
}

// usualName returns the first element of usual that is in names, or "".
func usualName(names, usual []string) string {
	for _, name := range usual {
		if slices.Contains(names, name) {
			return name
		}
	}
	return ""
}

// table holds the first records of a table and the detected columns.
type table struct {
	separator byte
	maxLine   int
	first     []string   // first record; nil if it is longer than nearBytes
	length    int        // size of the first record in bytes
	near      [][]string // other records in the first nearBytes bytes

	keys     bool              // columns are keys of JSON objects
	strings  map[string]bool   // columns whose values are strings; nil if unknown
	ignored  func(at int) bool // reports whether a column is ignored unless an option names it; may be nil
	names    []string          // results of columnName for first
	indices  [2]map[string]int // index of each name's first occurrence, in first and in names
	count    map[string]int    // number of columns with each name in first
	header   bool              // the first record is a header
	guessed  bool              // header was set from looksNamed
	columns  []TableColumn
	comma    bool         // numbers may have a decimal comma, as in 1.234,5
	noLabels bool         // labels come from another source, or there are none
	bad      *SyntaxError // error in the columns; nil if there is none

	label, text, group, id, weight int       // column indices, -1 if there is none
	row                            []int     // indices of the tokenizer's columns; nil if documents are texts
	tokenizer                      Tokenizer // tokenizer with views of the detected columns; zero if there are no views
	cut                            Columns   // columns of tokenizer, or of Options.Tokenizer if tokenizer is zero
	labelGiven                     bool      // an option names the label column
	inferred                       bool      // the views were inferred with the default tokenizer
}

// find sets the columns from the options and the beginning of the table.
func (t *table) find(opt *Options) {
	t.label, t.text, t.group, t.id, t.weight = -1, -1, -1, -1, -1
	t.columns = make([]TableColumn, len(t.first))
	t.count = map[string]int{}
	t.names = columnNames(t.first)
	for i, name := range t.first {
		t.columns[i].Name = strings.Trim(name, "\ufeff")
		t.count[name]++
	}
	opt.takeColumns(t.names)
	t.labelGiven = opt.LabelColumn != "" && !opt.labelOptional
	t.indices = [2]map[string]int{token.Indices(t.first), token.Indices(t.names)}
	t.noLabels = t.noLabels || opt.labelOptional && opt.LabelColumn != "" && t.place(opt.LabelColumn) < 0
	if !t.noLabels {
		t.take(opt.LabelColumn, KindLabel, "LabelColumn")
	}
	t.take(opt.TextColumn, KindText, "TextColumn")
	group := t.take(opt.GroupColumn, "", "GroupColumn") // may also be the label column
	t.take(opt.IDColumn, KindID, "IDColumn")
	given, _ := parseColumns(opt.Columns)
	for _, c := range given {
		if !opt.labelOptional || t.place(c.Name) >= 0 {
			t.take(c.Name, c.Kind, "Columns")
		}
	}
	for _, c := range TableColumns(opt.Tokenizer) {
		at := t.take(c.Name, c.Kind, "Tokenizer")
		if t.row = append(t.row, at); at >= 0 && at < len(t.columns) {
			t.columns[at].Size = c.Size
		}
	}
	if t.group = max(t.group, group); t.bad == nil {
		t.infer(opt)
	}
	if !t.header {
		for i := range t.columns {
			t.columns[i].Name = strconv.Itoa(i + 1)
		}
	}
}

// place returns the index of the column with the given name or number, or -1.
func (t *table) place(given string) int {
	if n, err := strconv.Atoi(given); err == nil && !t.keys {
		if n < 1 || n > len(t.first) && t.first != nil {
			return index(t.indices[0], given) // the number is a name, such as a year
		}
		return n - 1
	}
	if at := index(t.indices[0], given); at >= 0 {
		return at
	}
	return index(t.indices[1], columnName(given))
}

// index returns the index of a name, or -1.
func index(of map[string]int, name string) int {
	if at, is := of[name]; is {
		return at
	}
	return -1
}

// take sets the kind of the column that option names, and returns the column's index. given is the
// value of the option. If given is empty, take returns -1.
func (t *table) take(given string, kind Kind, option string) int {
	if given == "" || t.bad != nil {
		return -1
	}
	at := t.place(given)
	_, err := strconv.Atoi(given)
	named := err != nil || t.keys || at >= 0 && strconv.Itoa(at+1) != given
	switch {
	case at < 0 && !named:
		t.bad = fault(fmt.Sprintf("%d columns", len(t.first)), "a column "+given)
	case at < 0:
		t.bad = fault("the columns "+quoteList(t.first), "a column called "+quote(given))
	case named && t.twice(at):
		t.bad = fault("two columns called "+quote(t.first[at]), "distinct names")
	case kind == "":
		t.header = t.header || named
		return at
	case at < len(t.columns) && t.columns[at].Kind != "" && t.columns[at].Kind != kind:
		t.bad = fault(fmt.Sprintf("column %s as %s and as %s", given, t.columns[at].Kind, kind), "a single kind")
	default:
		t.header = t.header || named
		t.set(at, kind)
		return at
	}
	t.bad.withOption(option, "sets the column by name or number")
	return -1
}

func (t *table) set(at int, kind Kind) {
	place := map[Kind]*int{KindLabel: &t.label, KindText: &t.text, KindGroup: &t.group, KindWeight: &t.weight,
		KindID: &t.id}[kind]
	if place != nil {
		*place = at
	}
	if at < len(t.columns) {
		t.columns[at].Kind = kind
	}
}

func (t *table) twice(at int) bool { return t.count[t.first[at]] > 1 }

// free returns the column index of the first name whose column has no kind yet, or the given kind.
// It returns -1 if there is no such column.
func (t *table) free(names []string, kind Kind) int {
	for _, name := range names {
		at := index(t.indices[1], name)
		if at >= 0 && (t.columns[at].Kind == "" || t.columns[at].Kind == kind) {
			return at
		}
	}
	return -1
}

func parseWeight(value string) (float64, *SyntaxError) {
	w, ok := token.ParseNumber(value)
	if !ok || !(w > 0) {
		return 0, fault("weight "+quote(value), "a positive number")
	}
	return w, nil
}

// fields appends the fields of the tokenizer's columns in record to fields.
func (t *table) fields(record, fields []string) []string {
	for _, at := range t.row {
		fields = append(fields, record[at])
	}
	t.plain(fields)
	return fields
}

// plain applies plainNumber to numeric columns. fields are the fields of the tokenizer's columns.
func (t *table) plain(fields []string) {
	for i, at := range t.row {
		if at < 0 || t.columns[at].Kind != KindNumber {
			continue
		}
		if comma := t.columns[at].Comma; comma || strings.Contains(fields[i], ",") {
			fields[i] = plainNumber(fields[i], comma)
		}
	}
}

// warn warns if the header may be a document, or if a column without a usual name may hold labels.
func (t *table) warn(c *Corpus) {
	at, warn := place(c.Source, 1), c.warn()
	if t.guessed && slices.ContainsFunc(c.Classes, func(name string) bool {
		return columnName(name) == t.names[t.label]
	}) {
		warn.addOption(fmt.Sprintf("the first line, %s, is read as a header, although later documents have the label %s",
			quoteList(t.first), t.first[t.label]), 1, at, "LabelColumn", strconv.Itoa(t.label+1)+" reads it as a document")
	}
	if t.header && !t.keys && t.label < 0 && !t.noLabels && len(t.first) > 2 {
		warn.addOption("no column of labels: "+strings.Join(t.first, ", "), 1, at, "LabelColumn",
			"sets the label column by name")
	}
}

// explain adds a remedy to a read error if the kind of the column was inferred.
func (t *table) explain(err error) error {
	if bad := (*SyntaxError)(nil); t.tokenizer != (Tokenizer{}) && errors.As(err, &bad) &&
		strings.Contains(bad.Found, " in the column ") {
		bad.Option, bad.Remedy = "Columns", "sets the kind of a column, as in price=text"
	}
	return err
}
