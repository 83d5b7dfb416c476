package device

import "context"

// Keeper is a [Backend] that can keep rows of a matrix, and what a solver adds them up to, in its
// own memory.
type Keeper interface {
	Backend

	// Resident makes room for rows of c, or of a program of it, between the back end's documents:
	// for all of them, or as many as memory holds. Their values have the bits of those that Rows
	// gives. Where it doesn't hold those of a working set, the error is ErrMemory.
	Resident(p *Program) (Resident, error)
}

// Resident keeps rows of a matrix where they are computed. It may be used concurrently.
type Resident interface {
	// NewScores makes the scores of a problem of copies variables for each of docs, documents of
	// the matrix.
	NewScores(docs []int, copies int) (ProblemScores, error)

	// Rows returns how many rows it has room for.
	Rows() int

	// Close gives back what it takes. It is called once, when its scores are closed.
	Close() error
}

// ProblemScores are the scores of one problem, beside the rows. See solver.DeviceScores for what
// its methods do.
type ProblemScores interface {
	Put(score []float64, mask []byte) error
	Scores(score []float64) error
	Extremes(up, low byte) (maxAt int, most float64, minAt int, least float64, err error)
	Beyond(index []int32, score []float64, bit byte, way, above float64) (n int, err error)
	Pick(ctx context.Context, docs, vars []int32, dst []float32, score []float64) (computed int, err error)
	Add(ctx context.Context, docs []int32, by []float64, changed []int32, mask []byte) (computed int, err error)
	Close() error
}
