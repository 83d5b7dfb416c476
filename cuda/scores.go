//go:build cuda && cgo && linux

package cuda

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/gramengine/gram/engine/device"
)

// problemScores are device.ProblemScores: those of one problem, beside the rows of a resident.
type problemScores struct {
	handle
	r         *resident
	docs      []int
	variables int
	blocks    int // of variables, in the searches through them

	pool        pool
	at          uint64 // address of a Board of kernels/shape.h
	score, mask memory
	ends        memory
	count       memory
	found       memory
	picked      memory // grows with what is asked for

	hostEnds  []ends
	hostFound []candidate
	words     []uint64
}

// As in kernels/shape.h.
type (
	ends struct {
		most, least     float64
		mostAt, leastAt int64
	}
	candidate struct {
		score float64
		at    int64
	}
)

// usualFound is how many candidates are read along with their number: more than a working set of
// the greatest size looks at on one side.
const usualFound = 1023

// NewScores makes the scores of a problem of copies variables for each of docs.
func (r *resident) NewScores(docs []int, copies int) (device.ProblemScores, error) {
	n := r.c.x.Rows()
	if len(docs) == 0 || copies < 1 || len(docs) > math.MaxInt32/copies {
		return nil, fmt.Errorf("cuda: scores of %d copies of %d documents, expected some, at most %d variables",
			copies, len(docs), math.MaxInt32)
	}
	column := make([]uint32, len(docs))
	for i, d := range docs {
		if d < 0 || d >= n {
			return nil, fmt.Errorf("cuda: scores of document %d, expected one from 0 to %d", d, n-1)
		}
		column[i] = uint32(d)
	}
	b := &problemScores{
		handle: handle{d: r.d, what: "scores on the GPU", of: &r.handle}, r: r,
		docs: slices.Clone(docs), variables: len(docs) * copies, pool: pool{d: r.d},
	}
	b.blocks = (b.variables + boardVariables - 1) / boardVariables
	err := r.with(&r.handle, func(cu.Stream) (err error) {
		b.begin()
		for m, bytes := range map[*memory]int{
			&b.score: 8 * b.variables,
			&b.mask:  4*b.variables + 4,
			&b.ends:  int(unsafe.Sizeof(ends{})) * b.blocks,
			&b.count: 4 * b.blocks,
			&b.found: int(unsafe.Sizeof(candidate{})) * (1 + b.variables),
		} {
			if *m, err = b.pool.alloc(int64(bytes)); err != nil {
				return err
			}
		}
		p := &r.parcel
		if err := p.begin(1024); err != nil {
			return err
		}
		columns, err := b.pool.alloc(int64(4*len(column) + 4))
		if err != nil {
			return err
		}
		if err := p.copy(columns.at, inWords(nil, column)); err != nil {
			return err
		}
		fields, err := b.pool.alloc(8 * 6)
		if err != nil {
			return err
		}
		b.at = uint64(fields.at)
		return p.copy(fields.at, []uint64{
			uint64(b.score.at), uint64(b.mask.at), uint64(columns.at), uint64(r.rows.at),
			uint64(len(docs)), uint64(b.variables),
		})
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the scores of %d variables on the GPU: %w", b.variables, err), b.Close())
	}
	return b, nil
}

// inWords puts pairs of values into words.
func inWords[T uint32 | byte](words []uint64, values []T) []uint64 {
	words = words[:0]
	for i, v := range values {
		if i%2 == 0 {
			words = append(words, uint64(v))
		} else {
			words[i/2] |= uint64(v) << 32
		}
	}
	return words
}

// Close gives its memory back; a second call does nothing.
func (b *problemScores) Close() error {
	return b.close(func() error { return errors.Join(b.pool.close(), b.d.free(&b.picked)) })
}

// below checks that indices are from 0 to before n.
func below(what string, indices []int32, n int) error {
	for i, v := range indices {
		if v < 0 || int(v) >= n {
			return fmt.Errorf("cuda: %s %d is %d, expected one from 0 to %d", what, i, v, n-1)
		}
	}
	return nil
}

// Put sets all scores and masks.
func (b *problemScores) Put(score []float64, mask []byte) error {
	if len(score) != b.variables || len(mask) != b.variables {
		return fmt.Errorf("cuda: %d scores and %d masks, expected %d of each", len(score), len(mask), b.variables)
	}
	return b.r.with(&b.handle, func(cu.Stream) error {
		p := &b.r.parcel
		bits := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(score))), len(score))
		if err := p.copy(b.score.at, bits); err != nil {
			return err
		}
		b.words = inWords(b.words, mask)
		return p.copy(b.mask.at, b.words)
	})
}

