package nearest

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/internal/musttest"
)

// matrix holds keys of n rows and m columns, or half of a symmetric matrix.
type matrix struct {
	n, m int
	half bool
	keys []float32
}

// draw makes a matrix with few distinct values, including NaN and infinities.
func draw(r *rand.Rand, n, m int, half bool, kinds []float32) *matrix {
	x := &matrix{n, m, half, make([]float32, n*m)}
	for i := range n {
		for j := range m {
			v := kinds[r.IntN(len(kinds))]
			if r.IntN(2) == 0 {
				v = r.Float32()
			}
			if half && j < i {
				v = x.keys[j*m+i]
			}
			x.keys[i*m+j] = v
		}
	}
	return x
}

// tiles cuts the matrix into tiles of up to height rows and width columns, by columns or by rows,
// with padding between lines. In the symmetric half the tiles of a row begin at its first row.
func (x *matrix) tiles(height, width int, byColumns, negated bool) (rows [][]*device.Tile) {
	for first := 0; first < x.n; first += height {
		var list []*device.Tile
		lo := 0
		if x.half {
			lo = first
		}
		for lo < x.m {
			t := &device.Tile{FirstRow: first, Rows: min(height, x.n-first), Lo: lo, Hi: min(lo+width, x.m)}
			t.RowStride, t.ColStride = t.Cols()+3, 1
			if byColumns {
				t.RowStride, t.ColStride = 1, t.Rows+2
			}
			t.Values = make([]float32, (t.Rows-1)*t.RowStride+(t.Cols()-1)*t.ColStride+1)
			for i := range t.Values {
				t.Values[i] = -1 // padding between lines isn't a value
			}
			for i := range t.Rows {
				for j := range t.Cols() {
					v := x.keys[(first+i)*x.m+lo+j]
					if negated {
						v = -v
					}
					t.Values[i*t.RowStride+j*t.ColStride] = v
				}
			}
			list = append(list, t)
			lo = t.Hi
		}
		rows = append(rows, list)
	}
	return rows
}

// want returns the list of row i: up to k wanted others, sorted by key, then by number.
func (x *matrix) want(i, k int, most float32, groups []int32, wanted func(i, j int, key float32) bool) []Neighbour {
	var list []Neighbour
	for j := range x.m {
		v := x.keys[i*x.m+j]
		if v <= most && !(x.half && i == j) && (groups == nil || groups[i] != groups[j]) &&
			(wanted == nil || wanted(i, j, v)) {
			list = append(list, Neighbour{uint32(j), v})
		}
	}
	slices.SortStableFunc(list, func(a, b Neighbour) int { return cmp.Compare(a.Value, b.Value) })
	return list[:min(k, len(list))]
}

func eachISA(t *testing.T, f func(t *testing.T, k *asm.Kernels)) {
	for _, isa := range enginetest.ISAs() {
		t.Run("isa="+string(isa), func(t *testing.T) {
			k := musttest.Get(asm.KernelsFor(isa))(t)
			f(t, k)
		})
	}
}

