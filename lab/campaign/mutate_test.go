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

// odd lists tokens that readers must either reject or parse, at any position.
var odd = []string{
	"", "0", "-0", "1", "-1", "+1", "1e38", "1e39", "1e-46", "1e400", "nan", "inf", "0x10", "1_0", ".", "1.", "007",
	"2147483648", "4294967296", "18446744073709551616", "9223372036854775807", "qid", "\x00", "\t", "\n", "\r", "\r\n",
	"\"", "\\u0000", "\\ud800", "{", "}", "[", "]", ",", ";", ":", "=", "(", ")", "#", "%", "\xef\xbb\xbf", "\xff\xfe",
	"\u2028", "é", "e\u0301", "\xc3", "null", "true", "product", "layers", "t", "normalize",
}

// mutate returns a seed after one or more random changes to bits, bytes, tokens and lines.
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
		case 3: // remove a segment
			data = slices.Delete(data, at, end)
		case 4: // repeat a segment
			data = slices.Insert(data, at, bytes.Repeat(data[at:end], 1+r.IntN(1+r.IntN(20)))...)
		case 5: // append the end of another seed
			other := seeds[r.IntN(len(seeds))]
			data = append(data[:at:at], other[r.IntN(len(other)+1):]...)
		case 6, 7: // replace a token by an odd token or by another token of the input
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
		case 8: // swap two lines and repeat one
			lines := bytes.SplitAfter(data, []byte("\n"))
			i, j := r.IntN(len(lines)), r.IntN(len(lines))
			lines[i], lines[j] = lines[j], lines[i]
			data = bytes.Join(append(lines, lines[i]), nil)
		}
	}
	return data[:min(len(data), 1<<17)]
}

func zip(data []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	_, _ = z.Write(data)
	_ = z.Close()
	return b.Bytes()
}

// signed recomputes the checksum of a mutated model or index, so that the reader accepts it.
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
