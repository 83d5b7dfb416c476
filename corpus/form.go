package corpus

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gramengine/gram/corpus/internal/charset"
	"github.com/gramengine/gram/corpus/internal/compressed"
)

// FormatOptions describes the format of a source. Models store the FormatOptions of their training
// documents, so that test documents are read in the same way. The zero value detects the format.
type FormatOptions struct {
	Extension string `json:"extension,omitempty"` // extension of the name, such as ".csv"; "/" for a folder

	Format Format `json:"format,omitempty"` // default FormatAuto: detected from the name and the first bytes

	// Encoding of text: auto (default: UTF-8, or UTF-16 if there is a byte order mark), utf-8,
	// utf-16, latin-1, windows-1252 or another name of the WHATWG's Encoding Standard. Invalid
	// bytes separate terms and are counted in a warning. Binary files in a folder are skipped with
	// a warning.
	Encoding string `json:"encoding,omitempty"`

	// LabelColumn and TextColumn are keys of JSON objects, names of Parquet columns, or names or
	// numbers (from 1) of CSV or TSV columns. By default, the label column has a usual name (label,
	// class, ...), or is the first of two columns. If TextColumn is set, all other columns are
	// ignored. Otherwise, all columns are read according to their kinds. A TSV file has a header
	// only if an option names a column, or if it has more than two columns with usual names for
	// label and text.
	LabelColumn string `json:"label_column,omitempty"`
	TextColumn  string `json:"text_column,omitempty"`
	// IDColumn is a column that names documents. By default it has a usual name (id, name, key,
	// ..., or a name that ends in _id) and distinct values.
	IDColumn string `json:"id_column,omitempty"`
	// Columns sets kinds of columns, such as "subject=text, zip=category, notes=ignore". See
	// [Kind]. The kinds of other columns are inferred from names, and from the values in the first
	// 64 KiB, or 2 MiB if there are long vectors. "embedding=e.npy" adds a column of vectors from a
	// file.
	Columns string `json:"columns,omitempty"`

	// LabelSeparator separates several labels of a text, or of a line of Options.Labels. "none"
	// means that each field is a single label. The default is a comma, with a warning if commas
	// could be part of names.
	LabelSeparator string `json:"label_separator,omitempty"`

	// ZeroBased is "true" if indices of an svmlight file start from 0, and "false" if index i is
	// column i-1, as in LIBSVM; index 0 is then an error. The default is the value in
	// Options.TrainingFormat, or "false".
	ZeroBased string `json:"zero_based,omitempty"`
}

// Validate returns an error if the format, the encoding, Columns or ZeroBased is invalid.
func (f FormatOptions) Validate() error {
	if names := Formats(); f.Format != FormatAuto && !slices.Contains(names, string(f.Format)) {
		return fmt.Errorf("corpus: unknown format %q; valid formats are %s", string(f.Format), strings.Join(names, ", "))
	}
	if f.ZeroBased != "" && f.ZeroBased != "true" && f.ZeroBased != "false" {
		return fmt.Errorf("corpus: ZeroBased must be true or false, got %q", f.ZeroBased)
	}
	if _, err := charset.Lookup(f.Encoding); err != nil {
		return fmt.Errorf("corpus: %w", err)
	}
	_, err := parseColumns(f.Columns)
	return err
}

// extensionOf returns the extension of a file's name in lower case, ignoring the suffix of a
// compressed file.
func extensionOf(name string) string {
	return filepath.Ext(compressed.TrimSuffix(strings.ToLower(name)))
}

// formatFor returns the FormatOptions of a source with the given extension, or the zero value if
// all options are defaults.
func (o *Options) formatFor(extension string) FormatOptions {
	f := o.FormatOptions
	if f.Extension = ""; f.ZeroBased == "false" {
		f.ZeroBased = ""
	}
	if f != (FormatOptions{}) {
		f.Extension = extension
	}
	return f
}

// applyTrainingFormat sets unset options from Options.TrainingFormat if its extension equals the
// given extension of the source.
func (o *Options) applyTrainingFormat(extension string) {
	f := o.TrainingFormat
	o.ZeroBased = cmp.Or(o.ZeroBased, f.ZeroBased) // independent of extension, because indices must match the model
	if f.Extension != extension {
		return
	}
	o.labelOptional = o.LabelColumn == ""
	o.Format = cmp.Or(o.Format, f.Format)
	o.LabelColumn, o.TextColumn = cmp.Or(o.LabelColumn, f.LabelColumn), cmp.Or(o.TextColumn, f.TextColumn)
	o.IDColumn, o.Columns = cmp.Or(o.IDColumn, f.IDColumn), cmp.Or(o.Columns, f.Columns)
	o.LabelSeparator = cmp.Or(o.LabelSeparator, f.LabelSeparator)
	o.Encoding = cmp.Or(o.Encoding, f.Encoding)
	o.decoding.charset, _ = charset.Lookup(o.Encoding)
}

// applyColumns takes LabelColumn and TextColumn from Options.TrainingFormat, and reports whether it
// did. It does nothing if one of them is set, or if names lack TrainingFormat.TextColumn, or
// TrainingFormat.LabelColumn if TextColumn is empty. names is a result of normalizeNames.
func (o *Options) applyColumns(names []string) bool {
	f := o.TrainingFormat
	main := cmp.Or(f.TextColumn, f.LabelColumn)
	if o.LabelColumn+o.TextColumn != "" || main == "" || !slices.Contains(names, normalizeName(main)) {
		return false
	}
	o.LabelColumn, o.TextColumn, o.labelOptional = f.LabelColumn, f.TextColumn, true
	o.LabelSeparator = cmp.Or(o.LabelSeparator, f.LabelSeparator)
	return true
}
