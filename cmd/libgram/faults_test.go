//go:build cgo

package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

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
		out result
	}{{x, corpus}, {y, terms}} {
		must(t, makes(makeCorpus), makeArguments{text{}, of.out, &of.x.documents})
	}
	must(t, makes(findComponents), makeArguments{text{}, parts, &x.documents})
	list, overwrite := stringsOf(texts.Texts)
	index := into()
	must(t, makes(makeIndex), indexArguments{text{}, index, list})
	more, numbers := stringsOf([]string{"pie wheel"})
	must(t, indexAdd, addArguments{*index.handle, more, spanOf(make([]int64, 1))})
	x.overwrite()
	y.overwrite()
	overwrite()
	numbers()

	if got := arrayOf[float32](t, *corpus.handle, "values"); !slices.Equal(got, vectors.Documents.Values) {
		t.Error("values of a corpus are the caller's")
	}
	if got := arrayOf[int32](t, *corpus.handle, "labels"); !slices.Equal(got, vectors.Labels.IDs) {
		t.Error("labels of a corpus are the caller's")
	}
	got := string(arrayOf[byte](t, *terms.handle, "vocabulary"))
	if strings.Contains(got, "z") || !strings.Contains(got, "pie") {
		t.Errorf("the vocabulary is %q, expected that of the terms", got)
	}
	want := gram.Must(gram.PCA(t.Context(), vectors, gram.PCAOptions{}))
	z := make([]float64, 2*vectors.Documents.Rows())
	must(t, project, projectArguments{text{}, &documents{corpus: *corpus.handle}, *parts.handle, spanOf(z)})
	if own := gram.Must(want.Project(t.Context(), vectors)).RawMatrix().Data; !slices.Equal(z, own) {
		t.Errorf("projections are %v, expected %v", z, own)
	}
	found := into()
	query, _ := stringsOf([]string{"pie wheel", texts.Texts[5]})
	must(t, makes(indexQuery), queryArguments{textOf(`{"within": 0.0}`), found, *index.handle, query})
	if got := arrayOf[int64](t, *found.handle, "documents"); !slices.Contains(got, 120) || !slices.Contains(got, 5) {
		t.Errorf("the index finds %v, expected 120 and 5 among them", got)
	}
}

// A panic on any goroutine becomes a code with a message, and the process continues.
func TestFaultsAreCodes(t *testing.T) {
	for want, f := range map[string]function{
		"gram: a fault: mine": func(*call, unsafe.Pointer) error { panic("mine") },
		"index out of range":  func(*call, unsafe.Pointer) error { return fmt.Errorf("%d", []int{}[len(os.Args)]) },
		"run: a task panicked:": func(*call, unsafe.Pointer) error {
			return &corpus.PanicError{What: "run: a task", Value: 1}
		},
	} {
		message := make([]byte, 200)
		c := run(&request{error: &message[0], errorSize: int64(len(message))}, f, nil)
		if c != codeInternal || !strings.Contains(string(message), want) {
			t.Errorf("code %d, %s, expected %d, %s", c, message, codeInternal, want)
		}
	}
}

// Goroutines use a corpus and a model while others free them. This is for the race detector.
func TestConcurrentCalls(t *testing.T) {
	vectors, _ := corpora(t)
	x, c, m := matrixOf(vectors), into(), into()
	must(t, makes(makeCorpus), makeArguments{text{}, c, &x.documents})
	must(t, makes(train), makeArguments{textOf(`{"kernel": "linear", "c": 1}`), m, &x.documents})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 5 {
				p := into()
				must(t, makes(predict), predictArguments{textOf(`{"workers": 2}`), p, &documents{corpus: *c.handle}, *m.handle})
				if n := len(arrayOf[float64](t, *p.handle, "scores")); n != 360 {
					t.Errorf("%d scores, expected 360", n)
				}
				must(t, free, struct{ object uintptr }{*p.handle})
			}
		})
	}
	all.Wait()
	before := len(objects.of)
	must(t, free, struct{ object uintptr }{*m.handle})
	if len(objects.of) != before-1 {
		t.Errorf("%d objects after a call of gram_free, expected %d", len(objects.of), before-1)
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
	var table []string
	for name := range functions {
		table = append(table, name)
	}
	slices.Sort(table)
	if !slices.Equal(names[0], table) || !slices.Equal(names[1], table) {
		t.Errorf("the header has %q, the door %q, the table %q", names[0], names[1], table)
	}
}
