// Package reprotest contains test helpers for experiments. It writes small corpora in the formats
// of the real corpora, runs experiments and reads their tables.
package reprotest

import (
	"compress/gzip"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/lab/internal/repro"
)

// drawText draws a document. Some words are specific to its classes, and others are shared, so that
// error rates are between 0 and chance level.
func drawText(r *rand.Rand, classes []string) string {
	var words []string
	for range 15 + r.IntN(30) {
		word := encodeLetters(int(150 / (1 + 20*r.Float64())))
		if own := classes[r.IntN(len(classes))]; r.IntN(5) == 0 {
			word = own + encodeLetters(int(20*r.Float64()*r.Float64()))
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// encodeLetters encodes a number in letters, because terms contain no digits.
func encodeLetters(n int) string {
	s := ""
	for ; n > 0; n /= 26 {
		s += string(rune('a' + n%26))
	}
	return "w" + s
}

// WriteGzip compresses content and writes it to a file of corpus s in the folder data.
func WriteGzip(t testing.TB, data string, s repro.Source, file string, content []byte) {
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
	if err := errors.Join(err, z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// WriteText is like [WriteGzip] for lines of the form label<TAB>text.
func WriteText(t testing.TB, data string, s repro.Source, file string, lines []string) {
	t.Helper()
	WriteGzip(t, data, s, file, []byte(strings.Join(lines, "\n")+"\n"))
}

// WriteTopicCorpora writes small corpora in the formats of WebKB and Reuters-21578, and returns the
// data folder.
func WriteTopicCorpora(t testing.TB) string {
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

// WriteGroupCorpora writes a small corpus in the format of WebKB, with all universities, and a
// small corpus in the format of 20 Newsgroups, split by date. It returns the data folder.
func WriteGroupCorpora(t testing.TB) string {
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
		for i := range 120 { // in the second file, classes first occur in a different order
			group := []string{"sci.space", "rec.autos", "talk.politics"}[(i+k)%3]
			posts = append(posts, group+"\t"+drawText(r, []string{strings.ReplaceAll(group, ".", "")}))
		}
		WriteText(t, data, repro.Newsgroups, file, posts)
	}
	return data
}

// RunExperiment runs an experiment. Each setting has the form NAME=VALUE.
func RunExperiment(t testing.TB, e repro.Experiment, r *repro.Env, settings ...string) (*repro.Report, error) {
	t.Helper()
	to := e.New()
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		if err := params.Set(to, name, value); err != nil {
			return nil, err
		}
	}
	return to.Run(t.Context(), r)
}

// CheckSameReport checks that an experiment has the same tables and notes with one and two workers.
// It returns the report.
func CheckSameReport(t testing.TB, e repro.Experiment, data string, settings ...string) *repro.Report {
	t.Helper()
	var reports []*repro.Report
	var texts []string
	for workers := 1; workers <= 2; workers++ {
		report, err := RunExperiment(t, e, &repro.Env{DataDir: data, Seed: 1, Workers: workers}, settings...)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(report.Notes, "\n")
		for _, table := range report.Tables {
			text += fmt.Sprintln(table.Key, table.Rows)
		}
		reports, texts = append(reports, report), append(texts, text)
	}
	if texts[0] != texts[1] {
		t.Errorf("reports differ: with two workers:\n%s\nwith one worker:\n%s", texts[1], texts[0])
	}
	return reports[0]
}

// CheckErrors checks that an experiment with the settings want[key] fails with an error that
// contains key.
func CheckErrors(t testing.TB, e repro.Experiment, data string, want map[string][]string) {
	t.Helper()
	for text, settings := range want {
		r := &repro.Env{DataDir: data, Seed: 1}
		if text == "of memory" {
			r.MemoryBytes = 1 << 17
		}
		if _, err := RunExperiment(t, e, r, settings...); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s %q: got error %v, want an error that contains %q", e.Name, settings, err, text)
		}
	}
}

// TableRows returns the rows of a table as maps by column title.
func TableRows(t testing.TB, report *repro.Report, key string) (rows []map[string]string) {
	t.Helper()
	for _, table := range report.Tables {
		for _, row := range table.Rows {
			if cells := map[string]string{}; table.Key == key {
				for i, title := range table.Columns {
					cells[strings.TrimPrefix(title, ">")] = row[i]
				}
				rows = append(rows, cells)
			}
		}
	}
	if rows == nil {
		t.Fatalf("no table %s", key)
	}
	return rows
}

// ParseNumber parses the number in a cell. If the cell has a mean and a standard deviation, it
// returns the mean.
func ParseNumber(t testing.TB, cell string) float64 {
	t.Helper()
	text, _, _ := strings.Cut(cell, " ")
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// ReadResult returns the rows of a published table, in lab/results, as maps by column title.
func ReadResult(t testing.TB, experiment, key string) (rows []map[string]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "results", experiment+"-"+key+".tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if titles == nil {
			titles = cells
			continue
		}
		row := map[string]string{}
		for i, title := range titles {
			row[title] = cells[i]
		}
		rows = append(rows, row)
	}
	return rows
}
