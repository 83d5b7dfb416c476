package learn

import (
	"slices"
	"testing"
)

// Words are runs of letters and digits with their marks, and single letters of scripts without spaces.
func TestWordsOf(t *testing.T) {
	text := "Don't PANIC, don't: 42 cafe\u0301s\u3001很好吃 กำ很"
	words, places := wordsOf(text)
	want := []string{"don", "t", "panic", "42", "cafe\u0301s", "很", "好", "吃", "ก", "ำ"}
	if !slices.Equal(words, want) {
		t.Errorf("words %q, expected %q", words, want)
	}
	var found []string
	for _, at := range places {
		found = append(found, text[at.from:at.to])
	}
	want = []string{"Don", "t", "PANIC", "don", "t", "42", "cafe\u0301s", "很", "好", "吃", "ก", "ำ", "很"}
	if !slices.Equal(found, want) {
		t.Errorf("places %q, expected %q", found, want)
	}
	if got, want := lacking(text, places, 0), " 't PANIC,  't: 42 cafe\u0301s\u3001很好吃 กำ很"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
}
