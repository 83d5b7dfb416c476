package sparse

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"strings"
)

// gzipMagic are the first bytes of gzip data.
const gzipMagic = "\x1f\x8b"

var errGzipTail = errors.New("other data behind the gzip data")

// gzipReader reads gzip data of one or more members, as package gzip does, but tells a file that
// was cut short from one that has something else behind its last member. Zeros there are what
// padding leaves, and are passed over, as gzip itself does.
type gzipReader struct {
	r   *bufio.Reader
	gz  *gzip.Reader
	err error // what ended the data: a look ahead may have met it first
}

func newGzipReader(r *bufio.Reader) (*gzipReader, error) {
	gz, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	gz.Multistream(false)
	return &gzipReader{r: r, gz: gz}, nil
}

// Read implements io.Reader.
func (g *gzipReader) Read(p []byte) (int, error) {
	for g.err == nil {
		n, err := g.gz.Read(p)
		if n > 0 || err != io.EOF {
			if err == io.EOF {
				err = nil // asked again, the member says so again
			}
			return n, err
		}
		g.err = g.next()
	}
	return 0, g.err
}

// next begins the next member; io.EOF says that there is none.
func (g *gzipReader) next() error {
	switch b, err := g.r.Peek(len(gzipMagic)); {
	case string(b) == gzipMagic:
		if err := g.gz.Reset(g.r); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		g.gz.Multistream(false)
		return nil
	case len(b) == 1 && b[0] == gzipMagic[0]:
		return io.ErrUnexpectedEOF
	case err != nil && err != io.EOF:
		return err
	}
	for {
		switch b, err := g.r.ReadByte(); {
		case err != nil:
			return err
		case b != 0:
			return errGzipTail
		}
	}
}

// gzipFault returns what is wrong with a gzip file, or nil where err is of another kind.
func gzipFault(err error) *lineError {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return &lineError{found: "the gzip data end early", expected: "a complete gzip file", err: err}
	case errors.Is(err, errGzipTail):
		return &lineError{found: err.Error(), expected: "the end of the file", err: err}
	case errors.Is(err, gzip.ErrChecksum):
		return &lineError{found: "the gzip checksum does not match", expected: "an undamaged gzip file", err: err}
	}
	if s := err.Error(); strings.HasPrefix(s, "gzip: ") || strings.HasPrefix(s, "flate: ") {
		return &lineError{found: s, expected: "an undamaged gzip file", err: err}
	}
	return nil
}
