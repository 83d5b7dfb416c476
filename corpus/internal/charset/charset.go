// Package charset decodes text to UTF-8.
package charset

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Charset is the encoding of a text. The zero value is auto.
type Charset struct {
	codec  encoding.Encoding // nil for UTF-8 and auto
	isUTF8 bool              // true if text is read as UTF-8, even if it begins with a UTF-16 byte order mark
}

// overrides holds encodings that package htmlindex lacks or defines differently. htmlindex maps
// Latin-1 to Windows-1252, and its UTF-16 codec ignores byte order marks. Keys are in lower case
// and have no hyphens.
var overrides = map[string]Charset{
	"": {}, "auto": {}, "utf8": {isUTF8: true}, "utf16": {codec: unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)},
	"latin1": {codec: charmap.ISO8859_1}, "iso88591": {codec: charmap.ISO8859_1},
}

// Lookup returns an encoding by its name, ignoring case: auto, utf-8, utf-16, latin-1, or a name of
// the WHATWG's Encoding Standard, such as windows-1252, shift_jis or koi8-r.
func Lookup(name string) (Charset, error) {
	if c, ok := overrides[strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "-", "")]; ok {
		return c, nil
	}
	e, err := htmlindex.Get(name)
	if err != nil || e == encoding.Replacement {
		return Charset{}, fmt.Errorf("unknown encoding %q; valid encodings are auto, utf-8, utf-16, latin-1, windows-1252 "+
			"and other names of the Encoding Standard (encoding.spec.whatwg.org)", name)
	}
	return Charset{codec: e}, nil
}

// Decode returns a reader that converts r to UTF-8 without a byte order mark. decoded reports
// whether r has another encoding. If decoded is true, U+FFFD replaces bytes that can't be decoded.
func (c Charset) Decode(r *bufio.Reader) (text io.Reader, decoded bool) {
	if c.codec != nil {
		return transform.NewReader(r, c.codec.NewDecoder()), true
	}
	head, _ := r.Peek(3) // an error recurs when the text is read
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		r.Discard(3)
	case !c.isUTF8 && (bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff"))):
		return transform.NewReader(r, unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()), true
	}
	return r, false
}
