//go:build cgo

package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/musttest"
)

// Objects share no memory with the caller.
func TestNothingIsKept(t *testing.T) {
	vectors, texts := corpora(t)
	x, y := matrixOf(vectors), &theirs{}
	y.terms, y.overwrite = stringsOf(slices.Concat(strings.Fields(texts.Texts[0]), strings.Fields(texts.Texts[1])))
	offsets := []int64{0, 24, 48}
	y.termOffsets, y.documents.documents = &offsets[0], 2
	corpus, terms, parts := into(), into(), into()
	for _, of := range []struct {
		x   *theirs
		out *uintptr
	}{{x, corpus}, {y, terms}} {
		must(t, withOptions(newCorpus), arguments{result: of.out, x: &of.x.documents})
	}
	must(t, withOptions(computeComponents), arguments{result: parts, x: &x.documents})
	list, overwrite := stringsOf(texts.Texts)
	index := into()
	must(t, withOptions(newIndex), arguments{result: index, texts: list})
	more, numbers := stringsOf([]string{"pie wheel"})
	must(t, withOptions(addToIndex), arguments{object: *index, texts: more, numbers: spanOf(make([]int64, 1))})
	x.overwrite()
	y.overwrite()
	overwrite()
	numbers()

	if got := arrayOf[float32](t, *corpus, "values"); !slices.Equal(got, vectors.Documents.Values) {
		t.Error("values of a corpus are the caller's")
	}
	if got := arrayOf[int32](t, *corpus, "labels"); !slices.Equal(got, vectors.Labels.IDs) {
		t.Error("labels of a corpus are the caller's")
	}
	got := string(arrayOf[byte](t, *terms, "vocabulary"))
	if strings.Contains(got, "z") || !strings.Contains(got, "pie") {
		t.Errorf("the vocabulary is %q, expected that of the terms", got)
	}
	want := gram.Must(gram.PCA(t.Context(), vectors, gram.PCAOptions{}))
	z := make([]float64, 2*vectors.Documents.Rows())
	must(t, withOptions(project), arguments{x: &documents{corpus: *corpus}, object: *parts, doubles: spanOf(z)})
	if own := gram.Must(want.Project(t.Context(), vectors)).RawMatrix().Data; !slices.Equal(z, own) {
		t.Errorf("projections are %v, expected %v", z, own)
	}
	found := into()
	query, _ := stringsOf([]string{"pie wheel", texts.Texts[5]})
	must(t, withOptions(queryIndex), arguments{options: textOf(`{"within": 0.0}`), result: found, object: *index,
		texts: query})
	if got := arrayOf[int64](t, *found, "documents"); !slices.Contains(got, 120) || !slices.Contains(got, 5) {
		t.Errorf("the index finds %v, expected 120 and 5 among them", got)
	}
}

// A panic on any goroutine becomes a code with a message, and the process continues.
func TestFaultsAreCodes(t *testing.T) {
	for want, f := range map[string]function{
		"gram: a fault: mine": func(*call, *arguments) (object, error) { panic("mine") },
		"index out of range": func(*call, *arguments) (object, error) {
			return nil, fmt.Errorf("%d", []int{}[len(os.Args)])
		},
		"run: a task panicked:": func(*call, *arguments) (object, error) {
			return nil, &corpus.PanicError{Function: "run: a task", Value: 1}
		},
	} {
		message := make([]byte, 200)
		c := run(&request{error: &message[0], errorSize: int64(len(message))}, f, &arguments{})
		if c != codeInternal || !strings.Contains(string(message), want) {
			t.Errorf("code %d, %s, expected %d, %s", c, message, codeInternal, want)
		}
	}
}

// Goroutines use a corpus and a model while others free them. This is for the race detector.
func TestConcurrentCalls(t *testing.T) {
	vectors, _ := corpora(t)
	x, c, m := matrixOf(vectors), into(), into()
	must(t, withOptions(newCorpus), arguments{result: c, x: &x.documents})
	must(t, withOptions(train), arguments{options: textOf(`{"kernel": "linear", "c": 1}`), result: m, x: &x.documents})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 5 {
				p := into()
				must(t, withOptions(predict), arguments{options: textOf(`{"workers": 2}`), result: p,
					x: &documents{corpus: *c}, object: *m})
				if n := len(arrayOf[float64](t, *p, "scores")); n != 360 {
					t.Errorf("%d scores, expected 360", n)
				}
				must(t, withOptions(free), arguments{object: *p})
			}
		})
	}
	all.Wait()
	before := len(objects.entries)
	must(t, withOptions(free), arguments{object: *m})
	if len(objects.entries) != before-1 {
		t.Errorf("%d objects after a call of gram_free, expected %d", len(objects.entries), before-1)
	}
}

// gram.h, gram.c and functions list the same names. The header has the program's version.
func TestHeaderNamesTheFunctions(t *testing.T) {
	var names [][]string
	for _, of := range []struct{ file, pattern string }{
		{"gram.h", `(?m)^int32_t (gram_\w+)\(`}, {"gram.c", `(?m)^int32_t (gram_\w+)\(`},
	} {
		text := musttest.Get(os.ReadFile(of.file))(t)
		var own []string
		for _, m := range regexp.MustCompile(of.pattern).FindAllSubmatch(text, -1) {
			own = append(own, string(m[1]))
		}
		slices.Sort(own)
		names = append(names, own)
		if version := fmt.Sprintf("#define GRAM_VERSION %q", cli.Version); of.file == "gram.h" &&
			!bytes.Contains(text, []byte(version)) {
			t.Errorf("gram.h lacks %s", version)
		}
	}
	table := slices.Sorted(maps.Keys(functions))
	if !slices.Equal(names[0], table) || !slices.Equal(names[1], table) {
		t.Errorf("the header has %q, the door %q, the table %q", names[0], names[1], table)
	}
}