// Scores reads all scores.
func (b *problemScores) Scores(score []float64) error {
	if len(score) != b.variables {
		return fmt.Errorf("cuda: room for %d scores, expected %d", len(score), b.variables)
	}
	return b.r.with(&b.handle, func(cu.Stream) error { return fetch(b.score.at, score) })
}

// Extremes finds the ends of the scores: of each block on the device, of all of them here.
func (b *problemScores) Extremes(up, low byte) (maxAt int, most float64, minAt int, least float64, err error) {
	if len(b.hostEnds) == 0 {
		b.hostEnds = make([]ends, b.blocks)
	}
	err = b.r.with(&b.handle, func(stream cu.Stream) error {
		err := b.d.launch("extremes", b.r.solve.extremes, b.blocks, 1, boardThreads, 0, stream,
			b.at, uint64(b.ends.at), uint64(up), uint64(low))
		if err != nil {
			return err
		}
		if err := stream.Synchronize(); err != nil {
			return failed("cuStreamSynchronize", err)
		}
		return fetch(b.ends.at, b.hostEnds)
	})
	maxAt, most, minAt, least = -1, math.Inf(-1), -1, math.Inf(1)
	if err != nil {
		return maxAt, most, minAt, least, err
	}
	for _, e := range b.hostEnds { // in the order of the variables: the first of equal ones
		if e.most > most {
			maxAt, most = int(e.mostAt), e.most
		}
		if e.least < least {
			minAt, least = int(e.leastAt), e.least
		}
	}
	return maxAt, most, minAt, least, nil
}

