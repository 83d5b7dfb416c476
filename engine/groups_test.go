package engine

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// Groups are the parts that pairs connect, by their first document, in whatever order pairs come.
func TestGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for pairs := range 300 {
		const n = 200
		s, part := NewGroups(n), make([]int, n)
		for i := range part {
			part[i] = i
		}
		for range pairs {
			i, j := r.IntN(n), r.IntN(n)
			s.Join(i, j)
			old := part[j]
			for k, p := range part {
				if p == old {
					part[k] = part[i]
				}
			}
		}
		var want [][]int32
		for i := range n {
			if slices.Index(part, part[i]) < i {
				continue
			}
			var group []int32
			for j, p := range part {
				if p == part[i] {
					group = append(group, int32(j))
				}
			}
			if len(group) > 1 {
				want = append(want, group)
			}
		}
		if got := s.All(); !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("%d pairs: groups %v, expected %v", pairs, got, want)
		}
	}
}

// Texts without a term are like no others, by a join and by tiles, in groups and in pairs; vectors of zeros are alike.
func TestTextsWithoutTerms(t *testing.T) {
	m := &sparse.CSR{Cols: 3, Offsets: []int64{0, 0, 2, 2, 4, 4, 5}, Terms: []uint32{0, 1, 0, 1, 2},
		Values: []float32{1, 2, 1, 2, 1}}
	x := enginetest.Embedded(t, sparse.Sphere, m)
	for _, method := range []string{byJoin, byTiles} {
		for _, texts := range []bool{false, true} {
			opt := Options{Workers: 1, method: method, Texts: texts}
			w := musttest.Get(GroupsWithin(t.Context(), x, 0.1, opt))(t)
			want, pairs := [][]int32{{0, 2, 4}, {1, 3}}, int64(4)
			if texts {
				want, pairs = want[1:], 1
			}
			if !slices.EqualFunc(w.Groups, want, slices.Equal) || w.Pairs != pairs || w.Same != pairs {
				t.Errorf("%s, texts %t: %+v, expected %v and %d pairs", method, texts, w, want, pairs)
			}
			cross := 0
			_, err := CrossWithin(t.Context(), x, x, 0.1, opt, func(int, int, float64) error { cross++; return nil })
			if want := 9 + 4 + 1; err != nil || !texts && cross != want || texts && cross != want-9 {
				t.Errorf("%s, texts %t: %d pairs of a set with itself, %v", method, texts, cross, err)
			}
		}
	}
}
