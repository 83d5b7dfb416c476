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

// Form is what [Options] said of how a source is read, for others that are like it. The zero value is that
// of a source that tells all itself.
type Form struct {
	Extension string `json:"extension,omitempty"` // of its name, such as ".csv"; "/" for a folder

	Format         Format `json:"format,omitempty"`
	Encoding       string `json:"encoding,omitempty"`
	LabelColumn    string `json:"label_column,omitempty"`
	TextColumn     string `json:"text_column,omitempty"`
	LabelKey       string `json:"label_key,omitempty"`
	TextKey        string `json:"text_key,omitempty"`
	LabelSeparator string `json:"label_separator,omitempty"`
	ZeroBased      string `json:"zero_based,omitempty"`
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
	zeroBased := o.ZeroBased
	if zeroBased == "false" {
		zeroBased = "" // the default
	}
	f := Form{"", o.Format, o.Encoding, o.LabelColumn, o.TextColumn, o.LabelKey, o.TextKey, o.LabelSeparator,
		zeroBased}
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
