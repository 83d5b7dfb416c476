package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/internal/join"
	"github.com/gramengine/gram/engine/internal/panel"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// JoinPlan says how pairs within a bound on c were found: by tiles, all pairs compared, or by a join,
// which finds the same pairs with the same values, and compares those alone that share a term before the
// cut of both (package engine/internal/join). Work is counted beforehand, and the cheaper is taken.
type JoinPlan struct {
	Method      string  `json:"method"` // join or tiles
	Why         string  `json:"why"`
	Documents   int     `json:"documents"`
	Distinct    int     `json:"documents_distinct"`   // copies aside; 0 where it wasn't counted
	Values      int64   `json:"values"`               // of distinct documents; 0 where they weren't counted
	Before      int64   `json:"values_before_cut"`    // of these
	Matches     int64   `json:"matches"`              // of these, in pairs; where tiles are far cheaper, by a sample
	Pairs       int64   `json:"pairs"`                // by tiles
	JoinSeconds float64 `json:"join_seconds_planned"` // 0 where it wasn't counted
	TileSeconds float64 `json:"tile_seconds_planned"`
}

// methods of Options.method.
const (
	byJoin  = "join"
	byTiles = "tiles"
)

// Costs in nanoseconds, measured on a core of Zen 4 at 3.7 GHz.
const (
	costCut     = 25.0 // a value, in cutting its document
	costBefore  = 60.0 // a value before the cut, into its list
	costMatch   = 1.6
	costSketch  = 60.0 // of a match that sketches leave
	costStep    = 4.0
	costChecked = 250.0 // of a match that is checked, and costValue for each value
	costValue   = 5.0
	costTile    = 0.45 // of a pair, beside its dot product
	costEngine  = 25.0 // of a value, in making tiles possible
	costFar     = 2000 // of a checked pair whose value a tile has to tell

	fewPairs = 1 << 21 // that tiles compare while a join would be planned
)

// planned returns the join that finds pairs within s.most, nil where tiles are as cheap. valued says that
// values are wanted, which tiles compute for far pairs; held are the bytes of the caller beside the engine's.
func (s *search) planned(
	ctx context.Context, rows *sparse.Embedded, valued bool, held int64,
) (*join.Join, *JoinPlan, error) {
	e, n := s.e, s.e.Len()
	p := &JoinPlan{Method: byTiles, Documents: n, Pairs: compute.PairsOf(n) - int64(n)}
	if rows != nil {
		p.Documents, p.Pairs = n+rows.Rows(), int64(n)*int64(rows.Rows())
	}
	p.TileSeconds = e.tileSeconds(float64(p.Pairs))
	_, own := e.c.Backend.(*panel.Backend)
	why := func(format string, args ...any) (*join.Join, *JoinPlan, error) {
		p.Why = fmt.Sprintf(format, args...)
		return nil, p, nil
	}
	forced := e.method == byJoin
	switch {
	case e.method == byTiles:
		return why("tiles were asked for")
	case !s.byC:
		return why("the kernel is no function of c alone that falls with it")
	case !(s.most < 1):
		return why("the bound reaches documents without a common term")
	case e.c.Backend != nil && !own:
		return why("a device computes")
	case p.Pairs < fewPairs && !forced:
		return why("there are few pairs")
	}
	x, y := e.c.X, (*sparse.Embedded)(nil)
	if rows != nil {
		x, y = rows, e.c.X
	}
	// Where memory doesn't hold a join, tiles may need less.
	fits := func(bytes int64) (bool, error) {
		err := e.fits(ctx, "a search for pairs", run.AddBytes(held, bytes))
		if !forced && errors.As(err, new(*MemoryError)) {
			return false, nil
		}
		return true, err
	}
	if ok, err := fits(GroupsBytes(p.Documents, x.Cols)); err != nil {
		return nil, nil, err
	} else if !ok {
		return why("memory doesn't hold what a join knows of documents")
	}
	j, err := join.New(ctx, x, y, float64(s.most), e.c.Workers)
	if err != nil {
		return nil, nil, err
	}
	p.Distinct, p.Values = j.Counts.Distinct, j.Counts.Values
	count := func(n join.Counts) {
		each := costChecked + costValue*2*float64(n.Values)/float64(max(n.Distinct, 1))
		if valued && s.most > farC {
			each += costFar
		}
		ns := float64(n.Values)*costCut + float64(n.Before)*costBefore +
			float64(n.Matches)*(costMatch+n.Sketched*costSketch+n.Steps*costStep+n.Checked*each)
		p.Before, p.Matches, p.JoinSeconds = n.Before, n.Matches, ns/float64(e.c.Workers)/1e9
	}
	about, err := j.Estimate(ctx)
	if err != nil {
		return nil, nil, err
	}
	count(about)
	if p.JoinSeconds > p.TileSeconds && !forced {
		return why("tiles compare all pairs sooner")
	}
	forward, lists := j.Bytes(about.Before)
	forward += forward / 4 // about
	if ok, err := fits(forward + min(lists, 64<<20)); err != nil {
		return nil, nil, err
	} else if !ok {
		return why("memory doesn't hold the terms before the cut")
	}
	room := int64(math.MaxInt64)
	if e.memory > 0 {
		room = e.memory - e.Bytes() - held - forward
	}
	if err := j.Build(ctx, room); err != nil {
		return nil, nil, err
	}
	count(j.Counts)
	if p.JoinSeconds > p.TileSeconds && !forced {
		return why("tiles compare all pairs sooner")
	}
	p.Method = byJoin
	if p.Why = "few pairs share a term before the cut"; forced {
		p.Why = "a join was asked for"
	}
	return j, p, nil
}

