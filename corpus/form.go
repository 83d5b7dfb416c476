package corpus

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/corpus/internal/charset"
	"github.com/gramengine/gram/corpus/internal/compressed"
)

// Form says how a source is read. Models keep that of their documents, for others that are like them. The zero value
// is that of a source that tells all itself.
type Form struct {
	Extension string `json:"extension,omitempty"` // of its name, such as ".csv"; "/" for a folder

	Format Format `json:"format,omitempty"` // default FormatAuto: from the name and the first bytes

	// Encoding of text: auto (default: UTF-8, or UTF-16 by its byte order mark), utf-8, utf-16,
	// latin-1, windows-1252 or another name of the WHATWG's Encoding Standard. Bytes that aren't
	// text separate terms and are counted in a warning, and files of binary data in a folder are
	// left out with one.
	Encoding string `json:"encoding,omitempty"`

	// LabelColumn and TextColumn are columns of a CSV or TSV file: names in its first line, or
	// numbers from 1 where it has no header. By default they go by usual names (label, class, ...;
	// text, ...), or else are the first and the second of two. Where there is no column of texts and all others
	// that have a name hold numbers, as far as the first 64 KiB show, they are read as a view of numbers, with a
	// warning. A TSV file has a header only if one is given.
	LabelColumn string `json:"label_column,omitempty"`
	TextColumn  string `json:"text_column,omitempty"`
	// LabelKey and TextKey are the keys of JSON lines, by default usual names.
	LabelKey string `json:"label_key,omitempty"`
	TextKey  string `json:"text_key,omitempty"`

	// LabelSeparator is what stands between several labels of a text, or of a line of Options.Labels:
	// any text, or "none" where each field is one label. The default is a comma, with a warning where it may
	// be part of a name.
	LabelSeparator string `json:"label_separator,omitempty"`

	// ZeroBased is whether indices of an svmlight file count from 0: "true" or "false". The default is that of
	// Options.Like, or else false: index i is column i-1, as in LIBSVM, and index 0 is an error.
	ZeroBased string `json:"zero_based,omitempty"`
}

// Validate checks that the format, the encoding and ZeroBased are known.
func (f Form) Validate() error {
	if err := checkFormat(f.Format); err != nil {
		return err
	}
	if err := checkZeroBased(f.ZeroBased); err != nil {
		return err
	}
	return CheckEncoding(f.Encoding)
}

func checkZeroBased(value string) error {
	if value != "" && value != "true" && value != "false" {
		return fmt.Errorf("corpus: ZeroBased is %q, expected true or false", value)
	}
	return nil
}

// extensionOf returns the ending of a file's name without that of a compressed file, in lower case.
func extensionOf(name string) string {
	return filepath.Ext(compressed.CutSuffix(strings.ToLower(name)))
}

// formOf returns the form of a source of that extension, zero where the options say nothing of it.
func (o *Options) formOf(extension string) Form {
	f := o.Form
	if f.Extension = ""; f.ZeroBased == "false" {
		f.ZeroBased = "" // the default
	}
	if f != (Form{}) {
		f.Extension = extension
	}
	return f
}

// takeLike sets what the options don't say as Options.Like has it, for a source of that extension.
func (o *Options) takeLike(extension string) (err error) {
	f := o.Like
	o.ZeroBased = cmp.Or(o.ZeroBased, f.ZeroBased) // whatever the ending: columns are the model's
	if f.Extension != extension {
		return nil
	}
	o.likeLabels = o.LabelColumn == "" && o.LabelKey == ""
	o.Format = cmp.Or(o.Format, f.Format)
	o.LabelColumn, o.TextColumn = cmp.Or(o.LabelColumn, f.LabelColumn), cmp.Or(o.TextColumn, f.TextColumn)
	o.LabelKey, o.TextKey = cmp.Or(o.LabelKey, f.LabelKey), cmp.Or(o.TextKey, f.TextKey)
	o.LabelSeparator = cmp.Or(o.LabelSeparator, f.LabelSeparator)
	if o.Encoding == "" {
		o.Encoding = f.Encoding
		o.form.charset, err = charset.Lookup(f.Encoding)
	}
	return err
}

// takeColumns sets the columns or keys that Options.Like names and the options don't, for a source of another name or a
// stream, if its first line has the column or key of the text, or of labels if Like names no text. Else it sets
// those of a .tsv file whose first line names a text, labels and more.
func (in *input) takeColumns(o *Options) {
	if o.LabelColumn+o.TextColumn+o.LabelKey+o.TextKey != "" || o.Format == FormatFolder {
		return
	}
	head, _ := in.r.Peek(32 << 10) // an error comes again when the file is read
	f, extension := o.Like, extensionOf(in.name)
	line, _, _ := bytes.Cut(head, []byte("\n"))
	tabs, json := bytes.IndexByte(line, '\t') >= 0, len(line) > 0 && (line[0] == '{' || line[0] == '[')
	if json {
		has := func(name string) bool { return name != "" && bytes.Contains(head, []byte(strconv.Quote(name))) }
		if has(f.TextKey) || f.TextKey == "" && has(f.LabelKey) {
			o.LabelKey, o.TextKey, o.likeLabels = f.LabelKey, f.TextKey, true
			o.LabelSeparator = cmp.Or(o.LabelSeparator, f.LabelSeparator)
		}
		return
	}
	separators := ",;"
	if tabs {
		separators = "\t"
	}
	names := strings.FieldsFunc(string(line), func(c rune) bool { return strings.ContainsRune(separators, c) })
	for i := range names {
		names[i] = columnName(names[i])
	}
	has := func(name string) bool { return name != "" && slices.Contains(names, columnName(name)) }
	switch {
	case len(names) < 2 || o.Format != FormatAuto && o.Format != FormatCSV && o.Format != FormatTSV:
		return
	case (len(names) > 2 || has(f.LabelColumn) || !tabs) &&
		(has(f.TextColumn) || f.TextColumn == "" && has(f.LabelColumn)):
		o.LabelColumn, o.TextColumn, o.likeLabels = f.LabelColumn, f.TextColumn, true
		o.LabelSeparator = cmp.Or(o.LabelSeparator, f.LabelSeparator)
	case extension == ".tsv" && len(names) > 2:
		text, label := slices.IndexFunc(textNames, has), slices.IndexFunc(labelNames, has)
		if text >= 0 && label >= 0 {
			o.TextColumn, o.LabelColumn = textNames[text], labelNames[label]
		}
		return
	default:
		return
	}
	if o.Format == FormatAuto && extension != ".csv" && extension != ".tsv" {
		if o.Format = FormatCSV; tabs {
			o.Format = FormatTSV
		}
	}
}
