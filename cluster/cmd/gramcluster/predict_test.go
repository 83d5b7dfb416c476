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

// Gathered predictions are the same bytes as from gram, for every kind of model and output, and any
// number of documents per task.
func TestPredict(t *testing.T) {
	bench, dir := gram(t), t.TempDir()
	var train, test strings.Builder
	words := strings.Fields("ant bee cat dog eel fox gnu hen ibis jay koi lynx")
	for i := range 90 {
		fmt.Fprintf(&train, "class %c\t%s %s %s %s\n", 'a'+i%3, words[i%3*4+i/3%4], words[i%3*4+i/7%4], words[i%12],
			words[i*5%12])
		fmt.Fprintf(&test, "class %c\t%s %s unknown %s\n", 'a'+i%3, words[i%3*4+i/5%4], words[i*7%12], words[(i+3)%12])
	}
	test.WriteString("class a\t\n")
	in, news := filepath.Join(dir, "train.tsv"), filepath.Join(dir, "new.tsv")
	for path, text := range map[string]string{in: train.String(), news: test.String()} {
		musttest.Do(t, os.WriteFile(path, []byte(text), 0o666))
	}
	for i, c := range []struct{ train, outputs string }{
		{"-probabilities 1", "labels probabilities decisions"}, {"-scheme one-vs-rest", "labels decisions"},
		{"-type one_class", "labels decisions"},
		{"-type linear", "labels decisions"}, {"-type logistic", "labels probabilities"},
		{"-type knn:k=3", "labels probabilities"},
		{"-type landmark:m=20", "labels decisions"},
	} {
		model := filepath.Join(dir, fmt.Sprint("model", i))
		bench(append([]string{"train", "-q", "-in", in, "-o", model}, strings.Fields(c.train)...)...)
		for _, output := range strings.Fields(c.outputs) {
			store := filepath.Join(dir, fmt.Sprint("store", i, output))
			want, got := store+".want", store+".got"
			args := []string{"-in", news, "-model", model, "-output", output}
			if output != "labels" {
				args = append(args, "-names")
			}
			bench(append([]string{"predict", "-q", "-o", want}, args...)...)
			tasks := must(t, "", append([]string{"plan", "predict", "-q", "-store", store, "-documents", "40"}, args...)...)
			if n := strings.Count(tasks, "\n"); n != 3 {
				t.Errorf("%d tasks for 91 documents, expected 3", n)
			}
			must(t, tasks, "work", "-store", store, "-cache", filepath.Join(dir, "cache"))
			must(t, "", "gather", "-store", store, "-o", got)
			same(t, want, got)
		}
	}
	vectors, other := filepath.Join(dir, "x.svm"), filepath.Join(dir, "other.model")
	musttest.Do(t, os.WriteFile(vectors, []byte("a 1:1\nb 2:1\na 1:1 2:3\nb 2:1 3:1\n"), 0o666))
	bench("train", "-q", "-in", vectors, "-o", other)
	for args, want := range map[string]string{
		"-in " + vectors + " -model " + filepath.Join(dir, "model0"):     "holds vectors, expected text",
		"-in " + news + " -model " + other:                               "was trained on vectors",
		"-in " + news:                                                    "-model FILE is missing",
		"-model " + other:                                                "expected -in SOURCE",
		"-in " + news + " -model " + news:                                "new.tsv",
		"-in " + vectors + " -model " + other + " -output probabilities": "holds no probabilities",
		"-in " + vectors + " -model " + other + " -output nonsense":      "expected labels, probabilities or decisions",
		"-in " + vectors + " -model " + other + " -documents 0":          "-documents 0",
	} {
		status, _, stderr := cluster(t, "", strings.Fields("plan predict -store "+dir+" "+args)...)
		if status != cli.Failed || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %s, expected %s", args, status, stderr, want)
		}
	}
}

// The same holds for vectors with negative values, and for documents with several labels or none.
// Matrices are refused.
func TestPredictOthers(t *testing.T) {
	bench, dir := gram(t), t.TempDir()
	var vectors, texts strings.Builder
	words := strings.Fields("ant bee cat dog eel fox")
	for i := range 60 {
		fmt.Fprintf(&vectors, "c%d 1:%.2f 2:%.2f 3:%.2f\n", i%3, math.Sin(float64(i)), math.Cos(float64(i*i))+float64(i%3),
			math.Sin(float64(i*i*i))-float64(i%3))
		fmt.Fprintf(&texts, "%s\t%s %s\n", []string{"a", "b", "a,b", "-"}[i%4],
			[]string{"ant bee", "dog eel", "ant dog", "gnu hen"}[i%4], words[i%6])
	}
	texts.WriteString("-\t\n") // has no label
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"x.svm": vectors.String(), "x.tsv": texts.String(),
	} {
		musttest.Do(t, os.WriteFile(path(name), []byte(text), 0o666))
	}
	for i, c := range []struct{ in, train, output string }{
		{"x.svm", "-signed -kernel rbf:gamma=0.5", "decisions"},
		{"x.tsv", "-scheme labels -kernel linear", "labels"}, {"x.tsv", "-type knn:k=3", "decisions"},
	} {
		model, store := path(fmt.Sprint("model", i)), path(fmt.Sprint("store", i))
		bench(append(strings.Fields("train -q -in "+path(c.in)+" -o "+model), strings.Fields(c.train)...)...)
		want, got := store+".want", store+".got"
		flags := strings.Fields("-in " + path(c.in) + " -model " + model + " -output " + c.output)
		bench(append([]string{"predict", "-q", "-o", want}, flags...)...)
		tasks := must(t, "", append([]string{"plan", "predict", "-q", "-store", store, "-documents", "25"}, flags...)...)
		must(t, tasks, "work", "-store", store)
		must(t, "", "gather", "-store", store, "-o", got)
		same(t, want, got)
	}
	bench("matrix", "-q", "-signed", "-kernel", "rbf", "-in", path("x.svm"), "-o", path("K.npy"),
		"-o-labels", path("K.tsv"))
	bench("train", "-q", "-t", "4", "-in", path("K.npy"), "-labels", path("K.tsv"), "-o", path("matrix.model"))
	for args, want := range map[string]string{
		"plan predict -in " + path("x.svm") + " -model " + path("matrix.model"):                 "on a precomputed kernel",
		"plan predict -in " + path("x.tsv") + " -output probabilities -model " + path("model2"): "holds no probabilities",
		"gather -to tsv -o " + path("other"):                                                    `-to "tsv", expected none`,
	} {
		status, _, stderr := cluster(t, "", append(strings.Fields(args), "-store", path("store0"))...)
		if status != cli.Failed || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %s, expected %s", args, status, stderr, want)
		}
	}
}
