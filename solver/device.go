package solver

import (
	"context"
	"errors"
	"math"
)

// DeviceScores keeps one problem in another memory than the processor's, such as that of a GPU: the
// scores of its variables, their masks, and rows of the matrix. A round of the search then moves no
// row. It reads back the ends of the scores, the candidates for the working set, and the part of
// the matrix at the working set's own columns.
//
// The operations are those of asm.Kernels, each rounded as it says there, so the search takes the
// same steps, to the bit, as on the processor with the same rows. Variables and documents go by
// their places in the problem; variable t belongs to document t modulo the number of documents.
//
// One goroutine uses it. It computes rows that aren't there, and returns within a second of the end
// of ctx, with its error.
type DeviceScores interface {
	// Put sets the scores and masks of all variables.
	Put(score []float64, mask []byte) error

	// Scores reads all scores back.
	Scores(score []float64) error

	// Extremes is asm.Kernels.Extremes of all variables.
	Extremes(up, low byte) (maxAt int, most float64, minAt int, least float64, err error)

	// Beyond is asm.Kernels.Beyond of all variables: it sets index[:n], increasing, and score[t]
	// for each t of these.
	Beyond(index []int32, score []float64, bit byte, way, above float64) (n int, err error)

	// Pick sets dst[r*len(vars)+c] to K between document docs[r] and that of variable vars[c], and
	// score[t] for each t in vars. The documents are different. It returns how many rows it had to
	// compute.
	Pick(ctx context.Context, docs, vars []int32, dst []float32, score []float64) (computed int, err error)

	// Add adds by[r] times the row of document docs[r] to the scores, r = 0, 1, … in turn, in all
	// variables of each column, as asm.Kernels.AddRows does, and sets the mask of variable
	// changed[i] to mask[i]. A document may come several times in docs. It returns how many rows it
	// had to compute.
	Add(ctx context.Context, docs []int32, by []float64, changed []int32, mask []byte) (computed int, err error)

	// Close frees what it takes. It is called once.
	Close() error
}

// deviceScores are the scores of a problem on a device. After an error it does nothing more, so
// that the choice of working sets needn't check each step.
type deviceScores struct {
	DeviceScores
	err error
	// Arguments, kept from round to round.
	docs, vars, places []int32
	masks              []byte
	picked             []float32
}

// openDevice moves a problem's scores and masks to a device if the options have one.
func (s *search) openDevice(d *dual) error {
	if s.opt.DeviceScores == nil {
		return nil
	}
	b, err := s.opt.DeviceScores(d.docs, len(d.sign)/len(d.docs))
	if err != nil {
		return err
	}
	if b == nil {
		return errUser("Options.DeviceScores returned neither scores nor an error")
	}
	d.device = &deviceScores{DeviceScores: b}
	s.devices = append(s.devices, d.device)
	d.push()
	return d.device.err
}

// closeDevice reads the scores of a problem back from its device, if it has one and err is nil, and
// closes that. It returns err, or else what went wrong on the device.
func (s *search) closeDevice(d *dual, err error) error {
	b := d.device
	if b == nil {
		return err
	}
	if err == nil {
		d.pull()
		err = b.err
	}
	d.device = nil
	s.devices = s.devices[:len(s.devices)-1]
	if closed := b.Close(); closed != nil {
		return errors.Join(err, closed)
	}
	return err
}

// closeDevices closes what a problem that ended with a panic left open.
func (s *search) closeDevices() {
	for len(s.devices) > 0 {
		last := len(s.devices) - 1
		b := s.devices[last]
		s.devices = s.devices[:last]
		_ = b.Close() // the panic says more
	}
}

// push copies scores and masks to the device.
func (d *dual) push() {
	if b := d.device; b != nil && b.err == nil {
		n := len(d.sign)
		b.err = b.Put(d.score[:n], d.mask[:n])
	}
}

// pull copies the scores from the device.
func (d *dual) pull() {
	if b := d.device; b != nil && b.err == nil {
		b.err = b.Scores(d.score[:len(d.sign)])
	}
}

// failed returns what went wrong on the device of a problem, if it has one.
func (d *dual) failed() error {
	if d.device == nil {
		return nil
	}
	return d.device.err
}

// extremes returns the ends of the scores; after an error no variable may move.
func (b *deviceScores) extremes(bits [2]byte) (e extremes) {
	if b.err == nil {
		e.hiAt, e.hi, e.loAt, e.lo, b.err = b.Extremes(bits[0], bits[1])
	}
	if b.err != nil {
		e = extremes{hi: math.Inf(-1), lo: math.Inf(1), hiAt: -1, loAt: -1}
	}
	return e
}

// beyond lists the variables beyond a bound, and reads their scores; after an error there are none.
func (b *deviceScores) beyond(index []int32, score []float64, end beyond, above float64) (n int) {
	if b.err == nil {
		n, b.err = b.Beyond(index, score, end.bit, end.way, above)
	}
	if b.err != nil {
		return 0
	}
	return n
}

// fetched counts rows that were needed.
func (s *search) fetched(asked, computed int) {
	s.store.asked += int64(asked)
	s.store.hits += int64(asked - computed)
}

// loadFromDevice reads what the inner problem needs of a working set: s.byVar[r] is the part of the
// row of the fresh variable in place r at the columns of the set, by place.
func (s *search) loadFromDevice(ctx context.Context, d *dual, set []int32) error {
	b, n := d.device, int32(len(d.docs))
	b.vars, b.places = b.vars[:0], b.places[:0]
	for r, t := range set {
		if t >= 0 {
			b.vars, b.places = append(b.vars, t), append(b.places, int32(r))
		}
	}
	b.docs, s.rowOf = b.docs[:0], s.rowOf[:0]
	for _, r := range s.choose.fresh {
		b.docs, s.rowOf = appendOnce(b.docs, s.rowOf, set[r]%n, len(d.sign) > len(d.docs))
	}
	if need := len(b.docs) * len(b.vars); len(b.picked) < need {
		b.picked = make([]float32, len(set)*len(set))
	}
	if b.err != nil {
		return b.err
	}
	var computed int
	if computed, b.err = b.Pick(ctx, b.docs, b.vars, b.picked[:len(b.docs)*len(b.vars)], d.score); b.err != nil {
		return b.err
	}
	s.fetched(len(b.docs), computed)
	for i, r := range s.choose.fresh {
		at := int(s.rowOf[i]) * len(b.vars)
		s.byVar[r] = b.picked[at : at+len(b.vars)]
	}
	clear(s.columns[:len(set)])
	for c, r := range b.places {
		s.columns[r] = int32(c)
	}
	return nil
}

// applyOnDevice adds what a round moved, s.by, to the scores: the variables changed.
func (s *search) applyOnDevice(ctx context.Context, d *dual, changed []int32) error {
	b, n := d.device, int32(len(d.docs))
	b.docs, b.masks = b.docs[:0], b.masks[:0]
	for _, t := range changed {
		b.docs, b.masks = append(b.docs, t%n), append(b.masks, d.mask[t])
	}
	return s.addOnDevice(ctx, d, b.docs, s.by, changed, b.masks)
}

// addOnDevice is DeviceScores.Add.
func (s *search) addOnDevice(
	ctx context.Context, d *dual, docs []int32, by []float64, changed []int32, mask []byte,
) error {
	b := d.device
	if b.err != nil {
		return b.err
	}
	var computed int
	if computed, b.err = b.Add(ctx, docs, by, changed, mask); b.err == nil {
		s.fetched(len(docs), computed)
	}
	return b.err
}
