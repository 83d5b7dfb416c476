package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// Lines, tables and evaluations name the most probable class.
func TestTablesNameTheMostProbable(t *testing.T) {
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	const source = "synthetic:docs=600,terms=400,length=12,classes=4,seed="
	var out, said bytes.Buffer
	for _, args := range [][]string{
		{"train", "-b", "1", "-kernel", "diffusion", "-c", "10", "-scheme", "one-vs-one", source + "8", in("m")},
		{"predict", source + "9", in("m"), in("lines")},
		{"predict", "-b", "1", source + "9", in("m"), in("probable.tsv")},
		{"predict", "-to", "tsv", source + "9", in("m"), in("table.tsv")},
		{"evaluate", "-o", in("evaluated.tsv"), source + "9", in("m")},
		{"evaluate", "-json", source + "9", in("m")},
	} {
		out.Reset()
		if status := run(args, &out, &said); status != 0 {
			t.Fatalf("%s: status %d: %s", args, status, said.String())
		}
	}
	probable := column(t, in("probable.tsv"), "labels")
	if lines := strings.Fields(string(musttest.Get(os.ReadFile(in("lines")))(t))); !slices.Equal(lines, probable) {
		t.Errorf("lines have other classes than -b 1")
	}
	right := 0
	for i, truth := range column(t, in("table.tsv"), "truth") {
		if truth == probable[i] {
			right++
		}
	}
	var got struct{ Accuracy float64 }
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || !(math.Abs(got.Accuracy*600-float64(right)) <= 1e-6) {
		t.Errorf("evaluate says an accuracy of %v, %v, expected %d of 600", got.Accuracy, err, right)
	}
	for _, name := range []string{"table.tsv", "evaluated.tsv"} {
		if !slices.Equal(column(t, in(name), "prediction"), probable) {
			t.Errorf("%s has other classes than -b 1", name)
		}
	}
}

// column reads the column of a file with TABs that has a name.
func column(t *testing.T, path, name string) (values []string) {
	r := csv.NewReader(bytes.NewReader(musttest.Get(os.ReadFile(path))(t)))
	r.Comma = '\t'
	all := musttest.Get(r.ReadAll())(t)
	at := slices.Index(all[0], name)
	if at < 0 {
		t.Fatalf("%s has the columns %q, expected %s", path, all[0], name)
	}
	for _, row := range all[1:] {
		values = append(values, row[at])
	}
	return values
}
