package corpus

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// idx returns an idx file of bytes with the given sizes.
func idx(data string, sizes ...uint32) string {
	b := []byte{0, 0, 8, byte(len(sizes))}
	for _, s := range sizes {
		b = binary.BigEndian.AppendUint32(b, s)
	}
	return string(b) + data
}

// idxPair writes images and, unless "", labels to one folder, and returns the image file.
func idxPair(t testing.TB, suffix, images, labels string) string {
	t.Helper()
	folder := t.TempDir()
	writeInto(t, filepath.Join(folder, "train-images-idx3-ubyte"+suffix), images)
	if labels != "" {
		writeInto(t, filepath.Join(folder, "train-labels-idx1-ubyte"+suffix), labels)
	}
	return filepath.Join(folder, "train-images-idx3-ubyte"+suffix)
}

// TestReadIDX reads three images of 2×3 pixels: as file and as folder, plain and gzipped, with both
// usual spellings of the names.
func TestReadIDX(t *testing.T) {
	images := idx("\x00\xff\x33\x00\x00\x01"+"\x00\x00\x00\x00\x00\x00"+"\xff\xff\xff\xff\xff\xff", 3, 2, 3)
	labels := idx("\x07\x00\x07", 3)
	const want = "7 1:1 2:0.2 5:0.003921569\n0\n7 0:1 1:1 2:1 3:1 4:1 5:1\n" // pixel v becomes v/255
	check := func(source string, opt Options, rows string) {
		t.Helper()
		c := readWhole(t, source, opt)
		if got := show(c); got != rows || c.Documents.Cols != 6 {
			t.Errorf("%s: %d columns,\n%s\nwant 6,\n%s", source, c.Documents.Cols, got, rows)
		}
	}
	for suffix, pack := range map[string]func(string) string{"": strings.Clone, ".gz": gzipped, ".zst": packed} {
		file := idxPair(t, suffix, pack(images), pack(labels))
		check(file, Options{}, want)
		check(file, Options{FormatOptions: FormatOptions{Format: FormatIDX}, Workers: 1}, want)
		check(file, Options{MinDF: 2}, "7 1:1 2:0.2 5:0.003921569\n0\n7 1:1 2:1 5:1\n")
	}
	folder := t.TempDir()
	writeInto(t, filepath.Join(folder, "train-images.idx3-ubyte"), images)
	writeInto(t, filepath.Join(folder, "train-labels.idx1-ubyte"), gzipped(labels))
	check(filepath.Join(folder, "train-images.idx3-ubyte"), Options{}, want)
	writeInto(t, filepath.Join(folder, "t10k-images.idx3-ubyte"), idx("\x00\xff\x00\x00\x00\x00", 1, 6, 1))
	writeInto(t, filepath.Join(folder, "t10k-labels.idx1-ubyte"), idx("\x09", 1))
	check(filepath.Join(folder, "t10k-images.idx3-ubyte"), Options{}, "9 1:1\n")

	// Without labels, or with a name that doesn't determine the label file, there are no classes,
	// but a warning.
	for _, name := range []string{"train-images-idx3-ubyte", "digits"} {
		file := writeFile(t, name, images)
		c := readWhole(t, file, Options{})
		if len(c.Classes) != 0 || len(c.Warnings) != 2 ||
			!strings.Contains(c.Warnings[1].Message, "without a label file") {
			t.Errorf("%s: classes %q, warnings %v", name, c.Classes, c.Warnings)
		}
		if show(c) != " 1:1 2:0.2 5:0.003921569\n\n 0:1 1:1 2:1 3:1 4:1 5:1\n" {
			t.Errorf("%s: %s", name, show(c))
		}
	}
}

