package corpus

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// Dense and sparse files in both orders, written by NumPy 2.4 and SciPy 1.17, are read as files and
// as streams.
func TestReadNumPy(t *testing.T) {
	const want = " 0:1 2:2.5\n\n 1:3\n 0:4 2:7\n"
	for _, file := range []string{"c.npy", "fortran.npy", "csr.npz", "plain.npz", "unsorted.npz"} {
		path := filepath.Join("testdata", "numpy", file)
		c := readWhole(t, path, Options{})
		if got := show(c); strings.ReplaceAll(got, " \n", "\n") != want {
			t.Errorf("%s: read\n%swant\n%s", file, got, want)
		}
		if len(c.Warnings) != 1 || c.Warnings[0].First != path+", row 1" {
			t.Errorf("%s: warnings %v", file, c.Warnings)
		}
		data := musttest.Get(os.ReadFile(path))(t)
		for name, content := range map[string]string{"stream": string(data), "gzip": gzipped(string(data))} {
			stream, err := ReadFrom(t.Context(), strings.NewReader(content), path, Options{MemoryBytes: 1 << 20})
			if err != nil || stream.Digest() != c.Digest() {
				t.Errorf("%s, %s: %v", file, name, err)
			}
		}
		if packed := readWhole(t, writeFile(t, file+".gz", gzipped(string(data))), Options{}); packed.Digest() != c.Digest() {
			t.Errorf("%s: another matrix from a gzipped file", file)
		}
		labels := writeFile(t, "labels", "a\nb\na\nb\n")
		if c := readWhole(t, path, Options{Labels: labels}); len(c.Classes) != 2 || c.Labels.Classes(3)[0] != 1 {
			t.Errorf("%s: classes %q", file, c.Classes)
		}
		musttest.WantError(Read(context.Background(), path, Options{MemoryBytes: 60}))(t, file+" in 60 bytes", "memory")
		for cut := range len(data) {
			musttest.WantError(ReadFrom(context.Background(), bytes.NewReader(data[:cut]), path, Options{}))(t,
				fmt.Sprintf("%s cut off at %d", file, cut))
		}
	}
	if got, want := show(readWhole(t, "testdata/numpy/big.npy", Options{})), " 0:2 2:5\n\n 1:6\n 0:8 2:14\n"; got != want {
		t.Errorf("big-endian integers: read\n%swant\n%s", got, want)
	}
	got := show(readWhole(t, "testdata/numpy/negative.npy", Options{Signed: true}))
	if !strings.HasPrefix(got, " 0:-1 2:-2.5\n") {
		t.Errorf("signed: read\n%s", got)
	}
	for file, want := range map[string]string{
		"negative.npy": "value -1 in row 0 and column 0, expected a nonnegative value " +
			"(Options.Signed accepts negative values)",
		"vector.npy": "an array of shape [3], expected a matrix: rows and columns",
		"text.npy":   "an array of texts, expected numbers",
		"nan.npy":    "value NaN in row 0 and column 1, expected a finite number",
		"csc.npz":    `, format.npy: a matrix in the format "csc", expected csr`,
		"twice.npz":  "a duplicate column in row 0, expected distinct columns",
		"other.npz":  "no array format, expected format, shape, indptr, indices and data",
	} {
		musttest.WantError(Read(context.Background(), filepath.Join("testdata", "numpy", file), Options{}))(t,
			file, file, want)
	}
}

func npy(descr, shape, values string) string {
	return fmt.Sprintf("\x93NUMPY\x01\x00\x76\x00%-117s\n%s",
		fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape), values)
}

// Values of all types and byte orders are read.
func TestNumPyTypes(t *testing.T) {
	for descr, c := range map[string]struct{ values, want string }{
		"|b1": {"\x00\x01", " 1:1\n"}, "|u1": {"\x00\xff", " 1:255\n"}, "|i1": {"\x01\xff", " 0:1 1:-1\n"},
		"<u2": {"\x00\xff\x01\x00", " 0:65280 1:1\n"}, ">u2": {"\x00\xff\x01\x00", " 0:255 1:256\n"},
		"<i2": {"\xfe\xff\x01\x00", " 0:-2 1:1\n"}, ">i4": {"\xff\xff\xff\xfe\x00\x00\x00\x03", " 0:-2 1:3\n"},
		"<u4": {"\x00\x00\x01\x00\x03\x00\x00\x00", " 0:65536 1:3\n"},
		">u8": {"\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00", " 0:2\n"},
		"<f4": {"\x00\x00\xc0\x3f\x00\x00\x80\xbf", " 0:1.5 1:-1\n"},
	} {
		if got := show(readWhole(t, writeFile(t, "a", npy(descr, "1, 2", c.values)), Options{Signed: true})); got != c.want {
			t.Errorf("%s: read %q, expected %q", descr, got, c.want)
		}
	}
}

func FuzzReadNumPy(f *testing.F) {
	var seeds []string
	files := musttest.Get(filepath.Glob("testdata/numpy/*"))(f)
	for _, file := range files {
		data := musttest.Get(os.ReadFile(file))(f)
		seeds = append(seeds, string(data))
	}
	fuzzReader(f, readNumPy, Options{}, seeds...)
}
