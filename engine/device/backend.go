package device

import (
	"context"
	"errors"
	"time"

	"github.com/gramengine/gram/sparse"
)

// Backend computes c = 1 - cosine between documents. Its columns are the documents that it was made
// for. The processor is one, and so is a GPU.
//
// It compares documents as their embedding says (sparse.Pairing), or refuses them when it is made.
// Its c keeps the promises of engine.Engine, with the same bits for (i, j) and (j, i), whatever
// rows and columns a request asks for.
type Backend interface {
	// Name says what it is, such as "avx512" or "cuda: NVIDIA H200".
	Name() string

	// Rows computes what r asks for and hands it to visit a tile at a time. Tiles of the same rows
	// come one after the other, their columns ascending. visit may be called from up to r.Workers
	// goroutines at the same time, and may write to the tile. An error of visit ends the
	// computation; so does the end of ctx, within a second, with its error.
	//
	// Rows may be called concurrently, but not by visit: a back end may do one thing at a time.
	// Where its memory doesn't hold the rows' documents beside the columns and a row of values the
	// error is ErrMemory.
	Rows(ctx context.Context, r *Request, visit func(t *Tile) error) error

	// HostBytes returns the machine's memory that it holds, beside the documents.
	HostBytes() int64

	// Close gives back all that it holds. It is called once, when no call of Rows is under way.
	Close() error
}

// ErrorC bounds the absolute error of c from CloseC on: 44 roundings of float32, which docs/design.md derives.
// A pair whose c is below CloseC is computed again in float64. [SlackC] holds for all c.
const (
	ErrorC = 44 * 0x1p-24 // 2.62e-6
	CloseC = 0.1
)

// SlackC bounds the absolute error of a computed c: min(ErrorC, ErrorC/CloseC·c), and the underflow of float32.
func SlackC(c float64) float64 { return min(ErrorC, ErrorC/CloseC*c) + 0x1p-150 }

// Accelerator is a [Backend] with a processor of its own. It may run a request's program, and few
// large requests suit it better than many small ones.
type Accelerator interface {
	Backend

	// BatchRows returns how many rows of other documents a request had best have.
	BatchRows() int
}

// Preparer is a [Backend] that computes with documents in a form of its own, and can make it once of
// rows' documents that many requests ask for.
type Preparer interface {
	Backend

	// Prepare returns documents in that form, for Request.Prepared. They are embedded by the embedder of
	// the columns, and must stay unchanged. It may be called concurrently.
	Prepare(ctx context.Context, x *sparse.Embedded) (Prepared, error)

	// PreparedBytes returns the most memory that the form of so many documents and values takes, beside
	// the documents, in bytes.
	PreparedBytes(rows int, values int64) int64
}

// Prepared are documents in the form of the back end that made it.
type Prepared any

// Counter is a [Backend] that counts what it does.
type Counter interface {
	Backend

	// Stats returns the counts of all computations that have ended.
	Stats() Stats
}

// ErrMemory says that a back end's own memory doesn't hold what was asked of it, such as the documents
// of a request, of which fewer may do.
var ErrMemory = errors.New("too little memory on the device")

// Stats counts what was computed. Times are sums over workers.
type Stats struct {
	Pairs       int64 // dot products
	Recomputed  int64 // of these, recomputed by the exact difference form
	HeadValues  int64 // values multiplied with a panel: times Kernels.Panel, the head's multiply-adds
	TailMatches int64 // the tail's multiply-adds

	// Of a search for neighbours on the processor: values at most the worst of a list when a part of a
	// tile was compared with the lists, and entries into lists, of which a value may make two. One
	// worker finds the same in each run; several, which meet lists at other times, somewhat more or fewer.
	Found, Entered int64

	Load  time.Duration // scattering documents into panels and finding their posting lists
	Tail  time.Duration // posting lists
	Head  time.Duration // panel dot products
	Close time.Duration // c from dot products, and the exact form for close pairs
	Map   time.Duration // kernels of c
	Store time.Duration // results to where they were asked for
}

// Add adds counts and times.
func (s *Stats) Add(o Stats) { *s = s.combined(o, 1) }

// Sub returns the difference of two counts, as of before and after a computation.
func (s Stats) Sub(before Stats) Stats { return s.combined(before, -1) }

// combined returns s + sign·o.
func (s Stats) combined(o Stats, sign int64) Stats {
	d := time.Duration(sign)
	return Stats{
		Pairs: s.Pairs + sign*o.Pairs, Recomputed: s.Recomputed + sign*o.Recomputed,
		HeadValues: s.HeadValues + sign*o.HeadValues, TailMatches: s.TailMatches + sign*o.TailMatches,
		Found: s.Found + sign*o.Found, Entered: s.Entered + sign*o.Entered,
		Load: s.Load + d*o.Load, Tail: s.Tail + d*o.Tail, Head: s.Head + d*o.Head,
		Close: s.Close + d*o.Close, Map: s.Map + d*o.Map, Store: s.Store + d*o.Store,
	}
}
