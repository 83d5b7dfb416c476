package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/report"
)

//go:embed findings.md
var findingsText string

//go:embed head.md
var pageHead string

// writeReport writes docs/reliability.md and the picture of errors.
func writeReport(root string) error {
	var page strings.Builder
	page.WriteString(pageHead)
	fmt.Fprintf(&page, "Machine: %d processors, %s, which other work shared.\n\n", runtime.NumCPU(), runtime.GOARCH)
	page.WriteString(tableHead("part", "what is tried", "tried", "found now", "time", "dates", "last commit"))
	of := map[string]*result{}
	for _, p := range parts {
		r := &result{}
		text, err := os.ReadFile(filepath.Join(root, results, p.name+".json"))
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(&page, "| %s | %s | not run | | | | |\n", p.name, p.about)
			continue
		}
		if err == nil {
			err = json.Unmarshal(text, r)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		of[p.name] = r
		var tried []string
		for _, what := range sortedKeys(r.Tried) {
			tried = append(tried, report.Count(r.Tried[what])+" "+what)
		}
		fmt.Fprintf(&page, "| [%s](#%s) | %s | %s | %d | %s | %s | %s |\n", p.name, p.name, p.about,
			strings.Join(tried, "; "), len(r.Findings), report.Counted(int64(math.Ceil(r.Seconds)), "s", "s"), r.dates(),
			r.Commit)
	}
	for _, p := range parts {
		if r := of[p.name]; r != nil {
			r.section(&page, p.name)
		}
	}
	page.WriteString("\n" + strings.TrimSpace(findingsText) + "\n")
	if r := of["accuracy"]; r != nil && r.Counts["all"] != nil {
		if err := drawErrors(filepath.Join(root, "docs", "reliability-errors.svg"), r.Counts["all"]); err != nil {
			return err
		}
	}
	return write(filepath.Join(root, "docs"), map[string][]byte{"reliability.md": []byte(page.String())})
}

// dates are those of the first run and of the last.
func (r *result) dates() string {
	if r.Since == r.Date {
		return r.Date
	}
	return r.Since + " to " + r.Date
}

func tableHead(columns ...string) string {
	return "| " + strings.Join(columns, " | ") + " |\n" + strings.Repeat("| --- ", len(columns)) + "|\n"
}

// section writes what a part has measured.
func (r *result) section(page *strings.Builder, name string) {
	fmt.Fprintf(page, "\n## %s\n\n", name)
	if text, others := behind(r.Notes); text != "" { // of dependencies, in one paragraph
		fmt.Fprintf(page, "Behind their newest versions: %s.\n\n", text)
		r.Notes = others
	}
	if name == "growth" {
		page.WriteString(tableHead("dimension", "sizes", "exponent of time", "of memory", "promised, at most"))
	} else if len(r.Notes)+len(r.Greatest) > 0 {
		page.WriteString(tableHead("", ""))
	}
	for _, what := range sortedKeys(r.Notes) {
		fmt.Fprintf(page, "| %s | %s |\n", what, r.Notes[what])
	}
	for _, what := range sortedKeys(r.Greatest) {
		of := "greatest " + what
		if name == "accuracy" {
			of = what + ": greatest error as a share of its bound"
		}
		fmt.Fprintf(page, "| %s | %.3g |\n", of, r.Greatest[what])
	}
	if name == "accuracy" {
		page.WriteString("\n![Errors as shares of their bounds](reliability-errors.svg)\n")
	}
	for _, text := range r.Findings {
		fmt.Fprintf(page, "\nFound: `%s`\n", strings.ReplaceAll(strings.ReplaceAll(text, "`", "'"), "\n", " "))
	}
}

// behind separates notes of modules that are behind their newest version from others.
func behind(notes map[string]string) (text string, others map[string]string) {
	others = map[string]string{}
	var list []string
	for _, what := range sortedKeys(notes) {
		if !strings.Contains(notes[what], "newest") {
			others[what] = notes[what]
			continue
		}
		list = append(list, what+" "+notes[what])
	}
	return strings.Join(list, "; "), others
}

// drawErrors draws how many errors are how far below their bounds.
func drawErrors(path string, counts []int64) error {
	var all float64
	for _, n := range counts {
		all += float64(n)
	}
	p := chart.New("Errors of kernel values, against float64", "error as a share of its bound, at most", "values, %")
	var names []string
	for i := range counts {
		names = append(names, fmt.Sprintf("1e%d", i-bins))
	}
	names[0] = "less"
	p.Bars(names, []string{""}, func(i, _ int) float64 { return 100 * float64(counts[i]) / all })
	return chart.Save(path, 18, 10, p)
}
