//go:build linux

package main

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/report"
)

// repeat writes n copies of a text.
func repeat(w io.Writer, text string, n int) error {
	many := max(1, 1<<16/len(text))
	block := []byte(strings.Repeat(text, many))
	for ; n > 0; n -= many {
		if _, err := w.Write(block[:min(n, many)*len(text)]); err != nil {
			return err
		}
	}
	return nil
}

// npyHead returns the header of a NumPy array.
func npyHead(descr, shape string) string {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape)
	return fmt.Sprintf("\x93NUMPY\x01\x00\x76\x00%-118s", header)
}

func init() { ownPrograms["measured"] = measured }

// measured runs the command and prints its peak resident memory in KiB. The system adds the memory
// of the parent process to the peak, so a small process must start the command.
func measured() {
	c := exec.Command("gram", os.Args[1:]...)
	c.Stderr = os.Stderr
	if err := c.Run(); c.ProcessState == nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(125)
	}
	fmt.Println(c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
	os.Exit(c.ProcessState.ExitCode())
}

// peakOf runs the command in folder. It returns the peak resident memory, the state and the output.
func peakOf(t *testing.T, folder string, args ...string) (int64, *os.ProcessState, string) {
	t.Helper()
	c := exec.Command("measured", args...)
	var said, out bytes.Buffer
	c.Dir, c.Stdout, c.Stderr = folder, &out, &said
	err := c.Run()
	peak, no := strconv.ParseInt(strings.TrimSpace(out.String()), 10, 64)
	if c.ProcessState == nil || no != nil {
		t.Fatalf("%v, %v: %.300s", err, no, said.String())
	}
	return peak << 10, c.ProcessState, said.String()
}

