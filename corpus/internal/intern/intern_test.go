package intern

import (
	"bytes"
	"fmt"
	"testing"
)

// check adds words to a table and to a map, and compares them.
func check(t *testing.T, words [][]byte) {
	t.Helper()
	var table Table
	want := map[string]uint32{}
	for _, w := range words {
		id, ok := want[string(w)]
		if !ok {
			id = uint32(len(want))
			want[string(w)] = id
		}
		if got := table.Intern(w); got != id {
			t.Fatalf("%q has number %d, expected %d", w, got, id)
		}
	}
	if table.Len() != len(want) {
		t.Errorf("%d terms, expected %d", table.Len(), len(want))
	}
	for w, id := range want {
		if got := table.Term(id); string(got) != w {
			t.Errorf("term %d is %q, expected %q", id, got, w)
		}
	}
}

// Terms of any length that differ in one byte, at any position, get different IDs, for all sizes of
// the table.
func TestTable(t *testing.T) {
	var words [][]byte
	for n := range 40 {
		for at := range n {
			for c := range 6 {
				w := bytes.Repeat([]byte{'a'}, n)
				w[at] = byte(c) * 51 // 0 and 255, too
				words = append(words, w)
			}
		}
		words = append(words, bytes.Repeat([]byte{0}, n))
	}
	for i := range 5000 {
		words = append(words, fmt.Appendf(nil, "a long beginning %d and a long end", i), fmt.Append(nil, i))
	}
	check(t, append(words, words...))
}

// Long terms with equal keys are distinguished by their text.
func TestSameKey(t *testing.T) {
	var table Table
	a, b := []byte("a term of some length"), []byte("a term of same length")
	table.Intern(a)
	for i := range table.slots {
		if s := &table.slots[i]; s.next != 0 {
			moved := *s
			*s = slot{}
			moved.key = keyOf(b)
			table.slots[moved.key.hash(moved.length)>>table.shift] = moved
		}
	}
	if id := table.Intern(b); id != 1 {
		t.Errorf("another term has number %d, expected 1", id)
	}
}

func FuzzTable(f *testing.F) {
	f.Add([]byte("to be or not to be a beginning of something and beginning xf something"))
	f.Fuzz(func(t *testing.T, text []byte) { check(t, bytes.Split(text, []byte{' '})) })
}
