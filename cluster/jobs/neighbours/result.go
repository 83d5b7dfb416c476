package neighbours

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gramengine/gram/engine"
)

// A result holds the lists of a block's rows, then the lists of its columns. A list consists of the
// number of neighbours, then index and value of each neighbour, as little-endian 32-bit numbers.

func encodeLists(lists [][]engine.Neighbour) []byte {
	n := 4 * len(lists)
	for _, list := range lists {
		n += 8 * len(list)
	}
	b := make([]byte, 0, n)
	for _, list := range lists {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(list)))
		for _, v := range list {
			b = binary.LittleEndian.AppendUint32(b, v.Document)
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v.Value))
		}
	}
	return b
}

// decodeLists decodes the lists of the rows or, if wantColumns is set, of the columns. It fails
// unless b holds exactly rows + columns lists of up to k neighbours.
func decodeLists(b []byte, rows, columns, k int, wantColumns bool) ([][]engine.Neighbour, error) {
	lists := make([][]engine.Neighbour, 0, max(rows, columns))
	for at := range rows + columns {
		if len(b) < 4 {
			return nil, fmt.Errorf("result ends in list %d of %d", at, rows+columns)
		}
		count := uint64(binary.LittleEndian.Uint32(b))
		b = b[4:]
		if count > uint64(k) {
			return nil, fmt.Errorf("list %d has %d neighbours; the maximum is %d", at, count, k)
		}
		if 8*count > uint64(len(b)) {
			return nil, fmt.Errorf("list %d has %d neighbours, but only %d bytes are left", at, count, len(b))
		}
		if (at >= rows) == wantColumns {
			list := make([]engine.Neighbour, count)
			for i := range list {
				list[i] = engine.Neighbour{
					Document: binary.LittleEndian.Uint32(b[8*i:]),
					Value:    math.Float32frombits(binary.LittleEndian.Uint32(b[8*i+4:])),
				}
			}
			lists = append(lists, list)
		}
		b = b[8*count:]
	}
	if len(b) > 0 {
		return nil, fmt.Errorf("result has %d extra bytes after the last list", len(b))
	}
	return lists, nil
}
