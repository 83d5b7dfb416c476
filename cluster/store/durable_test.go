package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// What a power failure leaves of a file whose bytes weren't on the disk yet is found when it is read, and
// made again: the file's length with zeros from any page on, or no length at all.
func TestPowerFailure(t *testing.T) {
	const page = 4096
	dir := t.TempDir()
	b, err := openFolder(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	s := New(b)
	data := make([]byte, 16*page+11)
	for i := range data {
		data[i] = byte(i%251 + 1) // no zeros, which zeros might stand for
	}
	if _, err := s.Put(t.Context(), "results/x", data); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "results", "x.a0")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for zeros := 0; zeros < len(whole); zeros += page {
		left := bytes.Clone(whole)
		clear(left[zeros:])
		if err := os.WriteFile(path, left, 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := s.Get(t.Context(), "results/x", nil)
		damaged := (*DamagedError)(nil)
		if !errors.As(err, &damaged) || damaged.Key != "results/x.a0" || damaged.Offset > int64(zeros) {
			t.Fatalf("zeros from byte %d on: %v", zeros, err)
		}
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if there, err := s.Put(t.Context(), "results/x", data); there || err != nil {
		t.Fatalf("Put after a power failure = %v, %v", there, err)
	}
	if got, err := s.Get(t.Context(), "results/x", nil); err != nil || !bytes.Equal(got, data) {
		t.Fatalf("%d bytes, error %v", len(got), err)
	}
}

// BenchmarkFolder compares the folder, which syncs, with a file and a link alone.
func BenchmarkFolder(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20, 64 << 20} {
		data := bytes.Repeat([]byte{1}, size)
		dir := b.TempDir()
		f, err := openFolder(dir, true)
		if err != nil {
			b.Fatal(err)
		}
		for name, create := range map[string]func(path string) error{
			"synced": func(path string) error { return f.Create(b.Context(), path, [][]byte{data}) },
			"unsynced": func(path string) error {
				temporary := filepath.Join(dir, "x")
				err := os.WriteFile(temporary, data, 0o666)
				return errors.Join(err, os.Link(temporary, filepath.Join(dir, path)), os.Remove(temporary))
			},
		} {
			b.Run(fmt.Sprintf("bytes=%d/%s", size, name), func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					path := name + ".object"
					if err := errors.Join(create(path), os.Remove(filepath.Join(dir, path))); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
