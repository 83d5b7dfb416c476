package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/musttest"
)

// Gathered predictions have the same bytes as the predictions of gram. This holds for every kind of
// model and output, negative values, documents without labels or with several, and any division
// into tasks.
func TestPredict(t *testing.T) {
	bench, dir := gram(t), t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	var train, test, vectors, several strings.Builder
	words := strings.Fields("ant bee cat dog eel fox gnu hen ibis jay koi lynx")
	for i := range 90 {
		fmt.Fprintf(&train, "class %c\t%s %s %s %s\n", 'a'+i%3, words[i%3*4+i/3%4], words[i%3*4+i/7%4], words[i%12],
			words[i*5%12])
		fmt.Fprintf(&test, "class %c\t%s %s unknown %s\n", 'a'+i%3, words[i%3*4+i/5%4], words[i*7%12], words[(i+3)%12])
		x := float64(i)
		fmt.Fprintf(&vectors, "c%d 1:%.2f 2:%.2f 3:%.2f\n", i%3, math.Sin(x), math.Cos(x*x)+float64(i%3),
			math.Sin(x*x*x)-float64(i%3))
		fmt.Fprintf(&several, "%s\t%s %s\n", []string{"a", "b", "a,b", "-"}[i%4],
			[]string{"ant bee", "dog eel", "ant dog", "gnu hen"}[i%4], words[i%6])
	}
	for name, text := range map[string]string{
		"train.tsv": train.String(), "new.tsv": test.String() + "class a\t\n", "x.svm": vectors.String(),
		"several.tsv": several.String() + "-\t\n",
	} {
		musttest.NoError(t, os.WriteFile(path(name), []byte(text), 0o666))
	}
	for i, c := range []struct{ in, new, train, outputs string }{
		{"train.tsv", "new.tsv", "-probabilities 1", "labels probabilities decisions"},
		{"train.tsv", "new.tsv", "-scheme one-vs-rest", "labels decisions"},
		{"train.tsv", "new.tsv", "-type one_class", "labels decisions"},
		{"train.tsv", "new.tsv", "-type linear", "labels decisions"},
		{"train.tsv", "new.tsv", "-type logistic", "labels probabilities"},
		{"train.tsv", "new.tsv", "-type knn:k=3", "labels probabilities"},
		{"train.tsv", "new.tsv", "-type landmark:m=20", "labels decisions"},
		{"x.svm", "x.svm", "-signed -kernel rbf:gamma=0.5", "decisions"},
		{"several.tsv", "several.tsv", "-scheme labels -kernel linear", "labels"},
		{"several.tsv", "several.tsv", "-type knn:k=3", "decisions"},
	} {
		model := path(fmt.Sprint("model", i))
		bench(strings.Fields("train -q -in " + path(c.in) + " -o " + model + " " + c.train)...)
		for _, output := range strings.Fields(c.outputs) {
			store := path(fmt.Sprint("store", i, output))
			want, got := store+".want", store+".got"
			args := strings.Fields("-in " + path(c.new) + " -model " + model + " -output " + output)
			if output != "labels" && c.in == "train.tsv" {
				args = append(args, "-names")
			}
			bench(append([]string{"predict", "-q", "-o", want}, args...)...)
			tasks := must(t, "", append([]string{"plan", "predict", "-q", "-store", store, "-documents", "40"}, args...)...)
			if n := strings.Count(tasks, "\n"); n != 3 {
				t.Errorf("%s: %d tasks for 90 or 91 documents, expected 3", c.new, n)
			}
			must(t, tasks, "work", "-store", store, "-cache", path("cache"))
			must(t, "", "gather", "-store", store, "-o", got)
			same(t, want, got)
		}
	}
	bench("matrix", "-q", "-signed", "-kernel", "rbf", "-in", path("x.svm"), "-o", path("K.npy"),
		"-o-labels", path("K.tsv"))
	bench("train", "-q", "-t", "4", "-in", path("K.npy"), "-labels", path("K.tsv"), "-o", path("matrix.model"))
	t.Chdir(dir)
	for args, want := range map[string]string{
		"plan predict -in x.svm -model model0":                             "has vectors, but model0 was trained on text",
		"plan predict -in new.tsv -model model7":                           "was trained on vectors",
		"plan predict -in new.tsv":                                         "-model FILE is required",
		"plan predict -model model7":                                       "-in SOURCE is required",
		"plan predict -in new.tsv -model new.tsv":                          "new.tsv",
		"plan predict -in x.svm -model model7 -output probabilities":       "has no probabilities",
		"plan predict -in several.tsv -model model9 -output probabilities": "has no probabilities",
		"plan predict -in x.svm -model model7 -output nonsense":            "-output must be labels, probabilities",
		"plan predict -in x.svm -model model7 -documents 0":                "-documents must be positive, got 0",
		"plan predict -in x.svm -model matrix.model":                       "on a precomputed kernel",
		"gather -to tsv -o other":                                          "-to does not apply to predictions",
	} {
		status, _, stderr := cluster(t, "", append(strings.Fields(args), "-store", "store0labels")...)
		if status != cli.ExitFailure || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %s, expected %s", args, status, stderr, want)
		}
	}
}
