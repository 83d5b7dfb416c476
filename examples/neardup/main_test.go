package main

import (
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram"
)

func post(t *testing.T, index *gram.Index, text string) string {
	t.Helper()
	w := httptest.NewRecorder()
	service(index, 0.2)(w, httptest.NewRequestWithContext(t.Context(), "POST", "/", strings.NewReader(text)))
	return strings.TrimSpace(w.Body.String())
}

// A text is compared with all earlier texts, including those of an earlier process.
func TestStream(t *testing.T) {
	path := filepath.Join(t.TempDir(), "texts.index")
	index, err := open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	const text = "the quick brown fox jumps over the lazy dog near the river"
	if got, want := post(t, index, text), `{"near":null,"number":0}`; got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	post(t, index, "a page about something else")
	if err := index.Save(path); err != nil {
		t.Fatal(err)
	}
	if index, err = open(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want string }{
		{text, `{"near":[{"Document":0,"C":0}],"number":2}`},
		{strings.Replace(text, "quick", "slow", 1), `{"near":[{"Document":0,"C":0.`},
		{"nothing in common", `{"near":null,"number":4}`},
	} {
		if got := post(t, index, c.text); !strings.HasPrefix(got, c.want) {
			t.Errorf("%q: %s, expected %s", c.text, got, c.want)
		}
	}
}
