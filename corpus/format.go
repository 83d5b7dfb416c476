package corpus

import (
	"bytes"
	"context"
	"slices"
)

// Format is a file format for [Read].
type Format string

// The formats.
const (
	FormatAuto     Format = ""         // detected from the name and the first bytes
	FormatSVMLight Format = "svmlight" // label index:value ..., as svm-train reads it
	FormatTSV      Format = "tsv"      // label<TAB>text, one document per line; or a table with columns
	FormatCSV      Format = "csv"      // a table with commas, semicolons or TABs, quotes as in RFC 4180
	FormatJSONL    Format = "jsonl"    // JSON objects, one per line or in an array
	FormatParquet  Format = "parquet"  // Apache Parquet, a table
	FormatFastText Format = "fasttext" // __label__a __label__b text, one document per line
	FormatNumPy    Format = "numpy"    // dense matrix in .npy, or CSR matrix of scipy.sparse in .npz
	FormatLines    Format = "lines"    // texts without labels, one per line
	FormatFolder   Format = "folder"   // one sub-folder per class, one file per document
	FormatIDX      Format = "idx"      // images of bytes with a separate label file, as for MNIST
)

// fileFormat describes a file format. Each format is declared next to its reader.
type fileFormat struct {
	name        Format
	extensions  []string            // extensions of file names, in lower case
	magic       []string            // magic numbers, ignoring case; files with a magic number aren't text
	matchesLine func(l []byte) bool // reports whether line l may be a document, if no earlier format accepts l; may be nil
	read        func(context.Context, *input, *Options, *progressMeter) (*Corpus, error)
}

// formats lists all formats, in the order in which they are recognised. init sets formats to avoid
// an initialization cycle.
var formats []fileFormat

func init() {
	formats = []fileFormat{idxFormat, numPyFormat, parquetFormat, jsonlFormat, fastTextFormat, svmLightFormat,
		tsvFormat, csvFormat, linesFormat, {name: FormatFolder}}
}

// Formats returns the names of all formats, sorted.
func Formats() (names []string) {
	for _, f := range formats {
		names = append(names, string(f.name))
	}
	slices.Sort(names)
	return names
}

func (f *fileFormat) matchesMagic(head []byte) bool {
	return slices.ContainsFunc(f.magic, func(magic string) bool {
		return bytes.EqualFold(head[:min(len(head), len(magic))], []byte(magic))
	})
}

// findFormat returns the first format that match accepts, or nil.
func findFormat(match func(f *fileFormat) bool) *fileFormat {
	if at := slices.IndexFunc(formats, func(f fileFormat) bool { return match(&f) }); at >= 0 {
		return &formats[at]
	}
	return nil
}
