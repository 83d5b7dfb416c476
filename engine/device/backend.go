package device

import (
	"context"
	"errors"
	"time"

	"github.com/gramengine/gram/sparse"
)

// Backend computes c = 1 - cosine, or 1 - similarity for the documents' sparse.Pairing. Rows are
// the documents of a request, and columns the documents that the back end was made for. Values must
// have the accuracy and symmetry that engine.Engine documents.
type Backend interface {
	// Name returns a description, such as "avx512" or "cuda: NVIDIA H200".
	Name() string

	// ComputeRows computes r and calls visit for each tile, from up to r.Workers goroutines. Tiles
	// of the same rows are visited consecutively, with ascending columns. visit may write to the
	// tile. ComputeRows stops if visit fails, or within a second after ctx is done. ComputeRows may
	// be called concurrently, but not by visit. It returns ErrMemory if the documents and a single
	// row of values don't fit in the device's memory.
	ComputeRows(ctx context.Context, r *Request, visit func(t *Tile) error) error

	// HostBytes returns the allocated host memory in bytes, excluding the documents.
	HostBytes() int64

	// Close frees all resources. It is called once, when no call of ComputeRows is running.
	Close() error
}

// MaxError bounds the absolute error of c >= CloseThreshold by 44 float32 roundings, as derived in
// docs/design.md. Smaller c are recomputed in float64. [ErrorBound] bounds the error for all c.
const (
	MaxError       = 44 * 0x1p-24 // 2.62e-6
	CloseThreshold = 0.1
)

// ErrorBound returns a bound on the absolute error of a computed c: min(MaxError,
// MaxError/CloseThreshold·c) plus 2⁻¹⁵⁰ for underflow.
func ErrorBound(c float64) float64 { return min(MaxError, MaxError/CloseThreshold*c) + 0x1p-150 }

// Accelerator is a [Backend] with its own processor and memory. It may apply the [Program] of a
// kernel. It reaches full speed only with large requests.
type Accelerator interface {
	Backend

	// BatchRows returns the best number of rows per request with test documents.
	BatchRows() int
}

// Preparer is a [Backend] that can convert row documents once for many requests.
type Preparer interface {
	Backend

	// Prepare converts documents for Request.Prepared. The documents must not change. Prepare may
	// be called concurrently.
	Prepare(ctx context.Context, x *sparse.Embedded) (Prepared, error)

	// PreparedBytes returns an upper bound on the memory of converted documents in bytes, excluding
	// the original documents.
	PreparedBytes(rows int, values int64) int64
}

// Prepared holds documents in the format of the back end that converted them.
type Prepared any

// Counter is a [Backend] that counts its computations.
type Counter interface {
	Backend

	// Stats returns the counts of all completed computations.
	Stats() Stats
}

// ErrMemory reports that a request exceeds the back end's memory. A smaller request may fit.
var ErrMemory = errors.New("too little memory on the device")

// Stats holds counters of computations. Times are sums over workers.
type Stats struct {
	Pairs           int64 // number of dot products
	RecomputedPairs int64 // number of pairs recomputed by the exact difference formula
	HeadValues      int64 // number of values multiplied by a row of a panel, with Kernels.PanelWidth multiply-adds each
	TailMatches     int64 // number of multiply-adds of the tail

	// Number of values below the limit of a neighbour list on the CPU, and number of insertions
	// into lists, up to two per value. With several workers both numbers vary between runs.
	NeighbourCandidates, NeighbourInsertions int64

	LoadTime    time.Duration // time for scattering documents into panels, and for finding posting lists
	TailTime    time.Duration // time for products of the tail
	HeadTime    time.Duration // time for products of the head
	ConvertTime time.Duration // time for converting dot products to c, and for recomputing close pairs
	MapTime     time.Duration // time for applying kernels to c
	StoreTime   time.Duration // time for writing results to the destination
}

// Add adds the counts and times of o to s.
func (s *Stats) Add(o Stats) { *s = s.combined(o, 1) }

// Sub returns s - before, for example the counts of a single computation.
func (s Stats) Sub(before Stats) Stats { return s.combined(before, -1) }

func (s Stats) combined(o Stats, sign int64) Stats {
	d := time.Duration(sign)
	return Stats{
		Pairs: s.Pairs + sign*o.Pairs, RecomputedPairs: s.RecomputedPairs + sign*o.RecomputedPairs,
		HeadValues: s.HeadValues + sign*o.HeadValues, TailMatches: s.TailMatches + sign*o.TailMatches,
		NeighbourCandidates: s.NeighbourCandidates + sign*o.NeighbourCandidates,
		NeighbourInsertions: s.NeighbourInsertions + sign*o.NeighbourInsertions,
		LoadTime:            s.LoadTime + d*o.LoadTime, TailTime: s.TailTime + d*o.TailTime, HeadTime: s.HeadTime +
			d*o.HeadTime,
		ConvertTime: s.ConvertTime + d*o.ConvertTime, MapTime: s.MapTime + d*o.MapTime, StoreTime: s.StoreTime +
			d*o.StoreTime,
	}
}
