package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/internal/join"
	"github.com/gramengine/gram/engine/internal/panel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// JoinPlan reports how pairs within a bound on c were found. Tiles compare all pairs. A join
// (engine/internal/join) compares fewer pairs, with the same result. The engine uses the method
// with the smaller estimated time.
type JoinPlan struct {
	Method            string  `json:"method"` // "join" or "tiles"
	Reason            string  `json:"why"`
	DocumentCount     int     `json:"documents"`
	DistinctDocuments int     `json:"documents_distinct"`   // number of distinct documents; 0 if not counted
	DistinctValues    int64   `json:"values"`               // number of values of distinct documents; 0 if not counted
	PrefixValues      int64   `json:"values_before_cut"`    // number of values in posting lists
	MatchCount        int64   `json:"matches"`              // number of matches (see package join), or an estimate
	TilePairs         int64   `json:"pairs"`                // number of pairs that tiles compare
	JoinSeconds       float64 `json:"join_seconds_planned"` // predicted time of the join; 0 if not predicted
	TileSeconds       float64 `json:"tile_seconds_planned"`
}

// Values of Options.method.
const (
	byJoin  = "join"
	byTiles = "tiles"
)

// Costs in nanoseconds, measured on a core of an AMD Zen 4 at 3.7 GHz.
const (
	costFindPrefix = 25.0 // per value, to find a document's indexed values
	costPrefix     = 60.0 // per value, to add the value to a posting list
	costMatch      = 1.6
	costSketch     = 60.0 // per match that passes the sketches
	costStep       = 4.0
	costCheck      = 250.0 // per match that is checked, in addition to costValue
	costValue      = 5.0
	costTile       = 0.45 // per pair, without the dot product
	costEngine     = 25.0 // per value, to prepare tiles

	planningPairs = 1 << 21 // number of pairs that tiles compare in the time that planning a join takes
)

// planJoin returns a join that finds all pairs with keys up to s.maxKey, or nil if a join is slower
// than tiles or not possible. If valued is set, keys must be bit-identical to the keys from tiles.
// held is the size of the caller's memory in bytes, excluding the engine.
func (s *search) planJoin(
	ctx context.Context, rows *sparse.Embedded, valued bool, held int64,
) (*join.Join, *JoinPlan, error) {
	e, n := s.e, s.e.Len()
	p := &JoinPlan{Method: byTiles, DocumentCount: n, TilePairs: compute.TrianglePairCount(n) - int64(n)}
	if rows != nil {
		p.DocumentCount, p.TilePairs = n+rows.Rows(), int64(n)*int64(rows.Rows())
	}
	p.TileSeconds = e.tileSeconds(float64(p.TilePairs))
	_, own := e.c.Backend.(*panel.Backend)
	why := func(format string, args ...any) (*join.Join, *JoinPlan, error) {
		p.Reason = fmt.Sprintf(format, args...)
		return nil, p, nil
	}
	forced := e.method == byJoin
	switch {
	case e.method == byTiles:
		return why("tiles were requested")
	case !s.byC:
		return why("the kernel is not a decreasing function of c alone")
	case !(s.maxKey < 1):
		return why("the bound includes documents without common terms")
	case valued && !(s.maxKey < alwaysExactC):
		return why("the bound includes pairs whose c is summed in float32")
	case e.c.Backend != nil && !own:
		return why("a device computes c")
	case p.TilePairs < planningPairs && !forced:
		return why("there are few pairs")
	}
	x, y := e.c.X, (*sparse.Embedded)(nil)
	if rows != nil {
		x, y = rows, e.c.X
	}
	// If a join exceeds the memory limit, tiles may still fit.
	fits := func(bytes int64) (bool, error) {
		err := e.checkFits(ctx, "a search for pairs", run.AddBytes(held, bytes))
		if !forced && errors.As(err, new(*MemoryError)) {
			return false, nil
		}
		return true, err
	}
	if ok, err := fits(GroupsBytes(p.DocumentCount, x.Cols)); err != nil {
		return nil, nil, err
	} else if !ok {
		return why("a join exceeds the memory limit")
	}
	j, err := join.New(ctx, x, y, float64(s.maxKey), e.c.Workers)
	if err != nil {
		return nil, nil, err
	}
	p.DistinctDocuments, p.DistinctValues = j.Counts.DistinctDocuments, j.Counts.Values
	count := func(n join.Counts) {
		each := costCheck + costValue*2*float64(n.Values)/float64(max(n.DistinctDocuments, 1))
		ns := float64(n.Values)*costFindPrefix + float64(n.PrefixValues)*costPrefix +
			float64(n.Matches)*(costMatch+n.SketchPassRate*costSketch+n.StepsPerMatch*costStep+n.CheckRate*each)
		p.PrefixValues, p.MatchCount, p.JoinSeconds = n.PrefixValues, n.Matches, ns/float64(e.c.Workers)/1e9
	}
	about, err := j.Estimate(ctx)
	if err != nil {
		return nil, nil, err
	}
	count(about)
	if p.JoinSeconds > p.TileSeconds && !forced {
		return why("tiles are faster")
	}
	forward, lists := j.Bytes(about.PrefixValues)
	forward += forward / 4 // about.PrefixValues is a rough estimate
	if ok, err := fits(forward + min(lists, 64<<20)); err != nil {
		return nil, nil, err
	} else if !ok {
		return why("a join exceeds the memory limit")
	}
	room := int64(math.MaxInt64)
	if e.memoryLimit > 0 {
		room = e.memoryLimit - e.c.Bytes() - held - forward
	}
	if err := j.Build(ctx, room); err != nil {
		return nil, nil, err
	}
	count(j.Counts)
	if p.JoinSeconds > p.TileSeconds && !forced {
		return why("tiles are faster")
	}
	p.Method = byJoin
	if p.Reason = "few pairs share an indexed term"; forced {
		p.Reason = "a join was requested"
	}
	return j, p, nil
}

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
	ns := pairs * ((values*cost.HeadValue+math.Ceil(values/32)*cost.HeadDocument)/float64(k.PanelWidth) + costTile)
	if e.c.Backend == nil {
		ns += float64(x.NNZ()) * costEngine
	}
	return ns / float64(e.c.Workers) / 1e9
}

