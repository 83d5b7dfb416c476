//go:build campaign

package campaign

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"math/rand/v2"
	"regexp"
	"slices"
)

// token matches a word or another character.
var token = regexp.MustCompile(`[\p{L}\p{N}_.+-]+|[^\p{L}\p{N}_.+-]`)

// odd are tokens that readers must refuse or understand, wherever they stand.
var odd = []string{
	"", "0", "-0", "1", "-1", "+1", "1e38", "1e39", "1e-46", "1e400", "nan", "inf", "0x10", "1_0", ".", "1.", "007",
	"2147483648", "4294967296", "18446744073709551616", "9223372036854775807", "qid", "\x00", "\t", "\n", "\r", "\r\n",
	"\"", "\\u0000", "\\ud800", "{", "}", "[", "]", ",", ";", ":", "=", "(", ")", "#", "%", "\xef\xbb\xbf", "\xff\xfe",
	"\u2028", "é", "e\u0301", "\xc3", "null", "true", "product", "layers", "t", "normalize",
}

// mutate changes bits, bytes and tokens of a valid input, and repeats, removes or inserts lines and pieces.
func mutate(r *rand.Rand, seeds [][]byte) []byte {
	data := slices.Clone(seeds[r.IntN(len(seeds))])
	for n := 1 + r.IntN(1+r.IntN(8)); n > 0 && len(data) > 0; n-- {
		at := r.IntN(len(data))
		end := at + r.IntN(min(len(data)-at, 1+r.IntN(200))+1)
		switch r.IntN(9) {
		case 0:
			data[at] ^= 1 << r.IntN(8)
		case 1:
			data[at] = byte(r.IntN(256))
		case 2:
			data = data[:at]
		case 3: // a piece is removed
			data = slices.Delete(data, at, end)
		case 4: // or repeated
			data = slices.Insert(data, at, bytes.Repeat(data[at:end], 1+r.IntN(1+r.IntN(20)))...)
		case 5: // or taken from another
			other := seeds[r.IntN(len(seeds))]
			data = append(data[:at:at], other[r.IntN(len(other)+1):]...)
		case 6, 7: // a token is replaced, by an odd one or by another of the same
			tokens := token.FindAllIndex(data, -1)
			if len(tokens) == 0 {
				continue
			}
			from, to := tokens[r.IntN(len(tokens))], tokens[r.IntN(len(tokens))]
			by := []byte(odd[r.IntN(len(odd))])
			if r.IntN(2) == 0 {
				by = slices.Clone(data[from[0]:from[1]])
			}
			data = slices.Replace(data, to[0], to[1], by...)
		case 8: // lines change places, or are repeated
			lines := bytes.SplitAfter(data, []byte("\n"))
			i, j := r.IntN(len(lines)), r.IntN(len(lines))
			lines[i], lines[j] = lines[j], lines[i]
			data = bytes.Join(append(lines, lines[i]), nil)
		}
	}
	return data[:min(len(data), 1<<17)]
}

// zip compresses an input.
func zip(data []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	_, _ = z.Write(data)
	_ = z.Close()
	return b.Bytes()
}

// signed corrects the checksum at the end of a model, or after the first line of an index, so that the rest is read.
func signed(data []byte, index bool) []byte {
	data = slices.Clone(data)
	at, of := len(data)-sha256.Size, data[:max(0, len(data)-sha256.Size)]
	if index {
		if at = bytes.IndexByte(data, '\n') + 1; len(data) >= at+sha256.Size {
			of = data[at+sha256.Size:]
		}
	}
	if at < 0 || len(data) < at+sha256.Size {
		return data
	}
	s := sha256.Sum256(of)
	copy(data[at:], s[:])
	return data
}
