package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestScore(t *testing.T) {
	r := &row{}
	r.score([]string{"a", "b,c", "-", "a"}, [][]string{{"a"}, {"b"}, nil, {"d"}}, 2)
	// right: a, b; of: a, b, d; given: a, b, c, a
	for name, q := range map[string][2]float64{
		"accuracy": {r.accuracy, 0.5 * 2 / 4}, "micro F1": {r.microF1, 0.5 * 4 / 7},
		"macro F1": {r.macroF1, 0.5 * (2.0/3 + 1) / 4},
	} {
		if !(math.Abs(q[0]-q[1]) <= 1e-15) {
			t.Errorf("%s %v, expected %v", name, q[0], q[1])
		}
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-threads", "0"}, {"-images", "1"}, {"x"}, {"-no-such"}} {
		var out, errs bytes.Buffer
		if status := run(args, &out, &errs); status != 2 || errs.Len() == 0 {
			t.Errorf("%v: exit status %d, expected 2 and a message: %q", args, status, &errs)
		}
	}
	var out, errs bytes.Buffer
	if status := run([]string{"-grambench", "no-such"}, &out, &errs); status != 1 ||
		!strings.Contains(errs.String(), "make build") {
		t.Errorf("exit status %d, expected 1 and what makes the command: %q", status, &errs)
	}
}

// All programs that are there are measured on a small corpus in the place of one that they know.
func TestSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the command")
	}
	grambench := filepath.Join(t.TempDir(), "grambench")
	if out, err := exec.Command("go", "build", "-o", grambench, "../..").CombinedOutput(); err != nil {
		t.Skipf("%v: %s", err, out)
	}
	data := t.TempDir()
	for name, n := range map[string]int{"train": 150, "test": 40} {
		var text bytes.Buffer
		w := gzip.NewWriter(&text)
		for i := range n {
			fmt.Fprintf(w, "topic%d\t", i%3)
			for k := range 8 {
				fmt.Fprintf(w, "%c%c ", 'a'+(i*k+i/3)%11, 'm'+i%3*(k%2))
			}
			fmt.Fprintln(w)
		}
		w.Close()
		folder := filepath.Join(data, "20news-bydate")
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name+".tsv.gz"), text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	if status := run([]string{"-grambench", grambench, "-data", data}, &out, &errs); status != 0 {
		t.Fatalf("exit status %d: %s", status, &errs)
	}
	for _, want := range []string{"150 training and 40 test documents", "grambench train ", "grambench grid "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	if strings.Count(errs.String(), "left out: ") < 4 { // the other corpora
		t.Errorf("%s", &errs)
	}
}