// alwaysExactC is the largest c that tiles always compute from the difference of the vectors in
// float64, as a join does.
const alwaysExactC = device.CloseThreshold - 2*device.MaxError

// checker recomputes c in float64 for the candidate pairs of a join.
type checker struct {
	s             *search
	exact         func(aTerms []uint32, a []float64, bTerms []uint32, b []float64) float64
	dot           bool
	distanceBound float64   // upper bound on ‖x - y‖² for float32 values, see squaredDistanceBound
	units         []unitRow // indexed by worker
	mu            sync.Mutex
}

// unitRow holds unit vectors in float64: a of document row, and b of the last column document.
type unitRow struct {
	row  int
	a, b []float64
}

func (s *search) checker() *checker {
	if s.e.joinCount != nil {
		s.e.joinCount.Add(1)
	}
	p := s.e.c.X.Embedder.Pairing
	c := &checker{s: s, exact: panel.ExactFunc(p), dot: p == sparse.Cosine,
		distanceBound: squaredDistanceBound(float64(s.maxKey)),
		units:         make([]unitRow, s.e.c.Workers)}
	for w := range c.units {
		c.units[w].row = -1
	}
	return c
}

// c returns c of a pair in float64. For embeddings compared by dot products, ok is false if the
// distance of the float32 values already shows that c exceeds the bound. Otherwise ok is true.
func (k *checker) c(w, i, j int) (c float64, ok bool) {
	x, y := k.s.rows, k.s.e.c.X
	s, a := x.Row(i)
	t, b := y.Row(j)
	if k.dot && !isNear(s, a, t, b, k.distanceBound) {
		return 0, false
	}
	u := &k.units[w]
	if u.row != i {
		u.a, u.row = x.UnitVector64(i, u.a), i
	}
	u.b = y.UnitVector64(j, u.b)
	return k.exact(s, u.a, t, u.b), true
}

// squaredDistanceBound returns an upper bound on ‖x - y‖² for float32 vectors x and y whose exact c
// is at most c. Rounding to float32 moves each unit vector by at most 2⁻²⁴.
func squaredDistanceBound(c float64) float64 {
	far := math.Sqrt(2*c) + 0x1p-22
	return far * far
}

// isNear reports whether ‖x - y‖² <= most. The sparse vector x has terms s and values a, and y has
// terms t and values b.
func isNear(s []uint32, a []float32, t []uint32, b []float32, most float64) bool {
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

// findByJoin calls visit for all pairs that the search accepts. Calls aren't concurrent. Keys are
// below alwaysExactC and bit-identical to the keys from tiles. If a class of identical documents
// has more than maxCopies members, each further member is paired only with the first maxCopies
// members of each class.
func (s *search) findByJoin(
	ctx context.Context, j *join.Join, rows *sparse.Embedded, p *JoinPlan, maxCopies int,
	visit func(i, j int, key float32) error,
) (err error) {
	ctx, report := s.e.c.StartProgress(ctx, p.MatchCount)
	defer report.Finish(&err)
	k := s.checker()
	found := func(w, i, m int) error {
		c, ok := k.c(w, i, m)
		key := float32(c)
		if !ok || !(key <= s.maxKey) || !s.scan.Accept(i, m, key) {
			return context.Cause(ctx)
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		for at, a := range j.RowCopies(i) {
			others := j.ColumnCopies(m)
			if at >= maxCopies {
				others = others[:min(maxCopies, len(others))]
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
	if rows == nil && s.maxKey >= 0 {
		err = j.EachCopyGroup(func(same []uint32) error {
			if !s.scan.Accept(int(same[0]), int(same[1]), 0) {
				return context.Cause(ctx)
			}
			for at, i := range same[:min(maxCopies, len(same))] {
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
	return j.Run(ctx, report.Add, found)
}
