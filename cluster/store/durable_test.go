package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gramengine/gram/internal/musttest"
)

// Files damaged by a power failure are detected and written again: empty files, and files with
// zeros after a page boundary.
func TestPowerFailure(t *testing.T) {
	const page = 4096
	dir := t.TempDir()
	b := musttest.Get(openFolder(dir, true))(t)
	s := New(b)
	data := make([]byte, 16*page+11)
	for i := range data {
		data[i] = byte(i%251 + 1) // nonzero, because zeros mark the damage
	}
	musttest.Get(s.Put(t.Context(), "results/x", data))(t)
	path := filepath.Join(dir, "results", "x.a0")
	whole := musttest.Get(os.ReadFile(path))(t)
	for zeros := 0; zeros < len(whole); zeros += page {
		left := bytes.Clone(whole)
		clear(left[zeros:])
		musttest.NoError(t, os.WriteFile(path, left, 0o666))
		_, err := s.Get(t.Context(), "results/x", nil)
		damaged := (*DamagedError)(nil)
		if !errors.As(err, &damaged) || damaged.Key != "results/x.a0" || damaged.Offset > int64(zeros) {
			t.Fatalf("zeros from byte %d on: %v", zeros, err)
		}
	}
	musttest.NoError(t, os.Truncate(path, 0))
	if there, err := s.Put(t.Context(), "results/x", data); there || err != nil {
		t.Fatalf("Put after a power failure = %v, %v", there, err)
	}
	if got, err := s.Get(t.Context(), "results/x", nil); err != nil || !bytes.Equal(got, data) {
		t.Fatalf("%d bytes, error %v", len(got), err)
	}
}

// unsettled is a folder whose disk fails when a directory entry is synced.
type unsettled struct{ folderBucket }

func (b unsettled) Create(ctx context.Context, key string, parts [][]byte) error {
	if err := b.folderBucket.Create(ctx, key, parts); err != nil {
		return err
	}
	return fmt.Errorf("%w: input/output error", errNotSynced)
}

// An object whose directory entry couldn't be synced isn't complete, although it can be read.
func TestUnsettled(t *testing.T) {
	b := musttest.Get(openFolder(t.TempDir(), true))(t)
	musttest.WantError(New(unsettled{b.(folderBucket)}).Put(t.Context(), "x", []byte("y")))(t,
		"an object that isn't synced", errNotSynced)
}

// A service's error during a read isn't the end of the object, and contains no secret.
func TestCleaned(t *testing.T) {
	for _, of := range []error{io.ErrUnexpectedEOF, errors.New("Get http://host?sig=hushhush: reset")} {
		_, err := io.ReadAll(redactingReader{io.NopCloser(iotest.ErrReader(of))})
		if err == io.ErrUnexpectedEOF || !errors.Is(err, of) || strings.Contains(err.Error(), "hushhush") {
			t.Errorf("%v of %v", err, of)
		}
	}
	if b, err := io.ReadAll(redactingReader{io.NopCloser(strings.NewReader("x"))}); err != nil || string(b) != "x" {
		t.Errorf("%q, %v", b, err)
	}
}
