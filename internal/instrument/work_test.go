package instrument

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// benchDocuments draws documents over terms of decreasing frequency. Some documents are empty.
func benchDocuments(t *testing.T, n, terms int) *sparse.Embedded {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	m := &sparse.CSR{Cols: terms, Offsets: []int64{0}}
	for i := range n {
		for j := range terms {
			if i%19 != 3 && r.Float64() < 3/float64(4+j) {
				m.Terms = append(m.Terms, uint32(j))
				m.Values = append(m.Values, float32(1+r.IntN(5)))
			}
		}
		m.Offsets = append(m.Offsets, int64(len(m.Terms)))
	}
	return musttest.Get(sparse.SphereEmbedding.Fit(m).Transform(m))(t)
}

// The rate of more workers than CPUs is the rate of the CPUs.
func TestRateOfManyWorkers(t *testing.T) {
	var began atomic.Int64
	rate := measureRate(1000, func(int) func() float64 {
		began.Add(1)
		return func() float64 { return 1 }
	})
	if n := int(began.Load()); n != runtime.GOMAXPROCS(0) || !(rate > 0) {
		t.Errorf("%d of 1,000 workers were measured, a rate of %g, want one per processor", n, rate)
	}
}

// The operations that NewOperationCounts and CountMatches count equal counts over all pairs of
// documents.
func TestWork(t *testing.T) {
	const n, terms = 300, 120
	x := benchDocuments(t, n, terms)
	df := x.DocumentFrequency()
	order := run.Range(0, x.Cols)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(df[b], df[a]) })
	for _, isa := range asm.Available() {
		for _, head := range []int{-1, 20, x.Cols} {
			t.Run(fmt.Sprintf("isa=%s/head=%d", isa, head), func(t *testing.T) {
				e := musttest.Get(engine.New(x, engine.Options{ISA: string(isa), Workers: 2, HeadTerms: head}))(t)
				none := func(*engine.Tile) error { return nil }
				musttest.NoError(t, e.EachTile(t.Context(), nil, engine.Request{OmitSymmetric: true}, none))
				table := musttest.Get(asm.KernelsFor(isa))(t)
				inHead := make([]bool, x.Cols)
				for _, j := range order[:max(head, 0)] {
					inHead[j] = true
				}
				// headUseful and tailUseful count common terms of pairs i < j. tailSelf counts tail
				// terms of single documents.
				var headUseful, tailUseful, tailSelf int64
				values := make([]int64, n) // number of values of each document in the head
				for i := range n {
					a, _ := x.Row(i)
					for j := range i + 1 {
						b, _ := x.Row(j)
						for _, term := range a {
							_, both := slices.BinarySearch(b, term)
							switch {
							case !both:
							case i == j && inHead[term]:
								values[i]++
							case i == j:
								tailSelf++
							case inHead[term]:
								headUseful++
							default:
								tailUseful++
							}
						}
					}
				}
				// A panel reads all documents from its first document on, in whole blocks. If
				// columns are dense, it reads its own documents in groups of a panel's size.
				var headValues int64
				head := e.Info().Head
				for first := 0; first < n; first += table.PanelWidth {
					begin := first - first%sparse.BlockSize
					if head.DenseOperand == engine.DenseColumns {
						for i := first; i < min(first+table.PanelWidth, n); i++ {
							headValues += values[i] * int64((n-begin+table.PanelWidth-1)/table.PanelWidth)
						}
						continue
					}
					for i := begin; i < n; i++ {
						headValues += values[i]
					}
				}
				gotHead, gotTail := CountMatches(df, head.TermCount)
				if gotHead != headUseful || gotTail != tailUseful {
					t.Errorf("useful multiply-adds %d in the head and %d in the tail, counted pair by pair %d and %d",
						gotHead, gotTail, headUseful, tailUseful)
				}
				w := NewOperationCounts(e.Stats(), table.PanelWidth, gotHead, 7)
				want := OperationCounts{
					HeadMadds: headValues * int64(
						table.PanelWidth), HeadUsefulMadds: headUseful, TailMadds: tailUseful + tailSelf,
					MovedBytes: 6*headValues + 8*(tailUseful+tailSelf) + 4*7,
				}
				if w != want {
					t.Errorf("work is %+v, counted pair by pair %+v", w, want)
				}
				if w.Madds() != want.HeadMadds+want.TailMadds {
					t.Errorf("%d multiply-adds in all", w.Madds())
				}
			})
		}
	}
}

// Each worker warms up once. Work that takes exactly minProbeTime is measured once. The workers'
// rates are added.
func TestRateOf(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	calls := make([]int, 3)
	rate := measureRate(len(calls), func(w int) func() float64 {
		return func() float64 {
			calls[w]++
			time.Sleep(minProbeTime)
			return 1
		}
	})
	if !slices.Equal(calls, []int{2, 2, 2}) {
		t.Errorf("calls of the workers: %v, expected 2 each", calls)
	}
	// A sleep may take longer than requested, but not shorter.
	if most := 3 / minProbeTime.Seconds(); !(rate > 0 && rate <= most) {
		t.Errorf("rate is %v, expected at most %v", rate, most)
	}
}

// Each field is summarised separately.
func TestOver(t *testing.T) {
	type figures struct{ A, B float64 }
	rounds := []figures{{1, 5}, {9, 4}, {2, 7}}
	if got, want := Medians(rounds), (figures{2, 5}); got != want {
		t.Errorf("medians of %v are %v, expected %v", rounds, got, want)
	}
	if got, want := summarizeFields(rounds, slices.Max[[]float64]), (figures{9, 7}); got != want {
		t.Errorf("the most of %v are %v, expected %v", rounds, got, want)
	}
}
