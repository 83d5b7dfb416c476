package landmarks

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/internal/learn/landmark"
)

// parseRequest parses a request in JSON. It doesn't check that the request fits the documents.
func parseRequest(text []byte) (*landmark.Request, error) {
	q := &landmark.Request{}
	if err := job.Decode(text, q); err != nil {
		return nil, fmt.Errorf("landmarks: invalid request: %w", err)
	}
	if q.Rows < 0 || q.Rows > math.MaxInt32*landmark.BlockRows {
		return nil, fmt.Errorf("landmarks: number of documents must be between 0 and %d, got %d",
			int64(math.MaxInt32*landmark.BlockRows), q.Rows)
	}
	return q, nil
}

// encodeSums encodes the sums of a block, in little-endian order. First come the number of
// products, the number of ranges, and the number of sums per range, as uint32. The products follow
// as float64. Each range then has its first row as uint64 and its sums as float64.
func encodeSums(s *landmark.Sums) []byte {
	of := 0
	if len(s.Ranges) > 0 {
		of = len(s.Ranges[0].Sums)
	}
	b := make([]byte, 0, 12+8*(len(s.Products)+len(s.Ranges)*(1+of)))
	for _, n := range []int{len(s.Products), len(s.Ranges), of} {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	b = encodeFloats(b, s.Products)
	for _, p := range s.Ranges {
		b = encodeFloats(binary.LittleEndian.AppendUint64(b, uint64(p.FirstRow)), p.Sums)
	}
	return b
}

func encodeFloats(b []byte, v []float64) []byte {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

func decodeSums(b []byte, q *landmark.Request, first, end int) (all []*landmark.Sums, err error) {
	for block := first; block < end; block++ {
		if len(b) < 12 {
			return nil, fmt.Errorf("data ends in block %d", block)
		}
		u := binary.LittleEndian.Uint32
		products, parts, of := int64(u(b)), int64(u(b[4:])), int64(u(b[8:]))
		b = b[12:]
		if left := int64(len(b)) / 8; of > left || parts > left || products+parts*(1+of) > left {
			return nil, fmt.Errorf("data ends in block %d", block)
		}
		s := &landmark.Sums{}
		s.Products, b = decodeFloats(b, int(products))
		for range parts {
			p := landmark.RangeSums{FirstRow: int(binary.LittleEndian.Uint64(b))}
			p.Sums, b = decodeFloats(b[8:], int(of))
			s.Ranges = append(s.Ranges, p)
		}
		if err := q.CheckSums(block, s); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	if len(b) > 0 {
		return nil, fmt.Errorf("result has %d extra bytes after the last block", len(b))
	}
	return all, nil
}

func decodeFloats(b []byte, n int) ([]float64, []byte) {
	v := make([]float64, n)
	for i := range v {
		v[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return v, b[8*n:]
}
