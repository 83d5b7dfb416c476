package corpus

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/gramengine/gram/internal/musttest"
)

// gzipMembers compresses a text with gzip in two members with all optional header fields.
func gzipMembers(t *testing.T, content string) string {
	t.Helper()
	var b bytes.Buffer
	for _, part := range []string{content[:len(content)/3], content[len(content)/3:]} {
		w, err := gzip.NewWriterLevel(&b, gzip.NoCompression) // in which a flipped bit may turn a space into NUL
		musttest.NoError(t, err)
		w.Name, w.Comment, w.Extra = "name", "comment", []byte("extra")
		musttest.Get(w.Write([]byte(part)))(t)
		musttest.NoError(t, w.Close())
	}
	return b.String()
}

// zstdFrames compresses a text with zstd in two frames with a skippable frame between them.
func zstdFrames(t *testing.T, content string) string {
	t.Helper()
	w := musttest.Get(zstd.NewWriter(nil))(t)
	third := len(content) / 3
	return string(w.EncodeAll([]byte(content[:third]), nil)) + "\x51\x2a\x4d\x18\x03\x00\x00\x00abc" +
		string(w.EncodeAll([]byte(content[third:]), nil))
}

// If any byte of a file with a checksum is damaged, reading fails or gives the same corpus and
// warnings: the byte may be ignored, such as a time or a name in a header.
func TestDamagedBytes(t *testing.T) {
	musttest.SkipRace(t)
	musttest.SkipIfEmulated(t)
	numpy := func(name string) string {
		data := musttest.Get(os.ReadFile(filepath.Join("testdata", "numpy", name)))(t)
		return string(data)
	}
	const svm, tsv = "1 1:2 3:4\n-1 2:0.5 7:1\n1 3:1\n", "x\ta b c\ny\ta c d\nx\tb d\n"
	const csv = "label,text\nx,\"a b\"\ny,c d\n"
	images, labels := idx("\x01\x00\x03\x04\x00\x00\x07\x08\x09\x00\x00\x02", 3, 2, 2), idx("\x02\x07\x02", 3)
	plain := map[string]map[string]string{ // the first file is read, or for "folders" its folder
		"csr.npz": {"a.npz": numpy("csr.npz")}, "plain.npz": {"a.npz": numpy("plain.npz")},
	}
	for way, pack := range map[string]func(*testing.T, string) string{"gz": gzipMembers, "zst": zstdFrames} {
		for file, content := range map[string]string{
			"a.svm": svm, "a.tsv": tsv, "a.csv": csv, "a.jsonl": `{"label": "x", "text": "a b c"}` + "\n",
			"a.txt": "a b c\nd e f\n",
			"a.npy": numpy("c.npy"), "fortran.npy": numpy("fortran.npy"), "a.npz": numpy("csr.npz"), "images": images,
			"folder/x/1": "a b  c d  a b  c d", "utf16.tsv": "\xff\xfex\x00\t\x00a\x00 \x00b\x00\n\x00",
		} {
			plain[file+"."+way] = map[string]string{file + "." + way: pack(t, content)}
		}
		plain["labels."+way] = map[string]string{"labels-idx1." + way: pack(t, labels), "images-idx3." + way: images}
	}
	for name, files := range plain {
		t.Run(name, func(t *testing.T) {
			folder, flipped, source := t.TempDir(), "", ""
			for file, content := range files {
				path := filepath.Join(folder, filepath.FromSlash(file))
				writeInto(t, path, content)
				if flipped == "" || !strings.HasPrefix(file, "images-idx3") {
					flipped, source = path, path
				}
			}
			switch {
			case len(files) > 1:
				source = strings.Replace(flipped, "labels-idx1", "images-idx3", 1)
			case strings.HasPrefix(name, "folder"):
				source = filepath.Join(folder, "folder")
				writeInto(t, filepath.Join(source, "y", "2"), "a c d")
			}
			read := func() (string, error) {
				c, err := Read(context.Background(), source, Options{Workers: 1, MinDF: 1})
				if err != nil {
					return "", err
				}
				return show(c) + fmt.Sprint(c.Names) + showWarnings(c, folder), nil
			}
			want := musttest.Get(read())(t)
			data := musttest.Get(os.ReadFile(flipped))(t)
			found := 0
			for at := range data {
				data[at] ^= 1 << (at % 8)
				writeInto(t, flipped, string(data))
				if got, err := read(); err != nil {
					found++
				} else if got != want {
					t.Errorf("byte %d of %d, bit %d: read\n%swant an error or\n%s", at, len(data), at%8, got, want)
				}
				data[at] ^= 1 << (at % 8)
			}
			if found == 0 {
				t.Error("no error at all")
			}
		})
	}
}
