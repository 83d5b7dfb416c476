package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/musttest"
)

// Models that earlier programs wrote can be loaded, and predict what those programs predicted:
// first-* are of the first program that wrote models, second-* of the one before models kept what
// cuts text, tokenizer-* of the first that did. A file NAME.want is what the program that wrote
// NAME.model printed on the instruction set generic.
//
// Up to 16 coefficients of at most 10 stand before kernel values of at most 1, whose errors are
// below 2⁻²³: decision values differ by less than 160·2⁻²³.
func TestModelsOfEarlierPrograms(t *testing.T) {
	const tolerance = 160 * 0x1p-23
	sources := map[string]string{ // of what is predicted, by the end of the model's name
		"text": "new.tsv", "rest": "new.tsv", "tfidf": "new.tsv", "ngrams": "new.tsv", "chars": "new.tsv",
		"labels": "several.tsv",
		// These programs took index i for column i, which is index i+1 now.
		"nu": "shifted.svm", "one": "shifted.svm", "svr": "shifted.svm", "vectors": "shifted.svm",
	}
	models, err := filepath.Glob(filepath.Join("testdata", "models", "*.model"))
	if err != nil || len(models) != 20 {
		t.Fatalf("%d models, error %v, expected 20", len(models), err)
	}
	for _, path := range models {
		name := strings.TrimSuffix(filepath.Base(path), ".model")
		_, kind, _ := strings.Cut(name, "-")
		source, ok := sources[kind]
		if !ok {
			source = "other.svm"
		}
		want := strings.Fields(readFile(t, strings.TrimSuffix(path, "model")+"want"))
		args := []string{"predict", "-q", "-isa", "generic", "-in", filepath.Join("testdata", "models", source),
			"-model", path}
		if want[0] == "machines" {
			args = append(args, "-output", "decisions")
		}
		var stdout, stderr bytes.Buffer
		if status := run(args, &stdout, &stderr); status != cli.Done || stderr.Len() > 0 {
			t.Errorf("%s: exit status %d: %s", name, status, stderr.String())
			continue
		}
		got := strings.Fields(stdout.String())
		if len(got) != len(want) {
			t.Errorf("%s: %d fields, expected %d", name, len(got), len(want))
			continue
		}
		for i := range want {
			a, errA := strconv.ParseFloat(got[i], 64)
			b, errB := strconv.ParseFloat(want[i], 64)
			if number := errA == nil && errB == nil; number && !(math.Abs(a-b) <= tolerance) || !number && got[i] != want[i] {
				t.Errorf("%s: field %d is %s, expected %s", name, i+1, got[i], want[i])
			}
		}
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data := musttest.Get(os.ReadFile(path))(t)
	return string(data)
}