// tileSeconds predicts the time that tiles take for pairs of the engine's documents, by costs of values as
// the head has them.
func (e *Engine) tileSeconds(pairs float64) float64 {
	k, x := e.c.Kernels, e.c.X
	cost := k.Cost
	switch x.Embedder.Pairing {
	case sparse.ChiSquare:
		cost = k.ChiSquare.Cost
	case sparse.JensenShannon:
		cost = k.JensenShannon.Cost
	}
	values := float64(x.NNZ()) / float64(max(x.Rows(), 1))
	ns := pairs * ((values*cost.HeadValue+math.Ceil(values/32)*cost.HeadDocument)/float64(k.Panel) + costTile)
	if e.c.Backend == nil {
		ns += float64(x.NNZ()) * costEngine
	}
	return ns / float64(e.c.Workers) / 1e9
}

// farC is the c from which on a tile has what its sums in float32 leave: exact values are for c below 0.1,
// as tiles tell it.
const farC = device.CloseC - 2*device.ErrorC

// mostFar is how many pairs wait for tiles.
const mostFar = 1 << 21

// checker finds out which pairs of a join are wanted, and their keys.
type checker struct {
	s     *search
	exact func(aTerms []uint32, a []float64, bTerms []uint32, b []float64) float64
	dot   bool
	most  float64    // of ‖x - y‖² of float32 values
	units []unitRows // by worker
	mu    sync.Mutex
	far   []uint64 // row and column
}

// unitRows has the last row that a worker asked for.
type unitRows struct {
	row  int
	a, b []float64
}

// checker returns the checker of a join that runs.
func (s *search) checker() *checker {
	if s.e.joins != nil {
		s.e.joins.Add(1)
	}
	p := s.e.c.X.Embedder.Pairing
	c := &checker{s: s, exact: panel.Exact(p), dot: p == sparse.Dot, most: farthest(float64(s.most)),
		units: make([]unitRows, s.e.c.Workers)}
	for w := range c.units {
		c.units[w].row = -1
	}
	return c
}

// c returns c of a pair in float64; ok is false where it is too great.
func (k *checker) c(w, i, j int) (c float64, ok bool) {
	x, y := k.s.rows, k.s.e.c.X
	s, a := x.Row(i)
	t, b := y.Row(j)
	if k.dot && !near(s, a, t, b, k.most) {
		return 0, false
	}
	u := &k.units[w]
	if u.row != i {
		u.a, u.row = x.Unit64(i, u.a), i
	}
	u.b = y.Unit64(j, u.b)
	return k.exact(s, u.a, t, u.b), true
}

// farthest bounds ‖x - y‖² of float32 values with c of at most a bound: rounding moves each unit vector by 2⁻²⁴ of its
// length at most.
func farthest(c float64) float64 {
	far := math.Sqrt(2*c) + 0x1p-22
	return far * far
}

// near says whether ‖x - y‖² is at most a bound.
func near(s []uint32, a []float32, t []uint32, b []float32, most float64) bool {
	var sum float64
	i, j := 0, 0
	for i < len(s) && j < len(t) && sum <= most {
		var d float64
		switch {
		case s[i] == t[j]:
			d = float64(a[i]) - float64(b[j])
			i++
			j++
		case s[i] < t[j]:
			d = float64(a[i])
			i++
		default:
			d = float64(b[j])
			j++
		}
		sum += d * d
	}
	for ; i < len(s) && sum <= most; i++ {
		sum += float64(a[i]) * float64(a[i])
	}
	for ; j < len(t) && sum <= most; j++ {
		sum += float64(b[j]) * float64(b[j])
	}
	return sum <= most
}

