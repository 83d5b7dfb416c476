package tiles

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Add reads one file as [Piece.Write] writes it, keeps it as [Store.Save] does, and returns its piece.
// It reads no further than the file's end, so that the next may follow there; at the end of r the error
// is io.EOF. One that wraps [ErrDamaged] says that r isn't such a file. After an error the store is as
// it was.
func (s *Store) Add(r io.Reader) (Piece, error) {
	p, err := s.add(r)
	if err != nil && err != io.EOF {
		return Piece{}, fmt.Errorf("tiles: Add: %w", err)
	}
	return p, err
}

func (s *Store) add(r io.Reader) (p Piece, err error) {
	chunk := chunks.Get().(*[chunkBytes]byte)
	defer chunks.Put(chunk)
	h := chunk[:headerBytes]
	if _, err := io.ReadFull(r, h[:1]); err != nil {
		return p, err
	}
	if err := readFull(r, h[1:]); err != nil {
		return p, err
	}
	if p, err = parseHeader(h); err != nil {
		return p, err
	}
	f, err := s.create(s.path(p))
	if err != nil {
		return p, err
	}
	defer f.Abort()
	var sum checksum
	b := h
	for left := 4 * int64(p.Rows) * int64(p.Cols); ; left -= int64(len(b)) {
		sum.add(b)
		if _, err := f.Write(b); err != nil {
			return p, err
		}
		if left == 0 {
			break
		}
		b = chunk[:min(left, chunkBytes)]
		if err := readFull(r, b); err != nil {
			return p, err
		}
	}
	t := chunk[:trailerBytes]
	if err := readFull(r, t); err != nil {
		return p, err
	}
	if got := binary.LittleEndian.Uint64(t); got != sum.sum() {
		return p, fmt.Errorf("%w: checksum %016x, expected %016x", ErrDamaged, got, sum.sum())
	}
	if _, err := f.Write(t); err != nil {
		return p, err
	}
	return p, f.CommitUnsynced()
}
