// Command languages trains a classifier of programming languages on the source files of a computer,
// and compares it with go-enry's classifier on files of other folders.
//
//	languages /usr/lib /usr/share
//
// Both classifiers see only the contents of files. File names determine the true language.
// go-enry's classifier was trained on other files, the samples of GitHub's Linguist. Of 961 test
// files in 10 languages on a Debian system, gram recognised 99.9%, and go-enry 79.1%.
package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/go-enry/go-enry/v2"

	"github.com/gramengine/gram"
)

// languageOf maps extensions to the names of languages in go-enry.
var languageOf = map[string]string{".go": "Go", ".py": "Python", ".c": "C", ".cc": "C++", ".cpp": "C++",
	".js": "JavaScript", ".ts": "TypeScript", ".sh": "Shell", ".pl": "Perl", ".pm": "Perl", ".rb": "Ruby",
	".java": "Java", ".rs": "Rust", ".lua": "Lua", ".php": "PHP", ".css": "CSS", ".html": "HTML", ".sql": "SQL"}

// files holds the beginnings of source files with their languages.
type files struct{ texts, languages []string }

const (
	maxBytes = 16 << 10 // maximum number of bytes read from a file
	parts    = 5        // one folder in 5 is for test files
)

// minFiles and maxFiles bound the number of files per language. They are variables for tests.
var minFiles, maxFiles = 20, 1000

// collect reads source files. Files in the same folder are either all training files or all test
// files.
func collect(folders []string) (training, test files, err error) {
	seen, number := map[string]bool{}, map[string]int{}
	for _, folder := range folders {
		err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			language := languageOf[filepath.Ext(path)]
			if err != nil || !entry.Type().IsRegular() || language == "" || number[language] == maxFiles {
				return nil // unreadable folders are ignored
			}
			data, err := os.ReadFile(path)
			text := string(data[:min(len(data), maxBytes)])
			if err != nil || text == "" || seen[text] {
				return nil
			}
			seen[text] = true
			number[language]++
			into, hash := &training, fnv.New32()
			if hash.Write([]byte(filepath.Dir(path))); hash.Sum32()%parts == 0 {
				into = &test
			}
			into.texts, into.languages = append(into.texts, text), append(into.languages, language)
			return nil
		})
		if err != nil {
			return files{}, files{}, err
		}
	}
	common := func(f files) (out files) {
		for i, language := range f.languages {
			if number[language] >= minFiles {
				out.texts, out.languages = append(out.texts, f.texts[i]), append(out.languages, language)
			}
		}
		return out
	}
	return common(training), common(test), nil
}

// result is the measurement of a classifier on test files.
type result struct {
	name      string
	accuracy  float64
	time      time.Duration // mean time per file
	allocated uint64        // mean number of bytes per file
}

func measure(name string, test files, predict func(texts []string) ([]string, error)) (r result, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin, right := time.Now(), 0
	predicted, err := predict(test.texts)
	if err != nil {
		return r, err
	}
	elapsed, n := time.Since(begin), len(test.texts)
	runtime.ReadMemStats(&after)
	for i, language := range predicted {
		if language == test.languages[i] {
			right++
		}
	}
	return result{name, float64(right) / float64(n), elapsed / time.Duration(n),
		(after.TotalAlloc - before.TotalAlloc) / uint64(n)}, nil
}

// compare trains on the folders and returns the results of gram and go-enry.
func compare(ctx context.Context, folders []string, w io.Writer) ([]result, error) {
	training, test, err := collect(folders)
	if err != nil {
		return nil, err
	}
	names := slices.Compact(slices.Sorted(slices.Values(training.languages)))
	fmt.Fprintf(w, "%d languages, %d training files, %d test files\n", len(names), len(training.texts), len(test.texts))
	if len(names) < 2 || len(test.texts) == 0 {
		return nil, fmt.Errorf("too few source files in %v", folders)
	}
	begin := time.Now()
	c, err := gram.FromTexts(ctx, training.texts, training.languages, gram.ReadOptions{})
	if err != nil {
		return nil, err
	}
	model, err := gram.Train(ctx, c, gram.TrainOptions{})
	if err != nil {
		return nil, err
	}
	defer model.Close()
	fmt.Fprintf(w, "trained in %.1f s\n", time.Since(begin).Seconds())
	own, err := measure("gram", test, func(texts []string) (out []string, err error) {
		p, err := model.PredictTexts(ctx, texts)
		for i := range texts {
			if err == nil {
				out = append(out, p.Label(i))
			}
		}
		return out, err
	})
	if err != nil {
		return nil, err
	}
	other, err := measure("go-enry", test, func(texts []string) (out []string, err error) {
		for _, text := range texts {
			language, _ := enry.GetLanguageByClassifier([]byte(text), names)
			out = append(out, language)
		}
		return out, nil
	})
	return []result{own, other}, err
}

func main() {
	results, err := compare(context.Background(), os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "languages:", err)
		os.Exit(1)
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\taccuracy\tms per file\tKB allocated per file\t")
	for _, r := range results {
		fmt.Fprintf(t, "%s\t%.1f%%\t%.2f\t%d\t\n", r.name, 100*r.accuracy, r.time.Seconds()*1000, r.allocated/1000)
	}
	_ = t.Flush()
}