// join hands the keys of all wanted pairs to visit, which is called by one goroutine at a time, the keys
// that tiles have, to the bit. Of copies, those from the given number on meet only those before it.
func (s *search) join(
	ctx context.Context, j *join.Join, rows *sparse.Embedded, p *JoinPlan, copies int,
	visit func(i, j int, key float32) error,
) (err error) {
	ctx, report := s.e.c.Start(ctx, p.Matches)
	defer report.Finish(&err)
	k := s.checker()
	found := func(i, m int, key float32) error {
		if !(key <= s.most) || !s.scan.Wanted(i, m, key) {
			return context.Cause(ctx)
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		for at, a := range j.Copies(i) {
			others := j.OfColumn(m)
			if at >= copies {
				others = others[:min(copies, len(others))]
			}
			for _, b := range others {
				first, last := a, b
				if rows == nil {
					first, last = min(a, b), max(a, b)
				}
				if err := visit(int(first), int(last), key); err != nil {
					return err
				}
			}
		}
		return context.Cause(ctx)
	}
	if rows == nil && s.most >= 0 {
		err = j.EachCopied(func(same []uint32) error {
			if !s.scan.Wanted(int(same[0]), int(same[1]), 0) {
				return context.Cause(ctx)
			}
			for at, i := range same[:min(copies, len(same))] {
				for _, m := range same[at+1:] {
					if err := visit(int(i), int(m), 0); err != nil {
						return err
					}
				}
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	err = j.Run(ctx, report.Add, func(w, i, m int) error {
		c, ok := k.c(w, i, m)
		switch {
		case !ok:
			return nil
		case c < farC:
			return found(i, m, float32(c))
		case c > float64(s.most)+2*device.ErrorC:
			return nil
		}
		k.mu.Lock()
		k.far = append(k.far, uint64(m)<<32|uint64(i))
		var full []uint64
		if len(k.far) == mostFar {
			full, k.far = k.far, nil
		}
		k.mu.Unlock()
		if full == nil {
			return context.Cause(ctx)
		}
		return k.tiles(ctx, full, found)
	})
	if err == nil {
		err = k.tiles(ctx, k.far, found)
	}
	return err
}

// tiles computes the keys of pairs, column and row, with others that stand in the same tiles.
func (k *checker) tiles(ctx context.Context, pairs []uint64, found func(i, m int, key float32) error) error {
	e := k.s.e
	const shift = 32 + 7 // a block of columns
	slices.SortFunc(pairs, func(a, b uint64) int {
		if x, y := a>>shift, b>>shift; x != y {
			return int(int64(x) - int64(y))
		}
		return int(int64(uint32(a)) - int64(uint32(b)))
	})
	type piece struct{ first, end int } // of a block, with rows for a panel
	var pieces []piece
	for at := 0; at < len(pairs); {
		p, rows := piece{at, at + 1}, 1
		for ; p.end < len(pairs) && pairs[p.end]>>shift == pairs[at]>>shift; p.end++ {
			if uint32(pairs[p.end]) != uint32(pairs[p.end-1]) {
				if rows++; rows > e.Panel() {
					break
				}
			}
		}
		pieces = append(pieces, p)
		at = p.end
	}
	return run.Tasks(ctx, e.c.Workers, len(pieces), func(ctx context.Context, _, task int) error {
		part := pairs[pieces[task].first:pieces[task].end]
		r := &device.Request{From: e.other(k.s.rows), Lo: int(part[0]>>shift) * device.Columns, Workers: 1}
		r.Hi = min(r.Lo+device.Columns, e.Len())
		for at, p := range part {
			if i := int(uint32(p)); at == 0 || i != r.Docs[len(r.Docs)-1] {
				r.Docs = append(r.Docs, i)
			}
		}
		return e.c.Rows(ctx, kernel.C(), r, nil, func(t *device.Tile) error {
			for _, p := range part {
				i, m := int(uint32(p)), int(p>>32)
				row, _ := slices.BinarySearch(r.Docs, i)
				if row < t.First || row >= t.First+t.Rows || m < t.Lo || m >= t.Hi {
					continue
				}
				if err := found(i, m, t.Value[(row-t.First)*t.RowStride+(m-t.Lo)*t.ColStride]); err != nil {
					return err
				}
			}
			return nil
		})
	})
}
