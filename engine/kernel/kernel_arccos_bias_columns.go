package kernel

import (
	"bytes"
	"math"
	"sync"
	"sync/atomic"
	"unsafe"
	"weak"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/internal/arccosine"
)

// biasColumns are the columns of a block as asm.Kernels.BivariateTail wants them. To make them
// takes as long as to map some twenty rows: where there are fewer rows, as where one row is read,
// or for a kernel that is part of another, those of the blocks before are kept.
type biasColumns struct {
	bias, sigma float64
	y           []float32 // the norms they are of
	gaps        []float64 // smoothGap of them, for smoothed thresholds
	sides       []float32
}

const (
	biasFewRows = 16 // with fewer rows than these, columns are kept
	biasSets    = 8
	biasWays    = 16 // places that columns may have
	biasStay    = 8  // of so many columns that find no place one takes another's: rows that are read one after the other from more blocks than are kept then find most of those
)

// biasStore keeps columns of any kernel, at most 128 of 23 KiB each: those of 32,768 documents. They are immutable.
type biasStore struct {
	at   [biasSets][biasWays]atomic.Pointer[biasColumns]
	turn atomic.Uint32
}

// biasShared is the store of all who map biased kernels at present, whose rooms hold it: it goes with the last of these, which a pool lets go when nobody uses them.
var biasShared struct {
	sync.Mutex
	store weak.Pointer[biasStore]
}

func sharedBiasStore() *biasStore {
	biasShared.Lock()
	defer biasShared.Unlock()
	s := biasShared.store.Value()
	if s == nil {
		s = new(biasStore)
		biasShared.store = weak.Make(s)
	}
	return s
}

// make computes the columns of norms y, in the memory that s has.
func (s *biasColumns) make(f arcBias, y []float32) {
	s.bias, s.sigma = f.bias, f.sigma
	s.y, s.gaps = append(s.y[:0], y...), s.gaps[:0]
	table := arccosine.AllSides()
	groups := (len(y) + asm.BivariateGroup - 1) / asm.BivariateGroup
	if need := groups * asm.BivariateGroup * asm.BivariateNumbers; cap(s.sides) < need {
		s.sides = make([]float32, need)
	} else {
		s.sides = s.sides[:need]
	}
	if len(y)%asm.BivariateGroup != 0 {
		clear(s.sides[(groups-1)*asm.BivariateGroup*asm.BivariateNumbers:]) // nothing may be left behind the last column that is no number
	}
	for j, v := range y {
		if f.sigma > 0 {
			s.gaps = append(s.gaps, smoothGap(float64(v), f.sigma))
		}
		table.At(s.sides[j/asm.BivariateGroup*asm.BivariateGroup*asm.BivariateNumbers+j%asm.BivariateGroup:], asm.BivariateGroup, math.Abs(f.bias)/f.lengthenedNorm(v), f.bias < 0)
	}
}

// is tells whether these are the columns of norms y.
func (s *biasColumns) is(f arcBias, y []float32) bool {
	return s != nil && s.bias == f.bias && s.sigma == f.sigma && bytes.Equal(bits(s.y), bits(y))
}

// bits returns the memory of v: it is compared for every row, and so that takes no time.
func bits(v []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v))
}

// columns returns the columns of norms y, not none, which the caller doesn't change: some that are kept, new ones to be kept or, where they find no place, spare.
func (t *biasStore) columns(f arcBias, y []float32, spare *biasColumns) *biasColumns {
	const odd = 0x9e3779b97f4a7c15
	hash := math.Float64bits(f.bias)*odd ^ math.Float64bits(f.sigma)
	for j := 0; j < len(y); j += 1 + len(y)/16 {
		hash = (hash ^ uint64(math.Float32bits(y[j]))) * odd
	}
	ways := &t.at[hash>>32%biasSets]
	free := -1
	for w := range ways {
		s := ways[w].Load()
		if s.is(f, y) {
			return s
		}
		if s == nil {
			free = w
		}
	}
	if free < 0 {
		turn := t.turn.Add(1)
		if turn%biasStay != 0 {
			spare.make(f, y)
			return spare
		}
		free = int(turn / biasStay % biasWays)
	}
	s := new(biasColumns)
	s.make(f, y)
	ways[free].Store(s)
	return s
}
