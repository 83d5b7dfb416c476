package parquet

import "encoding/binary"

// thrift writes structs in Apache Thrift's compact protocol: fields in ascending order, each with
// its type and the difference from the previous field's number.
type thrift struct {
	out  []byte
	last []int // last field numbers of the enclosing structs
	now  int
}

// Types of fields.
const (
	wholes, longs, texts, lists, structs = 5, 6, 8, 9, 12
)

func (t *thrift) field(number, kind int) {
	t.out = append(t.out, byte((number-t.now)<<4|kind))
	t.now = number
}

func (t *thrift) zigzag(v int64)         { t.out = binary.AppendVarint(t.out, v) }
func (t *thrift) whole(n int, v int64)   { t.field(n, wholes); t.zigzag(v) }
func (t *thrift) long(n int, v int64)    { t.field(n, longs); t.zigzag(v) }
func (t *thrift) text(n int, s string)   { t.field(n, texts); t.bytes(s) }
func (t *thrift) begin(n int)            { t.field(n, structs); t.nest() }
func (t *thrift) bytes(s string)         { t.out = append(binary.AppendUvarint(t.out, uint64(len(s))), s...) }
func (t *thrift) nest()                  { t.last, t.now = append(t.last, t.now), 0 }
func (t *thrift) list(n, kind, size int) { t.field(n, lists); t.size(kind, size) }

func (t *thrift) size(kind, size int) {
	const long = 15
	if t.out = append(t.out, byte(min(size, long)<<4|kind)); size >= long {
		t.out = binary.AppendUvarint(t.out, uint64(size))
	}
}

// end ends a struct, including the outermost one.
func (t *thrift) end() {
	if t.out = append(t.out, 0); len(t.last) > 0 {
		t.now, t.last = t.last[len(t.last)-1], t.last[:len(t.last)-1]
	}
}
