// Package archivetest tests a model file format: [Check] tests valid and damaged files, [Fuzz]
// tests arbitrary headers and arrays. A learner's tests call Check and Fuzz with trained models.
package archivetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/archive"
)

// Bytes returns the contents of a file that stores m.
func Bytes[M any](t testing.TB, form archive.Format[M], m *M) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := form.Write(context.Background(), &b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Check writes each model to a file and reads the file. ReadSized must call early. The model read
// must equal the original, and writing the model read must give the same bytes. Files with a
// flipped bit, missing bytes or trailing bytes must be rejected.
func Check[M any](t *testing.T, form archive.Format[M], models ...*M) {
	t.Helper()
	for i, m := range models {
		data := Bytes(t, form, m)
		early := false
		got, err := form.ReadSized(t.Context(), bytes.NewReader(data), int64(len(data)),
			func(corpus.Tokenizer, corpus.FormatOptions) { early = true })
		if err != nil || !early {
			t.Fatalf("model %d: error %v, early called: %v; want nil and true", i, err, early)
		}
		if !reflect.DeepEqual(got, m) {
			t.Errorf("model %d: read\n%+v, want\n%+v", i, got, m)
		}
		if !bytes.Equal(Bytes(t, form, got), data) {
			t.Errorf("model %d: bytes differ after writing it again", i)
		}
		checkDamage(t, form, data)
	}
}

func checkDamage[M any](t *testing.T, form archive.Format[M], data []byte) {
	t.Helper()
	check := func(what string, at int, bad []byte) {
		t.Helper()
		for _, size := range []int64{-1, int64(len(bad))} { // -1 means an unknown size, as for a pipe
			m, err := form.ReadSized(t.Context(), bytes.NewReader(bad), size, nil)
			first := at <= len(form.Name+archive.Version) &&
				(errors.Is(err, archive.ErrFormat) || errors.Is(err, archive.ErrVersion))
			if m != nil || !first && !errors.Is(err, archive.ErrDamaged) {
				t.Fatalf("%s %d of %d: %v, want ErrDamaged", what, at, len(data), err)
			}
		}
	}
	for at := 0; at < len(data); at += 1 + at/50 {
		bad := bytes.Clone(data)
		bad[at] ^= 1 << (at % 8)
		check("a bit changed in byte", at, bad)
		check("cut at byte", at, data[:at])
	}
	check("a byte after byte", len(data), append(bytes.Clone(data), 0))
}

// Fuzz checks that reading files with arbitrary headers and arrays and a correct checksum doesn't
// panic. Arrays are truncated or padded to the length in the header. Errors must wrap ErrDamaged.
// If a file can be read, Fuzz calls use with the model. Writing the model, reading the written file
// and writing again must give the same bytes.
func Fuzz[M any](f *testing.F, form archive.Format[M], use func(*testing.T, *M), models ...*M) {
	for _, m := range models {
		lines := bytes.SplitN(Bytes(f, form, m), []byte("\n"), 3)
		f.Add(lines[1], lines[2][:len(lines[2])-sha256.Size])
	}
	f.Add([]byte("{}"), []byte{})
	f.Fuzz(func(t *testing.T, header, arrays []byte) {
		if size, err := form.ArrayBytes(header); err == nil && size < 1<<20 {
			arrays = slices.Concat(arrays, make([]byte, size))[:size]
		}
		data := slices.Concat([]byte(form.Name+archive.Version+"\n"), header, []byte("\n"), arrays)
		if _, err := form.Read(t.Context(), bytes.NewReader(data)); !errors.Is(err, archive.ErrDamaged) {
			t.Fatalf("without a checksum: %v", err)
		}
		sum := sha256.Sum256(data)
		m, err := form.Read(t.Context(), bytes.NewReader(append(data, sum[:]...)))
		if err != nil {
			if !errors.Is(err, archive.ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		file := Bytes(t, form, m)
		again, err := form.Read(t.Context(), bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(Bytes(t, form, again), file) {
			t.Fatal("bytes differ after writing and reading twice")
		}
		use(t, m)
	})
}