// Lists equal brute force for any tiles in any order, from several goroutines, for keys that are
// equal, infinite or NaN, and for keys that increase or decrease along the rows.
func TestEnter(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	eachISA(t, func(t *testing.T, kernels *asm.Kernels) {
		r := rand.New(rand.NewPCG(1, 1))
		for round := range 60 {
			half, byColumns, falling := round%2 == 0, round%3 > 0, round%5 == 0
			n, m := 1+r.IntN(300), 1+r.IntN(700)
			if half {
				m = n
			}
			x := draw(r, n, m, half, []float32{0, 0.25, inf, -inf, nan}[:1+round%5])
			most := []float32{inf, 0.75, 0.25, 0, -1}[round/2%5]
			k := min([]int{1, 3, 10, maxSortedK, maxSortedK + 1, m, 0}[round%7], m)
			var groups []int32
			if half && round%4 == 0 {
				for range n {
					groups = append(groups, int32(r.IntN(3)))
				}
			}
			l := NewLists(n, k, most, groups)
			var columns *Lists
			if half {
				columns = l
			}
			s := &Search{Kernels: kernels, UpperOnly: half, NegateKeys: falling}
			if round%7 == 2 || round%7 == 4 {
				s.Accept = func(i, j int, key float32) bool { return (i+j)%3 > 0 || key > 0.5 }
			}
			rows := x.tiles([]int{28, 64, 64, 60}[round/3%4], []int{64, 200, 512}[round%3], byColumns, falling)
			r.Shuffle(len(rows), func(a, b int) { rows[a], rows[b] = rows[b], rows[a] })
			var wg sync.WaitGroup
			for w := range 3 {
				wg.Go(func() {
					for at := w; at < len(rows); at += 3 {
						for _, tile := range rows[at] {
							s.Insert(l, columns, tile)
						}
					}
				})
			}
			wg.Wait()
			musttest.NoError(t, l.Sort(t.Context(), 2, nil, nil))
			for i := range n {
				got, want := l.List(i), x.want(i, k, most, groups, s.Accept)
				if !slices.Equal(got, want) {
					t.Fatalf("round %d, %d × %d, k = %d, row %d: %v, expected %v", round, n, m, k, i, got, want)
				}
				if k > 0 && len(want) == k && l.limits[i] != want[k-1].Value {
					t.Fatalf("round %d, k = %d, row %d: the limit is %v, expected %v", round, k, i, l.limits[i], want[k-1].Value)
				}
			}
		}
	})
}

// The first tile of a row lowers its limit, so most of its values aren't found.
func TestBound(t *testing.T) {
	eachISA(t, func(t *testing.T, kernels *asm.Kernels) {
		r := rand.New(rand.NewPCG(2, 2))
		for _, half := range []bool{false, true} {
			x := draw(r, 512, 512, half, []float32{0.5})
			l := NewLists(512, 10, 2, nil)
			s := &Search{Kernels: kernels, UpperOnly: half}
			tile := x.tiles(64, 512, true, false)[0][0]
			s.lowerLimits(&scratch{}, l, tile)
			l.Offer(0, 0, 1) // this doesn't raise the limit again
			for i, limit := range l.limits[:64] {
				tenth := x.want(i, 10, 2, nil, nil)[9].Value
				if !(limit >= tenth && limit < tenth+0.1) {
					t.Fatalf("half %v: the limit of row %d is %v, the tenth value %v", half, i, limit, tenth)
				}
			}
			if l.limits[64] != 2 {
				t.Fatalf("the limit of a row that there wasn't is %v", l.limits[64])
			}
			for i := range l.limits {
				l.limits[i] = belowAllKeys
			}
			if s.lowerLimits(&scratch{}, l, tile); l.limits[0] != belowAllKeys {
				t.Fatalf("the limit has risen to %v", l.limits[0])
			}
		}
	})
}

// EachPairs visits each pair with a small enough key once.
func TestPairs(t *testing.T) {
	eachISA(t, func(t *testing.T, kernels *asm.Kernels) {
		r := rand.New(rand.NewPCG(3, 3))
		for round := range 20 {
			half, byColumns := round%2 == 0, round%3 > 0
			n, m := 1+r.IntN(200), 1+r.IntN(300)
			if half {
				m = n
			}
			x := draw(r, n, m, half, []float32{0, 0.25, float32(math.NaN())})
			most := []float32{-1, 0, 0.25, 0.9, 5}[round/2%5]
			s := &Search{Kernels: kernels, UpperOnly: half}
			got := map[[2]int32]float32{}
			for _, row := range x.tiles(64, 130, byColumns, false) {
				for _, tile := range row {
					err := s.EachPairs(most, tile, func(rows, columns []int32, keys []float32) error {
						for at, key := range keys {
							pair := [2]int32{rows[at], columns[at]}
							if _, twice := got[pair]; twice {
								return fmt.Errorf("pair %v comes twice", pair)
							}
							got[pair] = key
							keys[at] = -1 // visit may overwrite them
						}
						return nil
					})
					musttest.NoError(t, err)
				}
			}
			count := 0
			for i := range n {
				for j := range m {
					v := x.keys[i*m+j]
					if half && j <= i || !(v <= most) {
						continue
					}
					count++
					if w, ok := got[[2]int32{int32(i), int32(j)}]; !ok || w != v {
						t.Fatalf("round %d: pair %d, %d is %v, %v, expected %v", round, i, j, w, ok, v)
					}
				}
			}
			if count != len(got) {
				t.Fatalf("round %d: %d pairs, expected %d", round, len(got), count)
			}
		}
	})
	failed := errors.New("failed")
	s := &Search{Kernels: asm.BestKernels()}
	tile := &device.Tile{Rows: 1, Hi: 1, RowStride: 1, ColStride: 1, Values: []float32{0}}
	if err := s.EachPairs(1, tile, func(_, _ []int32, _ []float32) error { return failed }); err != failed {
		t.Errorf("an error of visit came back as %v", err)
	}
}

