package corpus

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
)

func TestReadRefusesOptions(t *testing.T) {
	file := writeFile(t, "a.svm", "1 1:2\n2 2:1\n")
	for want, opt := range map[string]Options{
		"twice, expected":      {Vocabulary: []string{"a", "a"}},
		"Vocabulary and Vocab": {Vocabulary: []string{}, VocabularyLater: func() ([]string, error) { return nil, nil }},
	} {
		if _, err := Read(t.Context(), file, opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Read: %v, expected %q", err, want)
		}
	}
	if _, err := Files(t.Context(), file, "nonsense"); err == nil ||
		!strings.Contains(err.Error(), `format "nonsense"`) {
		t.Errorf("Files: %v", err)
	}
	// However many workers are asked for, there are no more than can be of use.
	text := writeFile(t, "a.tsv", "x\ta a\ny\ta\n")
	for _, source := range []string{file, text, "synthetic:docs=9,terms=9,length=9,classes=2"} {
		c, err := Read(t.Context(), source, Options{Workers: math.MaxInt})
		if err == nil {
			err = c.Validate()
		}
		if err != nil {
			t.Errorf("%s with many workers: %v", source, err)
		}
	}
}

// A function of the caller's that panics on a goroutine of the reader's would end the program.
func TestReadPanics(t *testing.T) {
	own := errors.New("the caller's own")
	text := writeFile(t, "a.tsv", "x\ta a\ny\ta\n")
	for function, opt := range map[string]Options{
		"Progress":        {Progress: func(Progress) { panic(own) }},
		"VocabularyLater": {VocabularyLater: func() ([]string, error) { panic(own) }},
	} {
		_, err := Read(t.Context(), text, opt)
		if failed := (*PanicError)(nil); !errors.As(err, &failed) || failed.What != "corpus: Options."+function ||
			!errors.Is(err, own) || !strings.Contains(string(failed.Stack), "TestReadPanics") {
			t.Errorf("%s: %v", function, err)
		}
	}
	_, err := Read(t.Context(), text, Options{Progress: func(Progress) { runtime.Goexit() }})
	if failed := (*PanicError)(nil); !errors.As(err, &failed) || failed.What != "corpus: Options.Progress" {
		t.Errorf("a report that ends its goroutine: %v", err)
	}
	// Reading ends with the report that panics, not with the source.
	promptly(t, func() error {
		_, err := Read(t.Context(), "synthetic:docs=100000000,length=1000",
			Options{Progress: func(Progress) { panic("own") }})
		if failed := (*PanicError)(nil); errors.As(err, &failed) {
			return context.Canceled // which is what promptly wants
		}
		return err
	})
}

func TestSyntaxErrorWithoutFlags(t *testing.T) {
	got := (&SyntaxError{File: "x", Option: "Signed", Remedy: "does"}).Describe(nil)
	if !strings.Contains(got, "(Options.Signed does)") {
		t.Errorf("without a function: %q", got)
	}
}
