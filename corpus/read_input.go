package corpus

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/gramengine/gram/corpus/internal/charset"
	"github.com/gramengine/gram/corpus/internal/compressed"
)

// input is an open file, decompressed where its first bytes are those of gzip or zstd.
type input struct {
	name    string // as the user named it
	file    io.Closer
	r       *bufio.Reader
	line    int64 // number of the line that comes next, from 1
	stream  bool  // name isn't that of a file
	quoted  byte  // what separates the fields of records, in which quotes may hold line ends; 0 for lines, [ for an array
	form    form
	meter   *meter
	packed  bool // compressed
	decoded bool // from an encoding other than UTF-8
}

// form is how a file's text is stored.
type form struct {
	charset charset.Charset
	window  int64 // that zstd data may have in memory; 0 for the most that zstd itself has
}

// blockBytes is how much of a file a worker parses at a time: enough to hide the hand-over, little
// enough for the second-level cache.
const blockBytes = 512 << 10

// openInput opens a file of text in an encoding, or of binary data. buffer may be nil; it serves
// one input at a time. Cancellation closes the file, which is the only way to stop waiting for a
// pipe.
func openInput(
	ctx context.Context, name string, from form, m *meter, buffer *bufio.Reader,
) (*input, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	in := &input{name: name, file: f, line: 1, form: from, meter: m}
	defer context.AfterFunc(ctx, in.close)()
	if err := in.decode(countingReader{f, m}, buffer); err != nil {
		f.Close()
		return nil, err
	}
	return in, nil
}

// decode makes in read from r, decompressed if its first bytes say so.
func (in *input) decode(r io.Reader, buffer *bufio.Reader) error {
	if buffer == nil {
		buffer = bufio.NewReaderSize(nil, 64<<10)
	}
	var err error
	if in.r, err = compressed.NewReader(r, buffer, in.form.window); err != nil {
		return in.readError(0, err)
	}
	if in.packed = in.r != buffer; in.meter != nil {
		in.meter.packed.Store(in.packed)
	}
	head, _ := in.r.Peek(len(matrixMarketBanner))
	if findFormat(func(f *fileFormat) bool { return f.begins(head) }) != nil {
		return nil
	}
	text, decoded := in.form.charset.Decode(in.r)
	if in.decoded = decoded; decoded {
		in.r = bufio.NewReaderSize(text, 64<<10)
	}
	if !in.packed && compressed.CutSuffix(in.name) != in.name {
		garbled := in.binary() // and then the magic number is damaged; else a text has a name that misleads
		head, _ = in.r.Peek(2 * utf8.UTFMax)
		textCheck{}.find(head, func(at int) bool { garbled = garbled || at < utf8.UTFMax; return false })
		if garbled {
			return fault("neither gzip nor zstd data, nor text", "what the name says").at(in.name, 0)
		}
	}
	return nil
}

// binary reports whether the text begins as binary data do: with a NUL among the first 8,000 bytes.
func (in *input) binary() bool {
	head, _ := in.r.Peek(8000) // an error comes again when the text is read
	return bytes.IndexByte(head, 0) >= 0
}

// close may be called more than once, and while another goroutine reads, whose reading then fails.
func (in *input) close() {
	if in.file != nil {
		in.file.Close()
	}
}

// readError returns the error of reading at the given line.
func (in *input) readError(line int64, err error) error {
	var fault *compressed.Fault
	if errors.As(err, &fault) {
		return (&SyntaxError{Found: fault.Found, Expected: fault.Expected, Err: fault.Err}).at(in.name, line)
	}
	return fmt.Errorf("corpus: %s: %w", place(in.name, line), err)
}

// detect returns the format of a file by its first bytes, else by its name, else by its first line, as guessed then
// says.
func (in *input) detect() (format Format, guessed string, err error) {
	head, err := in.r.Peek(32 << 10)
	if err != nil && err != io.EOF && len(head) == 0 {
		return "", "", in.readError(in.line, err)
	}
	if len(head) == 0 {
		return "", "", fault("an empty file", "documents").at(in.name, 0)
	}
	extension := extensionOf(in.name)
	found := findFormat(func(f *fileFormat) bool { return f.begins(head) })
	if found == nil {
		found = findFormat(func(f *fileFormat) bool { return slices.Contains(f.endings, extension) })
	}
	if found != nil {
		return found.name, "", nil
	}
	line := in.line
	for l := range bytes.Lines(head) {
		if t := bytes.TrimSpace(l); len(t) == 0 || t[0] == '#' {
			line++
			continue
		}
		if found := findFormat(func(f *fileFormat) bool { return f.line != nil && f.line(l) }); found != nil {
			format = found.name
		}
		if format == FormatAuto && in.stream && extension == "" && isHeader(bytes.TrimSpace(l)) {
			format = FormatCSV
		}
		if format == FormatAuto && (extension == ".txt" || in.stream && extension == "") && bytes.IndexByte(head, '\t') < 0 {
			format = FormatLines
		}
		if format == FormatAuto {
			return "", "", &SyntaxError{
				File: in.name, Line: line, Found: quote(bytes.TrimSpace(l)),
				Expected: "label index:value ..., label<TAB>text, JSON objects, or a MatrixMarket banner",
				Option:   "Format", Remedy: "lines takes it for texts without labels, csv for a table",
			}
		}
		return format, fmt.Sprintf("%s from line %d", format, line), nil
	}
	return FormatSVMLight, "", nil // nothing but comments: the reader says that the file is empty
}

// isHeader reports whether a line is the header of a CSV file: names without blanks, one of which textNames knows.
func isHeader(l []byte) bool {
	names, text := strings.Split(string(l), ","), false
	for _, name := range names {
		name = strings.TrimSuffix(strings.TrimPrefix(name, `"`), `"`)
		if name == "" || strings.ContainsAny(name, " \t\"") {
			return false
		}
		text = text || slices.Contains(textNames, strings.ToLower(name))
	}
	return text && len(names) > 1
}

// meter counts what is read, for reports.
type meter struct {
	done, total, documents atomic.Int64
	cut, parsed            atomic.Int64 // bytes of blocks
	packed                 atomic.Bool  // a file is compressed
}

// share returns the part of the source that has been parsed, 0 if it isn't known.
func (m *meter) share() float64 {
	done, total, cut := m.done.Load(), m.total.Load(), m.cut.Load()
	if total == 0 || m.packed.Load() && done >= total { // a decompressor may hold any number of bytes
		return 0
	}
	share := float64(done) / float64(total)
	if cut > 0 {
		share *= float64(m.parsed.Load()) / float64(cut)
	}
	return min(share, 1)
}

// countingReader counts the bytes of a file as they are stored, below decompression.
type countingReader struct {
	r io.Reader
	m *meter
}

func (c countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.m.done.Add(int64(n))
	return n, err
}
