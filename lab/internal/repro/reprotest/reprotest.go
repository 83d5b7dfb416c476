// Package reprotest has what tests of experiments share: small corpora in the form of the real
// ones, and ways to run an experiment, to interrupt it and to look at its tables.
package reprotest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gramengine/gram/internal/cli/clitest"
	"github.com/gramengine/gram/lab/internal/repro"
)

// drawText draws a text of a class: a part of its words is from a list of the class and the rest
// from one that all share, so that classes can be told apart, but not always.
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

// Write writes a file of a corpus, gzipped.
func Write(t testing.TB, data string, s repro.Source, file string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(data, s.Name), 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(data, s.Name, file))
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	_, err = z.Write(content)
	for _, closing := range []func() error{z.Close, f.Close} {
		if e := closing(); err == nil {
			err = e
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// WriteText writes a corpus of label<TAB>text lines, gzipped.
func WriteText(t testing.TB, data string, s repro.Source, file string, lines []string) {
	t.Helper()
	Write(t, data, s, file, []byte(strings.Join(lines, "\n")+"\n"))
}

// Topics writes small corpora in the form of WebKB and of Reuters-21578 and returns their folder.
func Topics(t testing.TB) string {
	data := t.TempDir()
	r := rand.New(rand.NewPCG(1, 2))
	var pages []string
	for i := range 360 {
		class := []string{"student", "student", "faculty", "faculty", "course", "project"}[i%6]
		pages = append(pages, fmt.Sprintf("%s|cornell\t%s", class, drawText(r, []string{class})))
	}
	WriteText(t, data, repro.WebKB, "all.tsv.gz", pages)
	all := []string{
		"earn", "earn", "earn", "acq", "acq", "money-fx", "grain", "crude", "trade", "-", "tin", "ship", "interest",
	}
	for _, file := range repro.Reuters.Files {
		var stories []string
		for i := range 260 {
			topics := []string{all[i%13]}
			if topics[0] == "grain" && i%2 == 0 {
				topics = append(topics, "wheat")
			}
			if topics[0] == "grain" && i%3 == 0 {
				topics = append(topics, "corn")
			}
			stories = append(stories, strings.Join(topics, ",")+"\t"+drawText(r, topics))
		}
		WriteText(t, data, repro.Reuters, file, stories)
	}
	return data
}

// Groups writes small corpora in the form of WebKB, with all universities, and of 20 Newsgroups, by
// date, and returns their folder.
func Groups(t testing.TB) string {
	data := t.TempDir()
	r := rand.New(rand.NewPCG(3, 4))
	universities := []string{"misc", "misc", "cornell", "texas", "washington", "wisconsin"}
	var pages []string
	for i := range 240 {
		class := []string{"student", "faculty", "course", "project"}[i%4]
		pages = append(pages, fmt.Sprintf("%s|%s\t%s", class, universities[i/4%6], drawText(r, []string{class})))
	}
	WriteText(t, data, repro.WebKB, repro.WebKB.Files[0], pages)
	for k, file := range repro.Newsgroups.Files {
		var posts []string
		for i := range 120 { // classes come in another order in the second file
			group := []string{"sci.space", "rec.autos", "talk.politics"}[(i+k)%3]
			posts = append(posts, group+"\t"+drawText(r, []string{strings.ReplaceAll(group, ".", "")}))
		}
		WriteText(t, data, repro.Newsgroups, file, posts)
	}
	return data
}

// Do runs an experiment with flags.
func Do(ctx context.Context, t testing.TB, e repro.Experiment, r *repro.Run, args ...string) (*repro.Report, error) {
	t.Helper()
	f := flag.NewFlagSet(e.Name, flag.ContinueOnError)
	work := e.Setup(f)
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	return work(ctx, r)
}

// Interrupt runs an experiment with two workers, interrupts it when so much of a stage is done, and checks that it
// stops within a second of both. It returns what was complete.
func Interrupt(
	t testing.TB, e repro.Experiment, data string, args []string, stage string, after int64,
) *repro.Report {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var stopped time.Duration
	r := &repro.Run{Data: data, Seed: 1, Workers: 2, Tell: func(at string, done, _ int64) {
		if at == stage && done >= after && stopped == 0 {
			stopped = clitest.Worked(t)
			cancel()
		}
	}}
	report, err := Do(ctx, t, e, r, args...)
	if took := clitest.Worked(t) - stopped; took > 2*time.Second {
		t.Errorf("it took %v of processors to stop", took)
	}
	if !errors.Is(err, context.Canceled) || report == nil {
		t.Fatalf("interrupted at %s: %v, report %v", stage, err, report)
	}
	return report
}

// Rows returns the rows of a table as objects.
func Rows(t testing.TB, report *repro.Report, key string) (out []map[string]any) {
	t.Helper()
	for _, row := range rows(t, report, key) {
		var v map[string]any
		if err := json.Unmarshal(row, &v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	if out == nil {
		t.Fatalf("no table %s", key)
	}
	return out
}

// Tables returns all rows and notes of a report as text.
func Tables(t testing.TB, report *repro.Report) string {
	t.Helper()
	return fmt.Sprintf("%s\n%s", bytes.Join(rows(t, report, ""), []byte("\n")), strings.Join(report.Notes, "\n"))
}

// rows returns the rows of a table, or of all, in JSON.
func rows(t testing.TB, report *repro.Report, key string) (out [][]byte) {
	t.Helper()
	for _, table := range report.Tables {
		if key != "" && table.Key != key {
			continue
		}
		rows, err := table.Objects()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			out = append(out, row)
		}
	}
	return out
}
