package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// thrifty lists commands that may fail because of the memory limit. %s is a folder.
var thrifty = []string{
	"matrix -o %s/K.npy",
	"matrix -o %s/K.npy -test synthetic:docs=300,terms=500,length=20",
	"neighbours -o %s/n.tsv -k 100",
	"duplicates -o %s/d.tsv",
	"spectrum -k 2",
	"spectrum -k 2 -steps 50",
	"pca -o %s/p.npy",
	"pca -o %s/p.npy -landmarks 300",
	"train -o %s/a.model -kernel linear",
	"train -o %s/a.model -kernel linear -c 1 -b 1",
	"train -o %s/a.model -kernel linear -c 1 -reject coverage=90%",
	"train -o %s/a.model -kernel linear -scheme labels -thresholds 1",
	"train -o %s/a.model -choose-time 0.1",
	"train -o %s/a.model -kernel diffusion -embed tfkl-l1-sqrt -b 1",
	"cv -kernel linear -folds 3",
	"cv -kernel linear -folds 3 -b 1",
	"grid -kernel linear -grid c=1,10 -folds 3",
	"train -o %s/a.model -type linear",
	"train -o %s/a.model -type logistic",
	"train -o %s/a.model -type landmark:m=200",
	"train -o %s/a.model -type knn",
	"cv -type knn -folds 3",
}

// needs matches the required memory in error messages.
var needs = regexp.MustCompile(`needs (?:more than )?([0-9.]+) ([KMG])iB of memory, but -m allows`)

// The memory stated in an error suffices, for any limit and for errors at any stage.
func TestNamedMemorySuffices(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every command many times")
	}
	const source = "synthetic:docs=700,terms=500,length=20,classes=4"
	dir := t.TempDir()
	text := filepath.Join(dir, "text.tsv")
	writeWords(t, text, 5_000)
	for _, line := range thrifty {
		words := strings.Fields(strings.ReplaceAll(line, "%s", dir))
		in := source
		switch {
		case strings.Contains(line, "-choose-time"):
			in = text
		case strings.Contains(line, "duplicates"), strings.HasSuffix(line, "linear") && strings.Contains(line, "-type"),
			strings.HasSuffix(line, "logistic"), strings.HasSuffix(line, "knn"): // these learners need little memory
			in = "synthetic:docs=12000,terms=5000,length=60,classes=4"
		case strings.Contains(line, "-steps"): // Lanczos is for larger corpora
			in = "synthetic:docs=1100,terms=500,length=20"
		}
		words = append(words, "-in", in, "-workers", "2", "-q")
		t.Run(strings.ReplaceAll(line, "%s/", ""), func(t *testing.T) {
			run := func(bound string) (code int, said string) {
				var b strings.Builder
				code = run(append(words[:len(words):len(words)], "-m", bound), io.Discard, &b)
				return code, b.String()
			}
			enough, refused := map[string]bool{}, 0
			for step := range 20 {
				bound := fmt.Sprintf("%.2fM", 33+float64(step*step)/4)
				code, said := run(bound)
				if code == 0 {
					break
				}
				m := needs.FindStringSubmatch(said[strings.LastIndex(said, ": ")+1:])
				if m == nil {
					m = needs.FindStringSubmatch(said)
				}
				if m == nil {
					t.Fatalf("-m %s: %s", bound, said)
				}
				refused++
				named := m[1] + m[2]
				if enough[named] {
					continue
				}
				if code, again := run(named); code != 0 {
					t.Fatalf("-m %s: %s-m %s: %s", bound, said, named, again)
				}
				enough[named] = true
			}
			if refused == 0 {
				t.Error("no bound was refused")
			}
		})
	}
}

// writeWords writes texts of two classes.
func writeWords(t *testing.T, file string, texts int) {
	t.Helper()
	r, b := rand.New(rand.NewPCG(1, 2)), strings.Builder{}
	for i := range texts {
		fmt.Fprintf(&b, "class%d\t", i%2)
		for range 15 {
			fmt.Fprintf(&b, "word%c%c ", 'a'+r.IntN(13+6*(i%2)), 'a'+r.IntN(20))
		}
		b.WriteString("\n")
	}
	musttest.NoError(t, os.WriteFile(file, []byte(b.String()), 0o600))
}
