package matrixio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// 1/3 has no short decimal form, and 1e-40 is subnormal. Both must be read unchanged.
var example = [][]float32{{1, 1.0 / 3, 1e-40}, {1.0 / 3, 1, -2.5}, {1e-40, -2.5, 16777216}}

func write(t *testing.T, format string, h Header, rows [][]float32) string {
	t.Helper()
	var b bytes.Buffer
	w := musttest.Get(NewWriter(format, &b, h))(t)
	for _, r := range rows {
		musttest.NoError(t, w.WriteRow(r))
	}
	return b.String()
}

func TestNPY(t *testing.T) {
	for n := range 12 {
		rows := make([][]float32, n)
		for i := range rows {
			rows[i] = make([]float32, n)
			for j := range rows[i] {
				rows[i][j] = float32(i*n+j) / 3
			}
		}
		got := write(t, "npy", Header{Rows: n}, rows)
		if !strings.HasPrefix(got, "\x93NUMPY\x01\x00") {
			t.Fatalf("n=%d: magic is %q", n, got[:8])
		}
		begin := 10 + int(binary.LittleEndian.Uint16([]byte(got[8:10])))
		if begin%64 != 0 || got[begin-1] != '\n' {
			t.Errorf("n=%d: the header ends at %d with %q, expected a multiple of 64 and a line end", n, begin,
				got[begin-1])
		}
		if len(got) != begin+4*n*n {
			t.Fatalf("n=%d: %d bytes, expected %d", n, len(got), begin+4*n*n)
		}
		for i := range rows {
			for j, want := range rows[i] {
				v := math.Float32frombits(binary.LittleEndian.Uint32([]byte(got[begin+4*(i*n+j):])))
				if v != want {
					t.Errorf("n=%d: value %d, %d is %v, expected %v", n, i, j, v, want)
				}
			}
		}
	}
}

func TestLIBSVM(t *testing.T) {
	want := "7 0:1 1:1 2:0.33333334 3:1e-40\n-1.5 0:2 1:0.33333334 2:1 3:-2.5\n7 0:3 1:1e-40 2:-2.5 3:1.6777216e+07\n"
	if got := write(t, "libsvm", Header{Rows: 3, Labels: []string{"7", "-1.5", "7"}}, example); got != want {
		t.Errorf("got\n%sexpected\n%s", got, want)
	}
	if got := write(t, "libsvm", Header{Rows: 1}, [][]float32{{2}}); got != "0 0:1 1:2\n" {
		t.Errorf("without labels: %q", got)
	}
}

func TestMatrixMarket(t *testing.T) {
	want := "%%MatrixMarket matrix array real symmetric\n% a comment\n3 3\n" +
		"1\n0.33333334\n1e-40\n1\n-2.5\n1.6777216e+07\n"
	if got := write(t, "mm", Header{Rows: 3, Comment: "a\ncomment"}, example); got != want {
		t.Errorf("got\n%sexpected\n%s", got, want)
	}
}

func TestUnknownFormat(t *testing.T) {
	musttest.WantError(NewWriter("csv", &bytes.Buffer{}, Header{}))(t, "an unknown format", "npy, libsvm, mm")
}

// brokenDisk fails once, after left bytes.
type brokenDisk struct{ left int }

func (d *brokenDisk) Write(p []byte) (int, error) {
	n := min(d.left, len(p))
	if d.left -= n; n < len(p) {
		d.left = 1 << 20
		return n, errors.New("disk full")
	}
	return n, nil
}

// A failed write of a row is an error.
func TestWriterAfterFailure(t *testing.T) {
	for _, format := range Formats() {
		whole := len(write(t, format, Header{Rows: 3}, example))
		for room := range whole {
			w, err := NewWriter(format, &brokenDisk{room}, Header{Rows: 3})
			failed := err != nil
			for _, row := range example {
				if err == nil && w.WriteRow(row) != nil {
					failed = true
				}
			}
			if !failed {
				t.Errorf("%s: room for %d of %d bytes, and no row fails", format, room, whole)
			}
		}
	}
}

func TestFileRefused(t *testing.T) {
	folder := t.TempDir()
	link := filepath.Join(folder, "link")
	if err := os.Symlink("elsewhere", link); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]string{folder: "is a folder", link: "is a link",
		filepath.Join(folder, "no", "k"): "no such"} {
		musttest.WantError(Create(path))(t, fmt.Sprintf("Create(%s)", path), want)
	}
}

// A stream is written directly. After its end, Write fails.
func TestStream(t *testing.T) {
	if !IsStream("-") || !IsStream("/dev/stdout") || !IsStream(os.DevNull) || IsStream(t.TempDir()) || IsStream("no") {
		t.Error("streams are taken for files, or files for streams")
	}
	n, err := WriteFile(os.DevNull, func(w io.Writer) error { _, err := w.Write(make([]byte, 3<<20)); return err })
	if n != 3<<20 || err != nil {
		t.Errorf("%d bytes, error %v", n, err)
	}
	f := musttest.Get(Create(os.DevNull))(t)
	f.Abort()
	f.Abort()
	musttest.WantError(f.Write([]byte("a")))(t, "after the end", fs.ErrClosed)
}

func TestFormatOf(t *testing.T) {
	for path, want := range map[string]string{"a/K.npy": "npy", "K.MTX": "mm", "k.svm": "libsvm", "k.libsvm": "libsvm",
		"k.txt": "", "npy": ""} {
		if got := FormatOf(path); got != want {
			t.Errorf("FormatOf(%q) = %q, expected %q", path, got, want)
		}
	}
}