// Keys are converted to values, in lists longer and shorter than a buffer. Lists are sorted again,
// stably, if the map makes values equal or reverses their order. Each list is checked.
func TestSort(t *testing.T) {
	value := func(key float32) float32 { return -float32(math.Floor(float64(key)*8)) + key/1024 }
	for _, k := range []int{1, 7, 100, sortKeys + 500} {
		for _, keepKeys := range []bool{false, true} {
			r := rand.New(rand.NewPCG(4, uint64(k)))
			n := 5 + 2000/k
			l := NewLists(n, k, 2, nil)
			want := make([][]Neighbour, n)
			for i := range n {
				for j := range r.IntN(2*k + 1) {
					key := r.Float32()
					l.Offer(i, key, j)
					want[i] = append(want[i], Neighbour{uint32(j), key})
				}
				slices.SortFunc(want[i], func(a, b Neighbour) int {
					return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.Document, b.Document))
				})
				want[i] = want[i][:min(k, len(want[i]))]
				if !keepKeys {
					for at, n := range want[i] {
						want[i][at].Value = value(n.Value)
					}
					slices.SortStableFunc(want[i], func(a, b Neighbour) int { return cmp.Compare(b.Value, a.Value) })
				}
			}
			values := func(keys []float32) error {
				if len(keys) > sortKeys {
					return fmt.Errorf("%d keys at a time", len(keys))
				}
				for at, key := range keys {
					if !(key >= 0 && key < 1) {
						return fmt.Errorf("a key of %v", key) // entries after the end of a list aren't keys
					}
					keys[at] = value(key)
				}
				return nil
			}
			var checked atomic.Int32
			check := func(i int, list []Neighbour) error {
				checked.Add(1)
				if len(list) != len(want[i]) {
					return fmt.Errorf("list %d has %d neighbours, expected %d", i, len(list), len(want[i]))
				}
				return nil
			}
			if keepKeys {
				musttest.NoError(t, l.Sort(t.Context(), 2, nil, nil))
			} else if musttest.NoError(t, l.Sort(t.Context(), 2, values, check)); int(checked.Load()) != n {
				t.Errorf("%d of %d lists were checked", checked.Load(), n)
			}
			for i := range n {
				if !slices.Equal(l.List(i), want[i]) {
					t.Fatalf("k = %d: list %d is %v, expected %v", k, i, l.List(i), want[i])
				}
			}
		}
	}
	failed := errors.New("failed")
	l := NewLists(3, 1, 2, nil)
	musttest.WantError(l.Sort(t.Context(), 1, func([]float32) error { return failed }, nil))(t,
		"an error of the map", failed)
	check := func(int, []Neighbour) error { return failed }
	musttest.WantError(l.Sort(t.Context(), 1, func([]float32) error { return nil }, check))(t, "an error of the check",
		failed)
}

// Lists take the memory that Bytes returns.
func TestBytes(t *testing.T) {
	l := NewLists(1000, 10, 2, nil)
	held := 8*len(l.entries) + 4*len(l.counts) + 4*len(l.limits) + 8*len(l.locks)
	if int64(held) != Bytes(1000, 10) {
		t.Errorf("lists take %d bytes, Bytes says %d", held, Bytes(1000, 10))
	}
}
