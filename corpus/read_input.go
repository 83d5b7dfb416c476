package corpus

import (
	"bufio"
	"bytes"
	"cmp"
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

// input is an open file. It is decompressed if it begins with gzip's or zstd's magic number.
type input struct {
	name            string // name of the file or stream
	file            io.Closer
	r               *bufio.Reader
	line            int64 // number of the next line, from 1
	stream          bool  // true if the source is a stream, so that name isn't a file name
	quotedSeparator byte  // field separator if quoted fields may contain line ends; 0 if records are lines
	decoding        decoding
	meter           *progressMeter
	isCompressed    bool
	decoded         bool            // true if the text was converted from an encoding other than UTF-8
	strings         map[string]bool // true for each column whose values are strings; nil if unknown
}

// decoding holds the encoding of a file and a memory limit for decompression.
type decoding struct {
	charset charset.Charset
	window  int64 // maximum window size of zstd data in bytes; 0 = maximum of zstd
}

// blockBytes is the size of the blocks that workers parse: large enough to amortise
// synchronisation, and small enough for the L2 cache.
const blockBytes = 512 << 10

// openInput opens a text or binary file. buffer may be nil; two inputs must not use it at the same
// time. If ctx is done during the call, the file is closed, because nothing else interrupts a
// blocked read of a pipe.
func openInput(
	ctx context.Context, name string, from decoding, m *progressMeter, buffer *bufio.Reader,
) (*input, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	in := &input{name: name, file: f, line: 1, decoding: from, meter: m}
	defer context.AfterFunc(ctx, in.close)()
	if err := in.decode(countingReader{f, m}, buffer); err != nil {
		f.Close()
		return nil, err
	}
	return in, nil
}

// decode sets in.r to a reader of r, decompressed and, unless the format is binary, in UTF-8.
func (in *input) decode(r io.Reader, buffer *bufio.Reader) error {
	if buffer == nil {
		buffer = bufio.NewReaderSize(nil, 64<<10)
	}
	var err error
	if in.r, err = compressed.NewReader(r, buffer, in.decoding.window); err != nil {
		return in.readError(0, err)
	}
	if in.isCompressed = in.r != buffer; in.meter != nil {
		in.meter.isCompressed.Store(in.isCompressed)
	}
	head, _ := in.r.Peek(len(npyMagic))
	if findFormat(func(f *fileFormat) bool { return f.matchesMagic(head) }) != nil {
		return nil
	}
	text, decoded := in.decoding.charset.Decode(in.r)
	if in.decoded = decoded; decoded {
		in.r = bufio.NewReaderSize(text, 64<<10)
	}
	if !in.isCompressed && compressed.TrimSuffix(in.name) != in.name {
		garbled := in.isBinary() // a binary file has a damaged magic number; a text file has a misleading name
		head, _ = in.r.Peek(2 * utf8.UTFMax)
		textCheck{}.eachInvalid(head, func(at int) bool { garbled = garbled || at < utf8.UTFMax; return false })
		if garbled {
			return newSyntaxError("neither gzip nor zstd data nor text",
				"the format of the file name extension").withPosition(in.name, 0)
		}
	}
	return nil
}

// isBinary reports whether the file seems to be binary: it has a NUL in the first 8,000 bytes.
func (in *input) isBinary() bool {
	head, _ := in.r.Peek(8000) // an error recurs when the text is read
	return bytes.IndexByte(head, 0) >= 0
}

// producer implements io.Reader for the text that next returns piece by piece.
type producer struct {
	next    func() ([]byte, error)
	pending []byte
	err     error // last error of next
}

func (p *producer) Read(b []byte) (n int, err error) {
	for len(p.pending) == 0 && p.err == nil {
		p.pending, p.err = p.next()
	}
	if n = copy(b, p.pending); n == 0 {
		return 0, p.err
	}
	p.pending = p.pending[n:]
	return n, nil
}

// replaceText replaces the rest of the file by the lines that next returns before its first error.
func (in *input) replaceText(next func() ([]byte, error)) {
	in.r, in.line = bufio.NewReaderSize(&producer{next: next}, 64<<10), 1
}

// close is idempotent and safe during a concurrent read, which then fails.
func (in *input) close() {
	if in.file != nil {
		in.file.Close()
	}
}

// readError adds the file and a line to a read error.
func (in *input) readError(line int64, err error) error {
	if bad := (*SyntaxError)(nil); errors.As(err, &bad) {
		bad.File, bad.Line = in.name, cmp.Or(bad.Line, line)
		return bad
	}
	var fault *compressed.DataError
	if errors.As(err, &fault) {
		return (&SyntaxError{Found: fault.Found, Expected: fault.Expected, Err: fault.Err}).withPosition(in.name, line)
	}
	return fmt.Errorf("corpus: %s: %w", position(in.name, line), err)
}

// detect returns the format of a file from its first bytes, its name, or its first line. guessed
// describes a guess from the first line.
func (in *input) detect(opt *Options) (format Format, guessed string, err error) {
	head, err := in.r.Peek(32 << 10)
	if err != nil && err != io.EOF && len(head) == 0 {
		return "", "", in.readError(in.line, err)
	}
	if len(head) == 0 {
		return "", "", newSyntaxError("an empty file", "documents").withPosition(in.name, 0)
	}
	extension := extensionOf(in.name)
	found := findFormat(func(f *fileFormat) bool { return f.matchesMagic(head) })
	if found == nil {
		found = findFormat(func(f *fileFormat) bool { return slices.Contains(f.extensions, extension) })
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
		found := findFormat(func(f *fileFormat) bool { return f.matchesLine != nil && f.matchesLine(l) })
		switch unnamed := in.stream && extension == ""; {
		case found != nil:
			format = found.name
		case isHeader(string(bytes.TrimSpace(l)), opt, unnamed):
			format = FormatCSV
		case (extension == ".txt" || unnamed) && bytes.IndexByte(head, '\t') < 0:
			format = FormatLines
		default:
			return "", "", newSyntaxError(quote(bytes.TrimSpace(l)),
				"label index:value ..., label<TAB>text, or JSON objects").
				withOption("Format", "lines reads it as texts without labels, csv as a table").withPosition(in.name, line)
		}
		return format, fmt.Sprintf("%s from line %d", format, line), nil
	}
	return FormatSVMLight, "", nil // the file has only comments: the reader reports that it is empty
}

// isHeader reports whether a line is the header of a CSV file, that is, whether applyColumns
// accepts its names. If unnamed is true, a line without spaces is also a header if one of its names
// is in textNames.
func isHeader(line string, opt *Options, unnamed bool) bool {
	names := normalizeNames(strings.FieldsFunc(line, func(c rune) bool { return c == ',' || c == ';' }))
	return len(names) > 1 &&
		(opt.applyColumns(names) || unnamed && !strings.Contains(line, " ") && findUsualName(names, textNames) != "")
}

// progressMeter counts bytes and documents that were read, for progress reports.
type progressMeter struct {
	bytesRead, totalBytes, documents atomic.Int64
	divided, parsed                  atomic.Int64 // bytes divided into blocks, and bytes parsed
	isCompressed                     atomic.Bool  // true if at least one file is compressed
}

// parsedFraction returns the parsed fraction of the source, or 0 if it is unknown.
func (m *progressMeter) parsedFraction() float64 {
	done, total, cut := m.bytesRead.Load(), m.totalBytes.Load(), m.divided.Load()
	if total == 0 || m.isCompressed.Load() && done >= total { // a decompressor may still hold any number of bytes
		return 0
	}
	share := float64(done) / float64(total)
	if cut > 0 {
		share *= float64(m.parsed.Load()) / float64(cut)
	}
	return min(share, 1)
}

// countingReader counts the bytes of a file as stored, before decompression.
type countingReader struct {
	r io.Reader
	m *progressMeter
}

func (c countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.m.bytesRead.Add(int64(n))
	return n, err
}