// TestBadIDX damages images and labels.
func TestBadIDX(t *testing.T) {
	const header, labelHeader = "an idx file that begins with 00 00 08 03 and sizes of dimensions below 2³¹",
		"an idx file that begins with 00 00 08 01 and sizes of dimensions below 2³¹"
	images, labels := idx("\x01\x02\x03\x04", 2, 1, 2), idx("\x00\x01", 2)
	long := gzipped(idx(incompressible(), uint32(len(incompressible())), 1, 1))
	for _, test := range []struct {
		name, images, labels string
		opt                  Options
		in, found, want      string // file without its folder, and contents of the error
	}{
		{"type", "\x00\x00\x0d" + images[3:], labels, Options{FormatOptions: FormatOptions{Format: FormatIDX}}, "images",
			": the first bytes 00 00 0d 03 00 00 00 02 00 00 00 01 00 00 00 02", header},
		{"dimensions", images[:3] + "\x02" + images[4:], labels, Options{}, "images",
			": the first bytes 00 00 08 02 00 00 00 02 00 00 00 01 00 00 00 02", header},
		{"magic cut", "\x00\x00\x08", labels, Options{}, "images", ": the end of the file", header},
		{"header cut", images[:9], labels, Options{}, "images", ": the end of the file", header},
		{"cut", images[:len(images)-1], labels, Options{}, "images", ": the end of the file",
			"4 values, according to the header"},
		{"too much", images + "x", labels, Options{}, "images", ": data after the values",
			"the end of the file, according to the header"},
		{"no images", idx("", 0, 1, 2), labels, Options{}, "images", ": an array of shape [0 2]",
			"a matrix: rows and columns"},
		{"no pixels", idx("", 7, 2, 0), labels, Options{}, "images", ": an array of shape [7 0]",
			"a matrix: rows and columns"},
		{"many pixels", idx("", 7, 1<<31-1, 1<<31-1), labels, Options{}, "images",
			": an array of shape [7 4611686014132420609]", "a matrix: rows and columns"},
		{"too many pixels", idx("", 7, 1, 1<<31), labels, Options{}, "images",
			": the first bytes 00 00 08 03 00 00 00 07 00 00 00 01 80 00 00 00", header},
		{"header lies", idx("\x00", 1<<20, 1, 1<<31-1), labels, Options{}, "images", ": the end of the file",
			"2251799812636672 values, according to the header"},
		{"labels as images", labels + "123456789", labels, Options{}, "images",
			": the first bytes 00 00 08 01 00 00 00 02 00 01 31 32 33 34 35 36", header},
		{"gzip cut", long[:len(long)/2], labels, Options{}, "images", ": the gzip data end early",
			"a complete gzip file"},
		{"gzip damaged", flip(gzipped(images), -5), labels, Options{}, "images", ": the gzip checksum does not match",
			"an undamaged gzip file"},
		{"terms", images, labels, Options{Vocabulary: []string{"a"}}, "images", ": 2 pixels",
			"1, one for each term of the vocabulary"},
		{"images as labels", images, images, Options{}, "labels", ": the first bytes 00 00 08 03 00 00 00 02",
			labelHeader},
		{"another number", images, idx("\x00\x01\x02", 3), Options{}, "labels", ": 3 labels",
			"2, one for each image of FILE"},
		{"labels cut", images, labels[:len(labels)-1], Options{}, "labels", ": the end of the file",
			"2 values, according to the header"},
		{"labels too many", images, labels + "\x00", Options{}, "labels", ": data after the labels",
			"the end of the file, according to the header"},
		{"labels empty", images, "\x00", Options{}, "labels", ": the end of the file", labelHeader},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := idxPair(t, "", test.images, test.labels)
			in := file
			if test.in == "labels" {
				in = strings.Replace(file, "images-idx3", "labels-idx1", 1)
			}
			want := "corpus: " + in + test.found + ", expected " + strings.Replace(test.want, "FILE", file, 1)
			c, err := Read(context.Background(), file, test.opt)
			var syntax *SyntaxError
			if err == nil || err.Error() != want || c != nil || !errors.As(err, &syntax) {
				t.Fatalf("error %v\nwant %s", err, want)
			}
		})
	}
}

// TestIDXMemory checks the memory limit with 16 MiB of pixels compressed to some 16 KiB.
func TestIDXMemory(t *testing.T) {
	bright := idxPair(t, ".gz", gzipped(idx(strings.Repeat("\xff", 16<<20), 1<<14, 1<<5, 1<<5)), "")
	_, err := Read(context.Background(), bright, Options{MemoryBytes: 20 << 20})
	var memory *MemoryError
	if !errors.As(err, &memory) || memory.NeedBytes <= memory.LimitBytes {
		t.Errorf("error %v, want a MemoryError", err)
	}
}

func FuzzReadIDX(f *testing.F) {
	images, labels := idx("\x01\x00\x03\x04", 2, 1, 2), idx("\x00\x01", 2)
	for _, pair := range [][2]string{{images, labels}, {gzipped(images), gzipped(labels)}, {images, ""},
		{idx("\x00", 1, 1, 1), images}, {idx("", 1<<30, 1<<30, 1<<30), labels}} {
		f.Add([]byte(pair[0]), []byte(pair[1]))
	}
	folder := f.TempDir()
	f.Fuzz(func(t *testing.T, images, labels []byte) {
		// One name per process, because creating a folder per input would take most of the time.
		file := filepath.Join(folder, fmt.Sprintf("%d-images-idx3", os.Getpid()))
		labelFile := strings.TrimSuffix(file, "images-idx3") + "labels-idx1"
		for name, data := range map[string][]byte{file: images, labelFile: labels} {
			musttest.NoError(t, os.WriteFile(name, data, 0o600))
		}
		c, err := Read(context.Background(), file, Options{FormatOptions: FormatOptions{Format: FormatIDX}})
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || syntax.Found == "" || syntax.Expected == "" || c != nil {
				t.Fatalf("%v", err)
			}
			return
		}
		checkCorpus(t, c)
		if len(c.Classes) > 256 || c.Documents.Rows() == 0 {
			t.Fatalf("%d classes, %d documents", len(c.Classes), c.Documents.Rows())
		}
	})
}

// TestMNIST compares with known facts of MNIST: published sizes, and the pixels that aren't 0 in
// any digit.
func TestMNIST(t *testing.T) {
	musttest.SkipRace(t)
	folder := filepath.Join("..", "..", "shared", "data", "mnist")
	if _, err := os.Stat(folder); err != nil {
		t.Skip("no copy of MNIST here: ", err)
	}
	for file, want := range map[string]struct{ documents, ones, terms int }{
		"train-images-idx3-ubyte.gz": {60000, 6742, 717}, "t10k-images-idx3-ubyte.gz": {10000, 1135, 668},
	} {
		c := readWhole(t, filepath.Join(folder, file), Options{})
		terms, _ := c.Documents.TermFrequencies()
		if c.Documents.Rows() != want.documents || documentsOf(c)["1"] != want.ones || len(c.Classes) != 10 ||
			c.Documents.Cols != 784 ||
			len(terms) != want.terms {
			t.Errorf("%q: %d documents, %d of class 1, %d classes, %d columns, %d terms", file, c.Documents.Rows(),
				documentsOf(c)["1"], len(c.Classes), c.Documents.Cols, len(terms))
		}
		runtime.GC()
	}
}
