package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

// Layout of an object, with little-endian numbers:
//
//	"gramobj1"
//	length of the key k, of the payload p    uint32, uint64
//	key                                      k bytes
//	CRC-32C of each MiB of the payload       uint32 each; the last covers up to 1 MiB
//	CRC-32C of all preceding bytes           uint32
//	payload                                  p bytes
//
// CRC-32C detects every error burst of up to 32 bits. The key detects swapped objects.
const (
	magic      = "gramobj1"
	fixedBytes = len(magic) + 4 + 8
	blockBytes = 1 << 20

	maxKey     = 1 << 10 // twice the maximum length of a name, in bytes
	maxPayload = 1 << 40 // maximum payload in bytes; readers reject larger objects
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// damagedError reports that an object differs from the bytes that Put wrote.
type damagedError struct {
	offset int64
	got    string
	want   string
}

func (e *damagedError) Error() string {
	return fmt.Sprintf("at byte %d: found %s, expected %s", e.offset, e.got, e.want)
}

func header(key string, parts [][]byte) []byte {
	total := int64(0)
	for _, p := range parts {
		total += int64(len(p))
	}
	blocks := numBlocks(total)
	h := make([]byte, 0, fixedBytes+len(key)+4*int(blocks)+4)
	h = append(h, magic...)
	h = binary.LittleEndian.AppendUint32(h, uint32(len(key)))
	h = binary.LittleEndian.AppendUint64(h, uint64(total))
	h = append(h, key...)
	sum, room := uint32(0), blockBytes
	for _, p := range parts {
		for len(p) > 0 {
			n := min(room, len(p))
			sum = crc32.Update(sum, castagnoli, p[:n])
			p = p[n:]
			if room -= n; room == 0 {
				h = binary.LittleEndian.AppendUint32(h, sum)
				sum, room = 0, blockBytes
			}
		}
	}
	if room < blockBytes {
		h = binary.LittleEndian.AppendUint32(h, sum)
	}
	return binary.LittleEndian.AppendUint32(h, crc32.Checksum(h, castagnoli))
}

func numBlocks(payload int64) int64 { return (payload + blockBytes - 1) / blockBytes }

// frame is the decoded header of an object.
type frame struct {
	begin, payload int64  // offset and size of the payload in bytes
	checksums      []byte // checksums of the payload's blocks
}

// readHeader reads the header of an object of size bytes. If the header is invalid or contains a
// different key, the error is a *damagedError. Other errors come from r.
func readHeader(r io.Reader, size int64, key string) (f frame, err error) {
	if least := int64(fixedBytes + len(key) + 4); size < least {
		return f, &damagedError{size, fmt.Sprintf("the end after %d bytes", size), fmt.Sprintf("at least %d", least)}
	}
	h := make([]byte, fixedBytes+len(key))
	if err := readAll(r, h, 0); err != nil {
		return f, err
	}
	if !bytes.HasPrefix(h, []byte(magic)) {
		return f, &damagedError{0, fmt.Sprintf("%q", h[:len(magic)]), fmt.Sprintf("%q", magic)}
	}
	if n := binary.LittleEndian.Uint32(h[len(magic):]); n != uint32(len(key)) {
		return f, &damagedError{int64(len(magic)), fmt.Sprintf("a key of %d bytes", n), fmt.Sprintf("%d", len(key))}
	}
	if found := h[fixedBytes:]; string(found) != key {
		return f, &damagedError{int64(fixedBytes), fmt.Sprintf("the key %q", found), fmt.Sprintf("%q", key)}
	}
	payload := binary.LittleEndian.Uint64(h[len(magic)+4:])
	if payload > maxPayload || size != int64(len(h))+4*numBlocks(int64(payload))+4+int64(payload) {
		return f, &damagedError{int64(len(magic) + 4), fmt.Sprintf("a payload size of %d bytes", payload),
			fmt.Sprintf("a size that matches the object size of %d bytes", size)}
	}
	sums := make([]byte, 4*numBlocks(int64(payload))+4)
	if err := readAll(r, sums, int64(len(h))); err != nil {
		return f, err
	}
	own := len(sums) - 4
	sum := crc32.Update(crc32.Checksum(h, castagnoli), castagnoli, sums[:own])
	if want := binary.LittleEndian.Uint32(sums[own:]); sum != want {
		return f, checksumError(0, "a header", sum, want)
	}
	return frame{size - int64(payload), int64(payload), sums[:own]}, nil
}

// read fills b with whole blocks of the payload from r, and verifies the checksum of each block.
// The first block begins at offset begin of the payload.
func (f *frame) read(r io.Reader, begin int64, b []byte) error {
	for lo := 0; lo < len(b); lo += blockBytes {
		block, in := b[lo:min(lo+blockBytes, len(b))], begin+int64(lo)
		if err := readAll(r, block, f.begin+in); err != nil {
			return err
		}
		sum, want := crc32.Checksum(block, castagnoli), binary.LittleEndian.Uint32(f.checksums[in/blockBytes*4:])
		if sum != want {
			return checksumError(f.begin+in, fmt.Sprintf("%d bytes", len(block)), sum, want)
		}
	}
	return nil
}

// readFrame reads an object of size bytes and returns its payload. It uses the memory of buf if buf
// is large enough. If the object is damaged, the error is a *damagedError.
func readFrame(r io.Reader, size int64, key string, buf []byte) ([]byte, error) {
	f, err := readHeader(r, size, key)
	if err != nil {
		return nil, err
	}
	if int64(cap(buf)) < f.payload {
		buf = make([]byte, f.payload)
	}
	buf = buf[:f.payload]
	if err := f.read(r, 0, buf); err != nil {
		return nil, err
	}
	return buf, nil
}

func checksumError(at int64, what string, sum, want uint32) error {
	return &damagedError{at, fmt.Sprintf("%s with the CRC-32C %08x", what, sum), fmt.Sprintf("%08x", want)}
}

// readAll fills b from r. If r ends early, readAll returns a *damagedError.
func readAll(r io.Reader, b []byte, at int64) error {
	n, err := io.ReadFull(r, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return &damagedError{at + int64(n), "the end", fmt.Sprintf("%d more bytes", len(b)-n)}
	}
	return err
}
