package engine

import (
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"github.com/gramengine/gram/sparse"
)

// heldBy returns what a value's slices hold, in bytes, those of slices in them and of structs included, but nothing behind pointers, which is others'.
func heldBy(v reflect.Value) (bytes int64) {
	switch v.Kind() {
	case reflect.Slice:
		bytes = int64(v.Cap()) * int64(v.Type().Elem().Size())
		if k := v.Type().Elem().Kind(); k == reflect.Slice || k == reflect.Struct {
			for i := range v.Len() {
				bytes += heldBy(v.Index(i))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			bytes += heldBy(v.Field(i))
		}
	}
	return bytes
}

// What a panel holds when all documents went through it, the longest together, is within what Bytes counts for them, in every field that panels have or will have, and not far below it.
func TestPanelBytes(t *testing.T) {
	long := zipf(100, 10000, 1000, 3)
	n := len(long.Terms)
	long.Terms, long.Values = append(long.Terms, long.Terms...), append(long.Values, long.Values...) // every document twice: all have one that is close
	for _, at := range long.Offsets[1:] {
		long.Offsets = append(long.Offsets, int64(n)+at)
	}
	for name, x := range map[string]*sparse.Embedded{
		"close":      embedded(t, sparse.Sphere, zipf(700, 40, 200, 1)), // all pairs are recomputed
		"tail":       embedded(t, sparse.Sphere, long),
		"direct":     embedded(t, sparse.Sphere, zipf(700, 5000, 20, 3)),
		"histograms": embedded(t, sparse.Embedding{Norm: sparse.NormL1, Pairing: sparse.JensenShannon}, long),
	} {
		for _, head := range []int{64, 4000} { // the second in more segments than are added up in one go
			e := newEngine(t, x, Options{Workers: 1, HeadTerms: head})
			k := parseIn(t, "c", x.Embedder.Embedding)
			if _, err := e.Gram(t.Context(), k); err != nil {
				t.Fatal(err)
			}
			longest := sequence(x.Rows())
			slices.SortFunc(longest, func(i, j int) int { return int(x.Offsets[j+1] - x.Offsets[j] - x.Offsets[i+1] + x.Offsets[i]) })
			longest = longest[:e.Panel()]
			if err := e.Rows(t.Context(), k, longest, NewDense(len(longest), x.Rows())); err != nil {
				t.Fatal(err)
			}
			if len(e.idle) != 1 {
				t.Fatalf("%d panels of one worker", len(e.idle))
			}
			p := e.idle[0]
			p.docs, p.exact.docs = nil, nil // the task's
			if held := heldBy(reflect.ValueOf(*p)) + int64(unsafe.Sizeof(*p)); held > e.panelMost || held < e.panelMost*4/5 {
				t.Errorf("%s, head of %d terms, %d segments: a panel holds %d bytes, panelBytes says %d", name, e.HeadTerms(), len(e.own.split.Head), held, e.panelMost)
			}
		}
	}
}
