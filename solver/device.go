package solver

import (
	"context"
	"errors"
	"math"
)

// DeviceScores is what another memory than the processor's, such as that of a device, holds of one
// problem: the scores of its variables, their masks, and rows of the matrix, which stay there. A
// round of the search then moves no row: what comes back are the ends of the scores, the candidates
// for the working set, and the part of the matrix at the working set's own columns.
//
// Its operations are those of asm.Kernels, operation for operation, each rounded as it says there:
// the search takes the same steps, to the bit, as it takes on the processor with the same rows.
// Variables and documents go by their places in the problem; variable t belongs to document t
// modulo the number of documents. A DeviceScores belongs to one goroutine. Rows that aren't there are
// computed; that returns within a second of the end of ctx, with its error.
type DeviceScores interface {
	// Put sets all scores and masks, of which there are as many as variables.
	Put(score []float64, mask []byte) error

	// Scores reads all scores back.
	Scores(score []float64) error

	// Extremes is asm.Kernels.Extremes of all variables.
	Extremes(up, low byte) (maxAt int, most float64, minAt int, least float64, err error)

	// Beyond is asm.Kernels.Beyond of all variables: it sets index[:n], increasing, and beside it
	// score[t] for each t of these.
	Beyond(index []int32, score []float64, bit byte, way, above float64) (n int, err error)

	// Pick sets dst[r*len(vars)+c] to K between document docs[r] and that of variable vars[c], and
	// score[t] for each t in vars. No document comes twice in docs. It returns how many rows had to
	// be computed.
	Pick(ctx context.Context, docs, vars []int32, dst []float32, score []float64) (computed int, err error)

	// Add adds by[r] times the row of document docs[r] to the scores, r = 0, 1, … in turn, in all
	// variables of each column, as asm.Kernels.AddRows does, and sets the mask of the variables
	// changed[i] to mask[i]. A document may come several times in docs. It returns how many rows
	// had to be computed.
	Add(ctx context.Context, docs []int32, by []float64, changed []int32, mask []byte) (computed int, err error)

	// Close gives back what it takes. It is called once.
	Close() error
}

// A remote is the board of a problem. After an error it does nothing more, so that those who choose
// working sets needn't look at each step.
type remote struct {
	DeviceScores
	err error
	// What is handed to it, kept from round to round.
	docs, vars, places []int32
	masks              []byte
	picked             []float32
}

// open gives a problem a board if the options have them, with its scores and masks.
func (s *search) open(d *dual) error {
	if s.opt.DeviceScores == nil {
		return nil
	}
	b, err := s.opt.DeviceScores(d.docs, len(d.sign)/len(d.docs))
	if err != nil {
		return err
	}
	if b == nil {
		return errUser("Options.DeviceScores returned neither a board nor an error")
	}
	d.board = &remote{DeviceScores: b}
	s.boards = append(s.boards, d.board)
	d.push()
	return d.board.err
}

// shut takes the scores over from the board of a problem, if it has one and nothing is wrong, and
// closes that. The error is err, or else what went wrong on the board.
func (s *search) shut(d *dual, err error) error {
	if d.board == nil {
		return err
	}
	if err == nil {
		d.pull()
	}
	b := d.board
	d.board = nil
	if err == nil {
		err = b.err
	}
	s.boards = s.boards[:len(s.boards)-1]
	if closed := b.Close(); closed != nil {
		return errors.Join(err, closed)
	}
	return err
}

// closeBoards closes the boards of a problem that ended with a panic.
func (s *search) closeBoards() {
	for len(s.boards) > 0 {
		last := len(s.boards) - 1
		b := s.boards[last]
		s.boards = s.boards[:last]
		_ = b.Close() // the panic says more
	}
}

// push makes scores and masks the board's.
func (d *dual) push() {
	if b := d.board; b != nil && b.err == nil {
		n := len(d.sign)
		b.err = b.Put(d.score[:n], d.mask[:n])
	}
}

// pull makes the board's scores those of the problem.
func (d *dual) pull() {
	if b := d.board; b != nil && b.err == nil {
		b.err = b.Scores(d.score[:len(d.sign)])
	}
}