// A file of several hundred KiB may declare sizes that need any amount of memory. The program reads
// or refuses it within -m, as measured by the system. On a busy computer Go's collector may run
// late, so up to two of five runs may exceed the limit by less than a quarter.
func TestHostileFilesStayWithinMemory(t *testing.T) {
	if musttest.RaceEnabled {
		t.Skip("the race detector has its own memory")
	}
	const limit = 100 << 20
	// parts writes texts, each followed by its number of copies in list.
	parts := func(list ...any) func(w io.Writer) error {
		return func(w io.Writer) error {
			for i := 0; i < len(list); i += 2 {
				if err := repeat(w, list[i].(string), list[i+1].(int)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	plain := func(text string) func(w io.Writer) error { return parts(text, 1) }
	packed := func(write func(w io.Writer) error) func(w io.Writer) error {
		return func(w io.Writer) error {
			z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
			if err != nil {
				return err
			}
			if err := write(z); err != nil {
				return err
			}
			return z.Close()
		}
	}
	npz := func(rows, cols, nnz int, offsets string) func(w io.Writer) error {
		return func(w io.Writer) error {
			z := zip.NewWriter(w)
			for _, m := range []struct {
				name  string
				write func(w io.Writer) error
			}{
				{"format", parts(npyHead("|S3", "")+"csr", 1)},
				{"shape", parts(npyHead("<i8", "2,")+string(binary.LittleEndian.AppendUint64(
					binary.LittleEndian.AppendUint64(nil, uint64(rows)), uint64(cols))), 1)},
				{"indptr", parts(npyHead("|u1", fmt.Sprintf("%d,", rows+1)), 1, offsets, rows+1)},
				{"indices", parts(npyHead("|u1", fmt.Sprintf("%d,", nnz)), 1, "\x00", nnz)},
				{"data", parts(npyHead("|u1", fmt.Sprintf("%d,", nnz)), 1, "\x01", nnz)},
			} {
				f, err := z.Create(m.name + ".npy")
				if err != nil {
					return err
				}
				if err := m.write(f); err != nil {
					return err
				}
			}
			return z.Close()
		}
	}
	members := func(n int) func(w io.Writer) error {
		return func(w io.Writer) error {
			z := zip.NewWriter(w)
			for range n {
				if _, err := z.CreateRaw(&zip.FileHeader{Name: "a"}); err != nil {
					return err
				}
			}
			return z.Close()
		}
	}
	zipped := func(list ...any) func(w io.Writer) error { return packed(parts(list...)) }
	const images = "\x00\x00\x08\x03\x01\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01"
	columnsFirst := strings.Replace(npyHead("|u1", "1000, 10000"), "False", " True", 1)
	long := strings.Repeat("abcdefgh", 1<<17) // 1 MiB
	for name, test := range map[string]struct {
		file  string
		write func(w io.Writer) error
		args  string
	}{
		"offsets":                    {"a.npz", npz(10_000_000, 2, 0, "\x00"), ""},
		"indices":                    {"a.npz", npz(1, 2, 10_000_000, "\x00"), ""},
		"rows in NumPy":              {"a.npy.gz", zipped(npyHead("|u1", "10000000, 1"), 1, "\x00", 10_000_000), ""},
		"values in NumPy":            {"a.npy.gz", zipped(npyHead("|u1", "1000, 10000"), 1, "\x01", 10_000_000), ""},
		"columns first":              {"a.npy.gz", zipped(columnsFirst, 1, "\x01", 10_000_000), ""},
		"members of npz":             {"a.npz", members(600_000), ""},
		"npz in gzip":                {"a.npz.gz", zipped("PK\x03\x04", 20_000_000), ""},
		"images":                     {"images.gz", zipped(images, 1, "\x00", 10_000_000), ""},
		"pixels":                     {"images.gz", zipped(images, 1, "\x01", 10_000_000), ""},
		"short lines":                {"a.tsv.gz", zipped("x\t\n", 2_000_000), ""},
		"short texts":                {"a.tsv.gz", zipped("x\ta\n", 2_000_000), "-min-df 1"},
		"lines":                      {"a.txt.gz", zipped("a\n", 2_000_000), "-format lines"},
		"blank lines":                {"a.tsv.gz", zipped("\n", 20_000_000, "x\ta\n", 2), ""},
		"vectors":                    {"a.svm.gz", zipped("1\n", 2_000_000), ""},
		"values":                     {"a.svm.gz", zipped("1 1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1\n", 1_000_000), ""},
		"groups":                     {"a.svm.gz", zipped("1 qid:1\n", 2_000_000), ""},
		"records":                    {"a.csv.gz", zipped("x,\n", 2_000_000), ""},
		"objects":                    {"a.jsonl.gz", zipped("{\"text\":\"\"}\n", 1_000_000), ""},
		"a label":                    {"a.tsv.gz", zipped(long, 8, "\ta b\n", 1), ""},
		"a label among others":       {"a.tsv.gz", zipped(times(30, "%s\ta\n"), 9, long, 8, "\ta b\n", 1), ""},
		"a label, svmlight":          {"a.svm.gz", zipped(long, 8, " 1:1\n", 1), ""},
		"a label in JSON":            {"a.jsonl.gz", zipped(`{"text":"","label":"`, 1, long, 8, "\"}\n", 1), ""},
		"a label, CSV":               {"a.csv.gz", zipped("text,label\na,", 1, long, 8, "\n", 1), ""},
		"a quoted label":             {"a.csv.gz", zipped("text,label\na,\"", 1, long, 8, "\"\n", 1), ""},
		"a number":                   {"a.svm.gz", zipped("1", 8<<20, " 1:1\n", 1), ""},
		"a word":                     {"a.tsv.gz", zipped("x\t", 1, long, 8, "\nx\ta\n", 1), "-min-df 1"},
		"a text in JSON":             {"a.jsonl.gz", zipped(`{"text":"`, 1, long, 8, "\"}\n", 1), "-min-df 1"},
		"long lines":                 {"a.tsv.gz", zipped("x\t"+long[:1<<20-3]+"\n", 200), "-min-df 1"},
		"longer lines":               {"a.tsv.gz", zipped("x\t"+strings.Repeat(long, 8)+"\n", 9), "-min-df 1"},
		"a line":                     {"a.tsv.gz", zipped("x\t", 1, "a b ", 10_000_000), ""},
		"labels":                     {"a.tsv.gz", zipped("x\ta\n", 2_000_000), "-labels a.tsv.gz"},
		"folder":                     {"folder/x/1.gz", zipped("a b\n", 20_000_000), ""},
		"folder, a line":             {"folder/x/1.gz", zipped(long, 50), ""},
		"different labels":           {"a.tsv", plain(times(600_000, "%d\ta\n")), ""},
		"different labels, svmlight": {"a.svm", plain(times(600_000, "%d\n")), ""},
		"fields":                     {"a.csv.gz", zipped("a,b\n", 1, ",", 8<<20, "\n", 1), ""},
		"short fields":               {"a.csv.gz", zipped("a,b\n", 1, strings.Repeat(",", 400_000)+"\n", 20), ""},
		"keys":                       {"a.jsonl", plain(`{"text":""` + times(500_000, `,"%d":1`) + "}\n"), ""},
		"array":                      {"a.jsonl", plain(`{"text":"","label":[0` + times(1_000_000, `,1%d`) + "]}\n"), ""},
		"many labels":                {"a.svm", plain(strings.Repeat("x"+times(50_000, ",%d")+" 1:1\n", 20)), ""},
		"labels of one":              {"a.tsv", plain("x" + times(1_000_000, ",%d") + "\ta\n"), ""},
		"terms":                      {"a.tsv", plain("x\t" + times(1_000_000, "%s ") + "\n"), "-min-df 1"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			file := filepath.Join(folder, test.file)
			musttest.NoError(t, os.MkdirAll(filepath.Dir(file), 0o777))
			f := musttest.Get(os.Create(file))(t)
			musttest.NoError(t, test.write(f))
			musttest.NoError(t, f.Close())
			source, _, _ := strings.Cut(test.file, "/")
			args := append([]string{"corpus", "-in", source, "-m", fmt.Sprint(limit >> 20), "-workers", "2"},
				strings.Fields(test.args)...)
			for runs, above := 0, 0; runs == 0 || above > 0 && runs < 5 && !t.Failed(); runs++ {
				peak, state, said := peakOf(t, folder, args...)
				if !state.Success() && !strings.Contains(said, "memory") && !strings.Contains(said, "expected") {
					t.Errorf("%v: %.300s, expected what needs memory", state, said)
				}
				if peak > limit {
					above++
				}
				if above > 2 || peak > limit+limit/4 {
					t.Errorf("peak %s, expected at most %s", report.FormatBytes(peak), report.FormatBytes(limit))
				}
				t.Logf("%v peak %s: %.300s", state, report.FormatBytes(peak), said)
			}
		})
	}
}
