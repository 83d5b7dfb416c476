package sparse

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gramengine/gram/sparse/internal/charset"
	"github.com/gramengine/gram/sparse/internal/compressed"
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
}

// Validate checks that the format and the encoding are known.
func (f Form) Validate() error {
	if readers[f.Format] == nil && f.Format != FormatAuto && f.Format != FormatFolder {
		return fmt.Errorf("sparse: format %q, which is unknown", string(f.Format))
	}
	return CheckEncoding(f.Encoding)
}

// extensionOf returns the ending of a file's name without that of a compressed file, in lower case.
func extensionOf(name string) string {
	return filepath.Ext(compressed.CutSuffix(strings.ToLower(name)))
}

// formOf returns the form of a source of that extension, zero where the options say nothing of it.
func (o *Options) formOf(extension string) Form {
	f := Form{"", o.Format, o.Encoding, o.LabelColumn, o.TextColumn, o.LabelKey, o.TextKey, o.LabelSeparator}
	if f != (Form{}) {
		f.Extension = extension
	}
	return f
}

// takeLike sets what the options don't say as Options.Like has it, for a source of that extension.
func (o *Options) takeLike(extension string) (err error) {
	f := o.Like
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
