package compressed

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/gramengine/gram/internal/musttest"
)

// zipped compresses a text with gzip.
func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

// packed compresses a text with zstd.
func packed(t testing.TB, text string, opt ...zstd.EOption) string {
	t.Helper()
	var b bytes.Buffer
	w := musttest.Get(zstd.NewWriter(&b, append(opt, zstd.WithEncoderCRC(true))...))(t)
	w.Write([]byte(text))
	musttest.NoError(t, w.Close())
	return b.String()
}

// read reads all data.
func read(r io.Reader, window int64) (string, error) {
	in, err := NewReader(r, bufio.NewReader(nil), window)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(io.LimitReader(in, 1<<24))
	return string(b), err
}

const text = "the quick brown fox jumps over the lazy dog\n"

const skippable = "\x53\x2a\x4d\x18\x03\x00\x00\x00abc"

func TestReads(t *testing.T) {
	long := strings.Repeat(text, 1000)
	for name, data := range map[string]string{
		"plain": long, "gzip": zipped(long), "gzip members": zipped(long[:5000]) + zipped(long[5000:]),
		"zstd": packed(t, long), "zstd frames": packed(t, long[:5000]) + skippable + packed(t, long[5000:]),
		"zstd after a skipped frame": skippable + packed(t, long),
	} {
		if got, err := read(strings.NewReader(data), 0); err != nil || got != long {
			t.Errorf("%s: %d bytes, %v, expected %d", name, len(got), err, len(long))
		}
		if got, err := read(io.MultiReader(strings.NewReader(data[:3]), strings.NewReader(data[3:])), 0); err != nil ||
			got != long {
			t.Errorf("%s in two pieces: %d bytes, %v", name, len(got), err)
		}
	}
	for _, short := range []string{"", "\x1f", "\x28\xb5", "a"} {
		if got, err := read(strings.NewReader(short), 0); err != nil || got != short {
			t.Errorf("%q: %q, %v", short, got, err)
		}
	}
}

// Truncated or changed files give an error, unless the remaining part is complete.
func TestDamage(t *testing.T) {
	for name, data := range map[string]string{
		"gzip": zipped(text) + zipped(text), "zstd": packed(t, text) + packed(t, text) + skippable,
	} {
		for n := 4; n < len(data); n++ {
			got, err := read(strings.NewReader(data[:n]), 0)
			var fault *DataError
			switch {
			case err == nil && (got == text || got == text+text):
			case !errors.As(err, &fault) || !strings.Contains(fault.Found, "end early"):
				t.Errorf("%s: %d of %d bytes: %q, %v", name, n, len(data), got, err)
			}
		}
	}
	for _, q := range []struct{ data, found, expected string }{
		{packed(t, text) + "tail", "extra data after the zstd data", "the end of the file"},
		{packed(t, text) + "x", "the zstd data end early", "a complete zstd file"},
		{strings.Replace(packed(t, text), "quick", "quack", 1), "the zstd checksum does not match", "an undamaged zstd file"},
		{"\x28\xb5\x2f\xfd\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "zstd data", ""},
		{packed(t, text, zstd.WithEncoderDictRaw(7, []byte(text))), "zstd data that need a dictionary", "data without one"},
		{zipped(text) + "tail of something", "damaged gzip data, or extra data at the end", "an undamaged gzip file"},
		{zipped(text) + "tail", "the gzip data end early", "a complete gzip file"},
		{zipped(text) + "\x1f", "the gzip data end early", "a complete gzip file"},
		{"\x1f\x8b", "the gzip data end early", "a complete gzip file"},
		{"\x1f\x8babcdefghijklm", "damaged gzip data, or extra data at the end", "an undamaged gzip file"},
	} {
		_, err := read(strings.NewReader(q.data), 0)
		var fault *DataError
		if !errors.As(err, &fault) || !strings.HasPrefix(fault.Found, q.found) ||
			!strings.HasPrefix(fault.Expected, q.expected) || fault.Error() != fault.Found || errors.Unwrap(fault) == nil {
			t.Errorf("%#v, expected %q, %q", err, q.found, q.expected)
		}
	}
}

// A window above the limit gives an error before memory is allocated for it.
func TestWindow(t *testing.T) {
	long := strings.Repeat(text, 1<<16)
	data := packed(t, long, zstd.WithWindowSize(8<<20), zstd.WithSingleSegment(false))
	if _, err := read(strings.NewReader(data), 8<<20); err != nil {
		t.Errorf("as much as is needed: %v", err)
	}
	_, err := read(strings.NewReader(data), 1<<20)
	var fault *DataError
	if !errors.As(err, &fault) || !strings.Contains(fault.Found, "window too large") ||
		fault.Expected != "a window of at most 1024 KiB" {
		t.Errorf("a window of 1 MiB: %v", err)
	}
	for _, window := range []int64{1, MaxWindow + 1, math.MaxInt64} { // the closest windows that zstd allows
		if got, err := read(strings.NewReader(packed(t, text)), window); err != nil || got != text {
			t.Errorf("a window of %d: %q, %v", window, got, err)
		}
	}
}

type broken struct{ left int }

func (b *broken) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, errBroken
	}
	b.left = 0
	return copy(p, packedText), nil
}

var (
	errBroken  = errors.New("broken")
	packedText string
)

// An error of the underlying reader is returned unchanged.
func TestErrorBelow(t *testing.T) {
	for _, data := range []string{packed(t, strings.Repeat(text, 1000)), zipped(strings.Repeat(text, 1000))} {
		packedText = data[:len(data)-9]
		if _, err := read(&broken{1}, 0); err != errBroken {
			t.Errorf("%v, expected that of the reader", err)
		}
	}
}

func TestCutSuffix(t *testing.T) {
	for name, want := range map[string]string{
		"a.tsv.gz": "a.tsv", "a.svm.ZST": "a.svm", "a.gz.zst": "a.gz", "a": "a", ".gz": ".gz", "agz": "agz", "": "",
	} {
		if got := TrimSuffix(name); got != want {
			t.Errorf("%s: %s, expected %s", name, got, want)
		}
	}
}

// Any data give bytes or an error that describes the fault.
func FuzzNewReader(f *testing.F) {
	f.Add([]byte(packed(f, text)))
	f.Add([]byte(skippable + packed(f, text) + packed(f, text)))
	f.Add([]byte(zipped(text)))
	f.Add([]byte(text))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := read(bytes.NewReader(data), 1<<20)
		var fault *DataError
		if err != nil && (!errors.As(err, &fault) || fault.Found == "" || fault.Expected == "") {
			t.Fatalf("%#v", err)
		}
	})
}