// extremes returns the ends of the scores on the board; where that fails no variable may move.
func (r *remote) extremes(bits [2]byte) (e extremes) {
	if r.err == nil {
		e.hiAt, e.hi, e.loAt, e.lo, r.err = r.Extremes(bits[0], bits[1])
	}
	if r.err != nil {
		e = extremes{hi: math.Inf(-1), lo: math.Inf(1), hiAt: -1, loAt: -1}
	}
	return e
}

// beyond lists the variables beyond a bound, and brings their scores.
func (r *remote) beyond(index []int32, score []float64, b beyond, above float64) (n int) {
	if r.err == nil {
		n, r.err = r.Beyond(index, score, b.bit, b.way, above)
	}
	if r.err != nil {
		return 0
	}
	return n
}

// Pick is DeviceScores.Pick.
func (r *remote) Pick(ctx context.Context, docs, vars []int32, dst []float32, score []float64) (computed int, err error) {
	if r.err == nil {
		computed, r.err = r.DeviceScores.Pick(ctx, docs, vars, dst, score)
	}
	return computed, r.err
}

// Add is DeviceScores.Add.
func (r *remote) Add(ctx context.Context, docs []int32, by []float64, changed []int32, mask []byte) (computed int, err error) {
	if r.err == nil {
		computed, r.err = r.DeviceScores.Add(ctx, docs, by, changed, mask)
	}
	return computed, r.err
}

// failed returns what went wrong on the board of a problem, if it has one.
func (d *dual) failed() error {
	if d.board == nil {
		return nil
	}
	return d.board.err
}

// fetched counts rows that were needed.
func (s *search) fetched(asked, computed int) {
	s.store.asked += int64(asked)
	s.store.hits += int64(asked - computed)
}

// loadBoard brings what the inner problem needs of a working set: s.byVar[r] is the part of the row
// of a fresh variable in place r at the columns of the set, by place.
func (s *search) loadBoard(ctx context.Context, d *dual, set []int32) error {
	b, n := d.board, int32(len(d.docs))
	b.vars, b.places = b.vars[:0], b.places[:0]
	for r, t := range set {
		if t >= 0 {
			b.vars, b.places = append(b.vars, t), append(b.places, int32(r))
		}
	}
	b.docs = b.docs[:0]
	rowOf := s.rowOf[:0]
	for _, r := range s.choose.fresh {
		b.docs, rowOf = appendOnce(b.docs, rowOf, set[r]%n, len(d.sign) > len(d.docs))
	}
	s.rowOf = rowOf
	if need := len(b.docs) * len(b.vars); len(b.picked) < need {
		b.picked = make([]float32, len(set)*len(set))
	}
	computed, err := b.Pick(ctx, b.docs, b.vars, b.picked[:len(b.docs)*len(b.vars)], d.score)
	if err != nil {
		return err
	}
	s.fetched(len(b.docs), computed)
	for i, r := range s.choose.fresh {
		at := int(rowOf[i]) * len(b.vars)
		s.byVar[r] = b.picked[at : at+len(b.vars)]
	}
	clear(s.columns[:len(set)])
	for c, r := range b.places {
		s.columns[r] = int32(c)
	}
	return nil
}

// appendOnce adds a document to a list in which none comes twice, and where it stands there to
// another; where no two variables have the same one, that needn't be looked into.
func appendOnce(docs, at []int32, doc int32, shared bool) (_, _ []int32) {
	if shared {
		for i, u := range docs {
			if u == doc {
				return docs, append(at, int32(i))
			}
		}
	}
	return append(docs, doc), append(at, int32(len(docs)))
}

// applyBoard adds what a round moved to the scores on the board: the variables of the set whose
// places are in moved, and s.by.
func (s *search) applyBoard(ctx context.Context, d *dual, changed []int32) error {
	b, n := d.board, int32(len(d.docs))
	b.docs, b.masks = b.docs[:0], b.masks[:0]
	for _, t := range changed {
		b.docs, b.masks = append(b.docs, t%n), append(b.masks, d.mask[t])
	}
	computed, err := b.Add(ctx, b.docs, s.by, changed, b.masks)
	s.fetched(len(b.docs), computed)
	return err
}
