package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Predictions that are gathered have the bytes of grambench's, for every kind of model and output,
// whatever the number of documents of a task.
func TestPredict(t *testing.T) {
	bench, dir := grambench(t), t.TempDir()
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
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range []struct{ train, outputs string }{
		{"-probabilities 1", "labels probabilities decisions"}, {"-scheme one-vs-rest", "labels decisions"},
		{"-type one_class", "labels decisions"},
		{"-type linear", "labels decisions"}, {"-type logistic", "labels probabilities"},
		{"-type knn:k=3", "labels probabilities"},
		{"-landmarks 20", "labels decisions"},
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
	if err := os.WriteFile(vectors, []byte("a 1:1\nb 2:1\na 1:1 2:3\nb 2:1 3:1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	bench("train", "-q", "-in", vectors, "-o", other)
	for args, want := range map[string]string{
		"-in " + vectors + " -model " + filepath.Join(dir, "model0"):     "holds vectors, expected text",
		"-in " + news + " -model " + other:                               "knows no words",
		"-in " + news:                                                    "-model FILE is missing",
		"-model " + other:                                                "expected -in SOURCE",
		"-in " + news + " -model " + news:                                "new.tsv",
		"-in " + vectors + " -model " + other + " -output probabilities": "holds no probabilities",
		"-in " + vectors + " -model " + other + " -output nonsense":      "expected labels, probabilities or decisions",
		"-in " + vectors + " -model " + other + " -documents 0":          "-documents 0",
	} {
		status, _, stderr := cluster(t, "", strings.Fields("plan predict -store "+dir+" "+args)...)
		if status != failed || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %s, expected %s", args, status, stderr, want)
		}
	}
}
