package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/internal/musttest"
)

// npy returns the bytes of an array in NumPy's form.
func npy(descr, shape string, values any) []byte {
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	var b bytes.Buffer
	b.WriteString("\x93NUMPY\x01\x00")
	_ = binary.Write(&b, binary.LittleEndian, uint16(len(head)))
	b.WriteString(head)
	_ = binary.Write(&b, binary.LittleEndian, values)
	return b.Bytes()
}

// inputForms returns the files of a square matrix in every form of input that holds it, by name.
func inputForms(t *testing.T, x [][]float64, labels []string) map[string][]byte {
	t.Helper()
	n := len(x)
	var dense, data []float64
	var indptr, indices []int64
	var svm [2]strings.Builder
	indptr = append(indptr, 0)
	for i, row := range x {
		for base := range svm {
			svm[base].WriteString(labels[i])
		}
		for j, v := range row {
			dense = append(dense, v)
			if v == 0 {
				continue
			}
			for base := range svm {
				fmt.Fprintf(&svm[base], " %d:%v", j+base, v)
			}
			data, indices = append(data, v), append(indices, int64(j))
		}
		indptr = append(indptr, int64(len(data)))
		for base := range svm {
			svm[base].WriteByte('\n')
		}
	}
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for name, array := range map[string][]byte{
		"format": npy("|S3", "()", []byte("csr")), "shape": npy("<i8", "(2,)", []int64{int64(n), int64(n)}),
		"indptr":  npy("<i8", fmt.Sprintf("(%d,)", n+1), indptr),
		"indices": npy("<i8", fmt.Sprintf("(%d,)", len(data)), indices),
		"data":    npy("<f8", fmt.Sprintf("(%d,)", len(data)), data),
	} {
		w := musttest.Get(z.Create(name + ".npy"))(t)
		musttest.Get(w.Write(array))(t)
	}
	musttest.Do(t, z.Close())
	forms := map[string][]byte{
		"0.svm": []byte(svm[0].String()), "1.svm": []byte(svm[1].String()),
		"a.npy": npy("<f8", fmt.Sprintf("(%d, %d)", n, n), dense), "a.npz": archive.Bytes(),
	}
	return forms
}

// The same vectors have the same answers in all forms, or the command names the flag that is missing.
func TestInputPairs(t *testing.T) {
	const n = 9
	matrices := map[string]func(i, j int) float64{
		"symmetric": func(i, j int) float64 { return float64((i*i + 3*i*j + j*j + 1) % 5) },
		"skew":      func(i, j int) float64 { return float64(i-j) * float64((i+j)%4) },
		"pattern":   func(i, j int) float64 { return float64((i*j + i + j + 2) % 3 % 2) },
	}
	for name, at := range matrices {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			x, labels := make([][]float64, n), make([]string, n)
			rows := gram.NewRows(n)
			for i := range x {
				labels[i] = []string{"a", "b"}[i%2]
				var columns []uint32
				var values []float64
				for j := range n {
					v := at(max(i, j), min(i, j))
					if name == "skew" && i < j {
						v = -v
					}
					if x[i] = append(x[i], v); v != 0 {
						columns, values = append(columns, uint32(j)), append(values, v)
					}
				}
				musttest.Do(t, rows.Add(columns, values, labels[i]))
			}
			fromRows, forms := rows.Corpus(), inputForms(t, x, labels)
			var files []string
			for form, content := range forms {
				musttest.Do(t, os.WriteFile(filepath.Join(dir, form), content, 0o600))
				files = append(files, form)
			}
			slices.Sort(files)
			musttest.Do(t, os.WriteFile(filepath.Join(dir, "labels"), []byte(strings.Join(labels, "\n")+"\n"), 0o600))
			path := func(form string) string { return filepath.Join(dir, form) }
			// command returns what a command prints and writes to the file out, or its error.
			command := func(args ...string) (string, string) {
				out := path("out")
				var stdout, stderr bytes.Buffer
				_ = os.Remove(out)
				for i, arg := range args {
					if arg == "OUT" {
						args[i] = out
					}
				}
				if status := run(args, &stdout, &stderr); status != 0 {
					return "", stderr.String()
				}
				written, _ := os.ReadFile(out)
				return stdout.String() + string(written), ""
			}
			based := func(form string) []string {
				if form == "0.svm" {
					return []string{"-zero-based", "true", "-signed"}
				}
				return []string{"-zero-based", "false", "-signed"}
			}
			model, want := path("model"), ""
			for _, a := range files {
				c := musttest.Get(gram.Read(t.Context(), path(a), gram.ReadOptions{
					Signed: true, Labels: path("labels"), ZeroBased: based(a)[1],
				}))(t)
				if c.Digest() != fromRows.Digest() && !strings.Contains(a, "array") { // which stores zeros
					t.Errorf("%s: documents %v, expected those of rows, %v", a, c.Documents, fromRows.Documents)
				}
				args := append([]string{"-q", "-in", path(a), "-labels", path("labels")}, based(a)[:2]...)
				if want == "" {
					train := []string{"train", "-kernel", "rbf:gamma=0.1,embed=tf", "-c", "10", "-signed", "-o", model}
					train = append(train, args...)
					if _, bad := command(train...); bad != "" {
						t.Fatalf("train %s: %s", a, bad)
					}
				}
				got, bad := command(append([]string{"predict", "-output", "decisions", "-model", model}, args...)...)
				if want = cmp.Or(want, got); got != want || bad != "" {
					t.Errorf("predict %s:\n%q, expected\n%q: %s", a, got, want, bad)
				}
			}
			// One flag is for both files, so index 0 in one of two is refused.
			for _, pair := range [][2]string{{"0.svm", "1.svm"}, {"1.svm", "0.svm"}} {
				_, bad := command("neighbours", "-q", "-in", path(pair[0]), "-of", path(pair[1]), "-o", "OUT", "-k", "3", "-kernel",
					"rbf:gamma=0.1,embed=tf", "-signed")
				if !strings.Contains(bad, "index 0, expected indices from 1 (-zero-based true counts them from 0)") {
					t.Errorf("%v: error %q, expected one that names -zero-based", pair, bad)
				}
			}
			// A model that was trained from index 0 reads files like its training; one from 1 refuses index 0.
			for _, a := range []string{"0.svm", "1.svm"} {
				if _, bad := command(append([]string{"train", "-q", "-in", path(a), "-kernel", "linear", "-embed", "tf", "-o",
					path("model")}, based(a)...)...); bad != "" {
					t.Fatal(bad)
				}
				_, bad := command("predict", "-q", "-in", path("0.svm"), "-model", path("model"))
				if (bad == "") != (a == "0.svm") {
					t.Errorf("0.svm by a model of %s: %q", a, bad)
				}
			}
		})
	}
}
