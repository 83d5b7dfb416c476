package repro

import (
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A class of a stand-in for a corpus draws a part of its words from a list of its own and the rest from one that all share, so that classes can be told apart, but not
// always.
func drawText(r *rand.Rand, classes []string) string {
	var words []string
	for range 15 + r.IntN(30) {
		word := letters(int(150 / (1 + 20*r.Float64())))
		if own := classes[r.IntN(len(classes))]; r.IntN(5) == 0 {
			word = own + letters(int(20*r.Float64()*r.Float64()))
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// letters writes a number in letters, since digits are no part of a term.
func letters(n int) string {
	s := ""
	for ; n > 0; n /= 26 {
		s += string(rune('a' + n%26))
	}
	return "w" + s
}

// writeText writes a corpus of label<TAB>text lines, gzipped.
func writeText(t testing.TB, data string, s Source, file string, lines []string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(data, s.Name), 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(data, s.Name, file))
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	_, err = z.Write([]byte(strings.Join(lines, "\n") + "\n"))
	for _, closing := range []func() error{z.Close, f.Close} {
		if e := closing(); err == nil {
			err = e
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// standIns writes small corpora in the form of WebKB and of Reuters-21578.
func standIns(t testing.TB) string {
	data := t.TempDir()
	r := rand.New(rand.NewPCG(1, 2))
	var pages []string
	for i := range 360 {
		class := []string{"student", "student", "faculty", "faculty", "course", "project"}[i%6]
		pages = append(pages, fmt.Sprintf("%s|cornell\t%s", class, drawText(r, []string{class})))
	}
	writeText(t, data, WebKB, "all.tsv.gz", pages)
	for _, file := range Reuters.Files {
		var stories []string
		for i := range 260 {
			topics := []string{[]string{"earn", "earn", "earn", "acq", "acq", "money-fx", "grain", "crude", "trade", "-", "tin", "ship", "interest"}[i%13]}
			if topics[0] == "grain" && i%2 == 0 {
				topics = append(topics, "wheat")
			}
			if topics[0] == "grain" && i%3 == 0 {
				topics = append(topics, "corn")
			}
			stories = append(stories, strings.Join(topics, ",")+"\t"+drawText(r, topics))
		}
		writeText(t, data, Reuters, file, stories)
	}
	return data
}

// setup parses flags for an experiment.
func setup(t testing.TB, e Experiment, args ...string) func(ctx context.Context, r *Run) (*Report, error) {
	t.Helper()
	f := flag.NewFlagSet(e.Name, flag.ContinueOnError)
	work := e.Setup(f)
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	return work
}
