package model

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/learn/archive/archivetest"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
)

// small returns small models, so that mutations hit all parts.
func small() []*Model {
	bare, none, regression := tiny(), tiny(), tiny()
	bare.Vocabulary, bare.Classifier.Scheme = nil, solver.OneVsRest
	bare.Classes, bare.Parameters = []string{"a"}, nil
	bare.Classifier.Classes, bare.Classifier.Functions = 1, bare.Classifier.Functions[1:2]
	bare.SupportClasses = []int32{0, 0, 0}
	none.Classifier = solver.Classifier{Classes: 1, Functions: []*solver.DecisionFunction{}}
	none.Classes, none.SupportClasses = []string{"1"}, []int32{-1, 0, 0}
	regression.Type = NuSVR
	regression.Classes, regression.SupportClasses = nil, []int32{-1, -1, -1}
	regression.Classifier = solver.Classifier{
		Scheme: solver.OneVsRest, Classes: 1, Functions: regression.Classifier.Functions[1:2],
	}
	return []*Model{tiny(), bare, none, regression}
}

func TestModelFile(t *testing.T) {
	for _, m := range small() {
		archivetest.Check(t, Format, m)
	}
}

// FuzzRead also checks that WriteLIBSVM either fails or writes a file that can be read.
func FuzzRead(f *testing.F) {
	archivetest.Fuzz(f, Format, func(t *testing.T, m *Model) {
		var text strings.Builder
		if _, err := m.WriteLIBSVM(ctx, &text, true); err == nil {
			if _, err := readText(text.String()); err != nil {
				t.Fatalf("%v in\n%s", err, text.String())
			}
		}
	}, small()...)
}

// FuzzReadLIBSVM checks for any text that reading doesn't panic, that errors name an existing line,
// and that a model that was read can be written in both formats and read again unchanged.
func FuzzReadLIBSVM(f *testing.F) {
	for _, text := range []string{threeClasses, odd, regression, oneClassText, "SV\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := readText(text)
		if err != nil {
			var bad *SyntaxError
			most := int64(strings.Count(text, "\n")) + 2
			if !errors.As(err, &bad) || bad.File != "m.txt" || bad.Line < 1 || bad.Line > most || bad.Found == "" ||
				bad.Expected == "" ||
				bad.Expected == "a model" {
				t.Fatalf("%#v", err)
			}
			return
		}
		musttest.NoError(t, m.Validate())
		own := musttest.Get(Read(ctx, bytes.NewReader(encode(t, m))))(t)
		if !bytes.Equal(encode(t, own), encode(t, m)) {
			t.Fatal("the project's own form loses something")
		}
		// Writing drops stored zeros of support vectors, and so may change the number of columns.
		var b strings.Builder
		musttest.Get(m.WriteLIBSVM(ctx, &b, false))(t)
		back, err := readText(b.String())
		if err != nil {
			t.Fatalf("%v in\n%s", err, b.String())
		}
		var again strings.Builder
		musttest.Get(back.WriteLIBSVM(ctx, &again, false))(t)
		if again.String() != b.String() {
			t.Fatalf("written as\n%s, and after it was read again as\n%s", b.String(), again.String())
		}
	})
}
