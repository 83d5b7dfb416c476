// Package compressed decompresses gzip and zstd files, which it recognises by their magic numbers.
package compressed

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// TrimSuffix returns a name without the suffix of a compressed file, ignoring case.
func TrimSuffix(name string) string {
	for _, suffix := range []string{".gz", ".zst"} {
		if n := len(name) - len(suffix); n > 0 && strings.EqualFold(name[n:], suffix) {
			return name[:n]
		}
	}
	return name
}

// Magic numbers of gzip and zstd data. zstd data may begin with a skippable frame, in which a byte
// from 0x50 to 0x5f precedes skippableMagic.
const (
	gzipMagic      = "\x1f\x8b"
	zstdMagic      = "\x28\xb5\x2f\xfd"
	skippableMagic = "\x2a\x4d\x18"
)

// MaxWindow is the maximum window size of zstd data in bytes, as in zstd itself. It bounds the
// decoder's memory.
const MaxWindow = 128 << 20

// DataError describes damaged compressed data.
type DataError struct {
	Found, Expected string
	Err             error // error of the decoder
}

// Error implements error.
func (f *DataError) Error() string { return f.Found }

// Unwrap returns the decoder's error.
func (f *DataError) Unwrap() error { return f.Err }

// errorRecorder reads compressed data, and stores the error of the underlying reader.
type errorRecorder struct {
	r   io.Reader
	err error
}

func (b *errorRecorder) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err != nil && err != io.EOF {
		b.err = err
	}
	return n, err
}

// NewReader returns a reader of r's data, decompressed if they begin with the magic number of gzip
// or zstd. The result retains buffer. window limits the window size of zstd data in bytes; 0 means
// [MaxWindow]. Errors of r are returned unchanged. Damaged data cause a *[DataError].
func NewReader(r io.Reader, buffer *bufio.Reader, window int64) (*bufio.Reader, error) {
	b := &errorRecorder{r: r}
	buffer.Reset(b)
	begin, err := buffer.Peek(len(zstdMagic))
	if err != nil && err != io.EOF {
		return nil, err
	}
	out := &reader{source: b}
	switch {
	case strings.HasPrefix(string(begin), gzipMagic):
		out.toDataError = gzipError
		if out.Reader, err = gzip.NewReader(buffer); err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
	case string(begin) == zstdMagic, len(begin) == 4 && begin[0]&0xf0 == 0x50 && string(begin[1:]) == skippableMagic:
		if window <= 0 || window > MaxWindow {
			window = MaxWindow
		}
		window = max(window, zstd.MinWindowSize)
		out.toDataError = func(err error) *DataError { return zstdError(err, window) }
		// With concurrency 1, the decoder runs in the caller's goroutine.
		out.Reader, err = zstd.NewReader(buffer, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(uint64(window)))
	default:
		return buffer, nil
	}
	if err != nil {
		return nil, out.convertError(err)
	}
	return bufio.NewReaderSize(out, 64<<10), nil
}

// reader distinguishes errors in the data from errors of the underlying reader.
type reader struct {
	io.Reader   // a decompressor
	source      *errorRecorder
	toDataError func(err error) *DataError
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	return n, r.convertError(err)
}

func (r *reader) convertError(err error) error {
	switch {
	case err == nil || err == io.EOF:
		return err
	case r.source.err != nil:
		return r.source.err
	}
	return r.toDataError(err)
}

func zstdError(err error, window int64) *DataError {
	f := &DataError{"zstd data: " + strings.TrimPrefix(err.Error(), "zstd: "), "an undamaged zstd file", err}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		f.Found, f.Expected = "the zstd data end early", "a complete zstd file"
	case errors.Is(err, zstd.ErrMagicMismatch):
		f.Found, f.Expected = "extra data after the zstd data", "the end of the file"
	case errors.Is(err, zstd.ErrCRCMismatch):
		f.Found = "the zstd checksum does not match"
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		f.Found = "zstd data with a window too large for the memory limit"
		f.Expected = fmt.Sprintf("a window of at most %d KiB", window>>10)
	case errors.Is(err, zstd.ErrUnknownDictionary):
		f.Found, f.Expected = "zstd data that need a dictionary", "data without one"
	}
	return f
}

func gzipError(err error) *DataError {
	f := &DataError{err.Error(), "an undamaged gzip file", err}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		f.Found, f.Expected = "the gzip data end early", "a complete gzip file"
	case errors.Is(err, gzip.ErrHeader):
		f.Found = "damaged gzip data, or extra data at the end"
	case errors.Is(err, gzip.ErrChecksum):
		f.Found = "the gzip checksum does not match"
	}
	return f
}