// Beyond lists the variables beyond a bound: counted block by block, and then written where the
// counts say.
func (b *problemScores) Beyond(index []int32, score []float64, bit byte, way, above float64) (n int, err error) {
	if len(score) < b.variables {
		return 0, fmt.Errorf("cuda: room for %d scores, expected %d", len(score), b.variables)
	}
	err = b.r.with(&b.handle, func(stream cu.Stream) error {
		p := &b.r.parcel
		if err := p.begin(1024); err != nil {
			return err
		}
		bound := pack(p, []uint64{
			uint64(b.count.at), uint64(b.found.at), math.Float64bits(way), math.Float64bits(above),
			uint64(bit), uint64(b.blocks),
		})
		if err := p.send(); err != nil {
			return err
		}
		launch := func(name string, f cu.Function) error {
			return b.d.launch(name, f, b.blocks, 1, boardThreads, 0, stream, b.at, bound)
		}
		if err := launch("beyondCount", b.r.solve.beyondCount); err != nil {
			return err
		}
		if err := launch("beyondList", b.r.solve.beyondList); err != nil {
			return err
		}
		if err := stream.Synchronize(); err != nil {
			return failed("cuStreamSynchronize", err)
		}
		if b.hostFound == nil {
			b.hostFound = make([]candidate, min(1+usualFound, 1+b.variables))
		}
		if err := fetch(b.found.at, b.hostFound); err != nil {
			return err
		}
		n = int(b.hostFound[0].at)
		if n > len(index) {
			return fmt.Errorf("cuda: %d variables beyond a bound, room for %d", n, len(index))
		}
		if have := len(b.hostFound); 1+n > have {
			b.hostFound = append(b.hostFound, make([]candidate, 1+n-have)...)
			return fetch(b.found.at+cu.DevicePtr(unsafe.Sizeof(candidate{}))*cu.DevicePtr(have), b.hostFound[have:])
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for i, c := range b.hostFound[1 : 1+n] {
		index[i], score[c.at] = int32(c.at), c.score
	}
	b.hostFound = b.hostFound[:min(len(b.hostFound), 1+usualFound)]
	return n, nil
}

// documents translates places in the problem to documents of the matrix.
func (b *problemScores) documents(places []int32) []int {
	docs := make([]int, len(places))
	for i, p := range places {
		docs[i] = b.docs[p]
	}
	return docs
}

// Pick gathers the part of rows at the columns of variables, and their scores.
func (b *problemScores) Pick(
	ctx context.Context, docs, vars []int32, dst []float32, score []float64,
) (computed int, err error) {
	if len(dst) != len(docs)*len(vars) {
		return 0, fmt.Errorf("cuda: room for %d values of %d rows and %d columns", len(dst), len(docs), len(vars))
	}
	if len(docs) >= mostParts {
		return 0, fmt.Errorf("cuda: %d rows picked at a time, expected less than %d", len(docs), mostParts)
	}
	err = errors.Join(below("row", docs, len(b.docs)), below("variable", vars, min(b.variables, len(score))))
	if err != nil {
		return 0, err
	}
	if len(vars) == 0 {
		return 0, ctx.Err()
	}
	err = b.r.with(&b.handle, func(stream cu.Stream) error {
		p := &b.r.parcel
		if err := p.begin(b.r.parcelBytes(len(docs)) + 8*len(docs) + 8*len(vars) + 128); err != nil {
			return err
		}
		// Scores first, then the rows.
		bytes := 8*int64(len(vars)) + 4*int64(len(dst))
		if b.picked.bytes < bytes {
			if err := b.d.free(&b.picked); err != nil {
				return err
			}
			if b.picked, err = b.d.alloc(bytes); err != nil {
				return err
			}
		}
		w, err := b.r.want(b.documents(docs))
		if err != nil {
			return err
		}
		computed = len(w.missing)
		columns, variables := make([]uint32, len(vars)), make([]uint32, len(vars))
		for c, t := range vars {
			columns[c], variables[c] = uint32(b.docs[int(t)%len(b.docs)]), uint32(t)
		}
		values := b.picked.at + cu.DevicePtr(8*len(vars))
		picked := pack(p, []uint64{
			pack(p, w.from), pack(p, columns), pack(p, variables), uint64(values), uint64(b.picked.at),
			uint64(len(docs)), uint64(len(vars)),
		})
		if err := w.compute(ctx); err != nil {
			return err
		}
		grid := (len(vars) + pickThreads - 1) / pickThreads
		err = b.d.launch("pick", b.r.solve.pick, grid, len(docs)+1, pickThreads, 0, stream, b.at, picked)
		if err != nil {
			return err
		}
		if err := stream.Synchronize(); err != nil {
			return failed("cuStreamSynchronize", err)
		}
		scores := make([]float64, len(vars))
		if err := fetch(b.picked.at, scores); err != nil {
			return err
		}
		for c, t := range vars {
			score[t] = scores[c]
		}
		return fetch(values, dst)
	})
	return computed, err
}

// Add adds multiples of rows to all scores and sets masks.
func (b *problemScores) Add(
	ctx context.Context, docs []int32, by []float64, changed []int32, mask []byte,
) (computed int, err error) {
	if len(docs) != len(by) || len(changed) != len(mask) {
		return 0, fmt.Errorf("cuda: %d rows with %d factors, %d variables with %d masks, expected as many",
			len(docs), len(by), len(changed), len(mask))
	}
	if err := errors.Join(below("row", docs, len(b.docs)), below("variable", changed, b.variables)); err != nil {
		return 0, err
	}
	err = b.r.with(&b.handle, func(stream cu.Stream) error {
		p := &b.r.parcel
		if err := p.begin(b.r.parcelBytes(len(docs)) + 16*len(docs) + 8*len(changed) + 128); err != nil {
			return err
		}
		w, err := b.r.want(b.documents(docs))
		if err != nil {
			return err
		}
		computed = len(w.missing)
		variables, masks := make([]uint32, len(changed)), make([]uint32, len(changed))
		for i, t := range changed {
			variables[i], masks[i] = uint32(t), uint32(mask[i])
		}
		update := pack(p, []uint64{
			pack(p, w.from), pack(p, by), pack(p, variables), pack(p, masks),
			uint64(len(docs)), uint64(len(changed)),
		})
		if err := w.compute(ctx); err != nil {
			return err
		}
		grid := (len(b.docs) + boardThreads - 1) / boardThreads
		return b.d.launch("addRows", b.r.solve.addRows, grid, 1, boardThreads, 0, stream, b.at, update)
	})
	return computed, err
}
