package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// result is what a part has tried and found, in all of its runs.
type result struct {
	Since    string // date of the first run
	Date     string // of the last run
	Commit   string // of the last run
	Seed     uint64
	Next     int64 // the first case that wasn't run
	Seconds  float64
	Tried    map[string]int64   // how many of what; sums over runs
	Greatest map[string]float64 // of what, over runs
	Notes    map[string]string  // rows of a table, or what couldn't be tried
	Counts   map[string][]int64 // histograms
	Findings []string
}

// openResult reads the results of earlier runs, which only fit to the same seed.
func openResult(root, file string, o options) (*result, error) {
	r := &result{Seed: o.seed}
	text, err := os.ReadFile(file)
	if err == nil && !o.fresh && o.one < 0 {
		if err := json.Unmarshal(text, r); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if r.Seed != o.seed {
			return nil, fmt.Errorf("%s has seed %d, expected %d: -fresh begins anew", file, r.Seed, o.seed)
		}
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	r.Date = time.Now().UTC().Format("2006-01-02")
	r.Since = cmp.Or(r.Since, r.Date)
	r.Commit = commit(root)
	return r, nil
}

// commit names the commit of a folder, with what was changed since but for results; nothing of a copy.
func commit(root string) string {
	git := func(args ...string) (string, error) {
		c := exec.Command("git", args...)
		c.Dir = root
		out, err := c.Output()
		return strings.TrimSpace(string(out)), err
	}
	name, err := git("rev-parse", "--short=12", "HEAD")
	if err != nil {
		return ""
	}
	if changed, err := git("status", "--porcelain", "--", ".", ":!"+results); err != nil || changed != "" {
		name += "-dirty"
	}
	return name
}

func (r *result) save(file string) error {
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", text, 0o666); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// count adds to how many of something were tried.
func (r *result) count(what string, n int64) {
	if r.Tried == nil {
		r.Tried = map[string]int64{}
	}
	r.Tried[what] += n
}

// raise keeps the greatest value of something.
func (r *result) raise(what string, v float64) {
	if r.Greatest == nil {
		r.Greatest = map[string]float64{}
	}
	if old, known := r.Greatest[what]; !known || !(v <= old) {
		r.Greatest[what] = v
	}
}

// note writes a row of a table.
func (r *result) note(what, text string) {
	if r.Notes == nil {
		r.Notes = map[string]string{}
	}
	r.Notes[what] = text
}

// find records what the program did wrong, in the present case.
func (r *result) find(format string, args ...any) {
	text := fmt.Sprintf("case %d: ", r.Next) + fmt.Sprintf(format, args...)
	fmt.Fprintln(os.Stderr, "FOUND", text)
	r.Findings = append(r.Findings, text)
}

// line is all that was tried, in one line.
func (r *result) line() string {
	var out []string
	for _, what := range sortedKeys(r.Tried) {
		out = append(out, fmt.Sprintf("%d %s", r.Tried[what], what))
	}
	for _, what := range sortedKeys(r.Greatest) {
		out = append(out, fmt.Sprintf("%s %.4g", what, r.Greatest[what]))
	}
	return strings.Join(append(out, fmt.Sprintf("%d findings, %.0f s", len(r.Findings), r.Seconds)), "; ")
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
