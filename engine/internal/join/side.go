package join

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

type docSet struct {
	x        *sparse.Embedded
	distinct []uint32 // documents that aren't copies of earlier documents
	class    []uint32 // class of each document, as an index into distinct
	start    []uint32 // documents of class k are members[start[k]:start[k+1]]
	members  []uint32
	prefixes []prefixBlock // prefixes of the distinct documents
	sketches []sketch
}

func (s *docSet) copies(doc uint32) []uint32 {
	k := s.class[doc]
	return s.members[s.start[k]:s.start[k+1]]
}

const prefixBlockDocs = 1 << 10

// prefixBlock holds the prefixes of up to prefixBlockDocs documents, each sorted by rank.
type prefixBlock struct {
	offsets []uint32
	ranks   []uint32
	values  []float32
}

func (p *prefixBlock) docs() int { return len(p.offsets) - 1 }

func (p *prefixBlock) row(d int) ([]uint32, []float32) {
	lo, hi := p.offsets[d], p.offsets[d+1]
	return p.ranks[lo:hi], p.values[lo:hi]
}

func (s *docSet) row(k uint32) ([]uint32, []float32) {
	return s.prefixes[k/prefixBlockDocs].row(int(k % prefixBlockDocs))
}

func newDocSet(ctx context.Context, x *sparse.Embedded, workers int) (*docSet, error) {
	n := x.Rows()
	s := &docSet{x: x, class: make([]uint32, n)}
	hash := make([]uint64, n)
	err := run.Tasks(ctx, workers, (n+prefixBlockDocs-1)/prefixBlockDocs, func(_ context.Context, _, task int) error {
		for i := task * prefixBlockDocs; i < min((task+1)*prefixBlockDocs, n); i++ {
			terms, _ := x.Row(i)
			h := uint64(len(terms))
			for k, v := range x.RawValues[x.Offsets[i]:x.Offsets[i+1]] {
				h = splitMix64(h ^ (uint64(terms[k])<<32 | uint64(math.Float32bits(v))))
			}
			hash[i] = h
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	mask := uint64(1)<<bits.Len(uint(2*n+1)) - 1
	table := make([]uint32, mask+1) // per slot: index into distinct plus 1, or 0 if the slot is empty
	for i := range n {
		at := hash[i] & mask
		for ; ; at = (at + 1) & mask {
			if table[at] == 0 {
				s.distinct = append(s.distinct, uint32(i))
				table[at] = uint32(len(s.distinct))
				break
			}
			first := int(s.distinct[table[at]-1])
			if hash[first] == hash[i] && identicalRows(x, first, i) {
				break
			}
		}
		s.class[i] = table[at] - 1
	}
	s.start, s.members = make([]uint32, len(s.distinct)+1), make([]uint32, n)
	for _, k := range s.class {
		s.start[k+1]++
	}
	for k := range s.distinct {
		s.start[k+1] += s.start[k]
	}
	next := slices.Clone(s.start)
	for i, k := range s.class {
		s.members[next[k]] = uint32(i)
		next[k]++
	}
	return s, nil
}

// splitMix64 is the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
func splitMix64(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// identicalRows reports whether rows i and k have the same terms and raw values, so that results
// for both rows are bit-identical.
func identicalRows(x *sparse.Embedded, i, k int) bool {
	s, _ := x.Row(i)
	t, _ := x.Row(k)
	return slices.Equal(s, t) && slices.Equal(x.RawValues[x.Offsets[i]:x.Offsets[i+1]],
		x.RawValues[x.Offsets[k]:x.Offsets[k+1]])
}

func (j *Join) findPrefixes(ctx context.Context, s *docSet) error {
	n := len(s.distinct)
	s.prefixes, s.sketches = make([]prefixBlock, (n+prefixBlockDocs-1)/prefixBlockDocs), make([]sketch, n)
	scratch := make([]prefixFinder, j.workers)
	return run.Tasks(ctx, j.workers, len(s.prefixes), func(_ context.Context, id, task int) error {
		w, p := &scratch[id], prefixBlock{offsets: []uint32{0}}
		for k := task * prefixBlockDocs; k < min((task+1)*prefixBlockDocs, n); k++ {
			w.find(j, s, k)
			p.ranks = append(p.ranks, w.ranks...)
			p.values = append(p.values, w.values...)
			p.offsets = append(p.offsets, uint32(len(p.ranks)))
			s.sketches[k] = w.sketch(j, s, k)
		}
		s.prefixes[task] = prefixBlock{p.offsets, slices.Clip(slices.Clone(p.ranks)), slices.Clip(slices.Clone(p.values))}
		return nil
	})
}

type prefixFinder struct {
	heap   []uint64 // rank and index of values, smallest rank on top
	ranks  []uint32
	values []float32
}

// find stores the ranks and values in the prefix of distinct document k.
func (w *prefixFinder) find(j *Join, s *docSet, k int) {
	terms, values := s.x.Row(int(s.distinct[k]))
	w.heap, w.ranks, w.values = w.heap[:0], w.ranks[:0], w.values[:0]
	for at, t := range terms {
		w.heap = append(w.heap, uint64(j.rank[t])<<32|uint64(at))
	}
	for at := len(w.heap)/2 - 1; at >= 0; at-- {
		siftDown(w.heap, at)
	}
	length, least := 1+margin, j.tau*j.tau/(1+margin)
	for len(w.heap) > 0 && length >= least {
		top, last := w.heap[0], len(w.heap)-1
		w.heap[0], w.heap = w.heap[last], w.heap[:last]
		siftDown(w.heap, 0)
		v := values[uint32(top)]
		if s.x.Embedder.Pairing != sparse.Cosine {
			v = float32(math.Sqrt(float64(v)))
		}
		w.ranks, w.values = append(w.ranks, uint32(top>>32)), append(w.values, v)
		length -= float64(v) * float64(v)
	}
}

func siftDown(heap []uint64, at int) {
	for next := 2*at + 1; next < len(heap); next = 2*at + 1 {
		if next+1 < len(heap) && heap[next+1] < heap[next] {
			next++
		}
		if heap[at] <= heap[next] {
			return
		}
		heap[at], heap[next] = heap[next], heap[at]
		at = next
	}
}

const (
	sketchWords = 2
	sketchBits  = 64 * sketchWords
)

// sketch holds two bit sets of a document's sampled columns, which are columns with a small hash.
// all has a bit per sampled value, heavy a bit per sampled value with a square of at least share.
type sketch struct {
	all, heavy [sketchWords]uint64
	share      float32
}

// provesFar reports whether the sketches prove that the squared distance of x and y exceeds limit.
func (x *sketch) provesFar(y *sketch, limit float32) bool {
	sum := float32(bits.OnesCount64(x.heavy[0]&^y.all[0]))*x.share +
		float32(bits.OnesCount64(y.heavy[0]&^x.all[0]))*y.share
	if sum > limit {
		return true
	}
	sum += float32(bits.OnesCount64(x.heavy[1]&^y.all[1]))*x.share +
		float32(bits.OnesCount64(y.heavy[1]&^x.all[1]))*y.share
	return sum > limit
}

// sketch returns the sketch of document k. Heavy values are chosen so that share times the number
// of heavy values is nearly maximal.
func (w *prefixFinder) sketch(j *Join, s *docSet, k int) (out sketch) {
	terms, values := s.x.Row(int(s.distinct[k]))
	const half = 22 // number of bits dropped from a float32, which leaves two steps per power of 2
	var steps [128]uint16
	square := func(v float32) float32 {
		if s.x.Embedder.Pairing == sparse.Cosine {
			v *= v
		}
		return v
	}
	step := func(v float32) int { return int(math.Float32bits(v)>>half) - (127-63)*2 }
	for at, t := range terms {
		if h := uint32(splitMix64(uint64(t)+1) >> 32); h > j.sketchHashLimit {
			continue
		}
		if at := step(min(square(values[at]), 1)); at > 0 {
			steps[at]++
		}
	}
	lowest, count, best := len(steps), 0, float32(0)
	for at := len(steps) - 1; at > 0; at-- {
		count += int(steps[at])
		least := math.Float32frombits(uint32(at+(127-63)*2) << half)
		if v := float32(count) * least; steps[at] > 0 && v > best {
			lowest, best = at, v
		}
	}
	out.share = math.MaxFloat32
	for at, t := range terms {
		h := splitMix64(uint64(t) + 1)
		if uint32(h>>32) > j.sketchHashLimit {
			continue
		}
		place, v := uint32(h)%sketchBits, square(values[at])
		out.all[place/64] |= 1 << (place % 64)
		if step(min(v, 1)) >= lowest {
			out.heavy[place/64] |= 1 << (place % 64)
			out.share = min(out.share, v)
		}
	}
	if out.heavy == [sketchWords]uint64{} {
		out.share = 0
	}
	return out
}
