package corpus

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// records divides CSV text into records as encoding/csv does with LazyQuotes and, unless fields are
// separated by TABs, TrimLeadingSpace. Fields are substrings of the text, or copies if they have
// escaped quotes or line ends.
type records struct {
	text      string
	separator byte
	maxFields int // number of fields to store; 0 for all

	fields     []string
	fieldCount int // number of fields, including fields that aren't stored
	begin, end int // the record is text[begin:end], including its line end
	line       int // number of lines before the record
	openQuote  int // index of the opening quote of a field without a closing quote, or -1

	lines int // number of lines before end
}

// next reads the next record that isn't a blank line. It returns false at the end of the text.
func (r *records) next() bool {
	r.fields, r.fieldCount, r.openQuote = r.fields[:0], 0, -1
	var line, field string
	for line == "" {
		if r.end == len(r.text) {
			return false
		}
		r.begin, r.line = r.end, r.lines
		line = r.nextLine()
	}
	for more := true; more; r.fieldCount++ {
		if field, line, more = r.nextField(line); r.maxFields == 0 || r.fieldCount < r.maxFields {
			r.fields = append(r.fields, field)
		}
	}
	return true
}

// nextLine returns the next line without its line end (LF or CR LF).
func (r *records) nextLine() string {
	line := r.text[r.end:]
	if at := strings.IndexByte(line, '\n'); at >= 0 {
		line = line[:at]
		r.end++
		r.lines++
	}
	r.end += len(line)
	return strings.TrimSuffix(line, "\r")
}

// nextField returns the field at the start of line. If more fields follow, rest is the rest of the
// line in which the field ends.
func (r *records) nextField(line string) (field, rest string, more bool) {
	if line != "" && (line[0] <= ' ' || line[0] >= utf8.RuneSelf) && r.separator != '\t' {
		line = strings.TrimLeftFunc(line, unicode.IsSpace)
	}
	if line == "" || line[0] != '"' {
		if at := strings.IndexByte(line, r.separator); at >= 0 {
			return line[:at], line[at+1:], true
		}
		return line, "", false
	}
	var before []byte // beginning of the field without quoting; nil if none
	opened := r.end - len(line)
	line = line[1:]
	for {
		at := strings.IndexByte(line, '"')
		switch after := line[at+1:]; {
		case at < 0 && r.end == len(r.text):
			r.openQuote = opened
			return string(before) + line, "", false
		case at < 0:
			before = append(append(before, line...), '\n')
			line = r.nextLine()
		case after == "":
			return concat(before, line[:at]), "", false
		case after[0] == r.separator:
			return concat(before, line[:at]), after[1:], true
		case after[0] == '"':
			before, line = append(before, line[:at+1]...), after[1:]
		default: // a quote within the field
			before, line = append(before, line[:at+1]...), after
		}
	}
}

// concat returns before + last. It doesn't copy last if before is empty.
func concat(before []byte, last string) string {
	if len(before) == 0 {
		return last
	}
	return string(append(before, last...))
}

// lastRecord returns the end of the last complete record of data, or 0. opened is the index of the
// opening quote of an unclosed field, or -1. If separator is 0, records are lines.
func lastRecord(data []byte, separator byte) (end, opened int) {
	if separator == 0 || bytes.IndexByte(data, '"') < 0 {
		return bytes.LastIndexByte(data, '\n') + 1, -1
	}
	r := records{text: string(data), separator: separator}
	for {
		rest := r.text[r.end:]
		quote := strings.IndexByte(rest, '"')
		if quote < 0 {
			return r.end + strings.LastIndexByte(rest, '\n') + 1, -1
		}
		r.end += strings.LastIndexByte(rest[:quote], '\n') + 1
		end = r.end
		if r.next(); r.openQuote >= 0 || r.text[r.end-1] != '\n' {
			return end, r.openQuote
		}
	}
}
