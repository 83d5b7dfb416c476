package ptxsim

import (
	"fmt"
	"math"
	"unsafe"
)

// State of a thread.
const (
	ready = iota
	waiting
	inWarp // at an instruction that a warp executes together
	done
)

type thread struct {
	registers []uint64
	written   []bool
	pc        int
	state     int
	waitsAt   int // the barrier
	at        [2]uint32
	b         *block
	local     []byte // memory of its own
}

type block struct {
	e       *Entry
	g       *Grid
	at      [2]uint32
	shared  []byte
	threads []*thread
}

// Grid is a launch: its dimensions, its bytes of dynamic shared memory, and the memory that it may
// use.
type Grid struct {
	Blocks, Threads [2]uint32
	Dynamic         int
	Instructions    int64 // that were run

	buffers   []buffer
	arguments []byte
}

type buffer struct {
	base  uint64
	bytes []byte
}

// Buffer adds device memory that is values, and returns its address. Buffers are far from each
// other.
func Buffer[T any](g *Grid, values []T) uint64 {
	base := uint64(len(g.buffers)+1) << 40
	var b []byte
	if len(values) > 0 {
		b = unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(values)*int(unsafe.Sizeof(values[0])))
	}
	g.buffers = append(g.buffers, buffer{base, b})
	return base
}

// memory returns bytes that a thread may access.
func (t *thread) memory(space string, at uint64, n int) []byte {
	if at%uint64(n) != 0 {
		fail("%s: a misaligned access of %d bytes at %#x by %s", t.b.e.Name, n, at, t.b.e.text[t.pc])
	}
	if space == "local" {
		if at+uint64(n) > uint64(len(t.local)) {
			fail("%s: an access of local memory at %d of %d by %s", t.b.e.Name, at, len(t.local), t.b.e.text[t.pc])
		}
		return t.local[at : at+uint64(n)]
	}
	if space == "shared" {
		if at+uint64(n) > uint64(len(t.b.shared)) {
			fail("%s: an access of shared memory at %d of %d by %s", t.b.e.Name, at, len(t.b.shared), t.b.e.text[t.pc])
		}
		return t.b.shared[at : at+uint64(n)]
	}
	for _, b := range t.b.g.buffers {
		if at >= b.base && at+uint64(n) <= b.base+uint64(len(b.bytes)) {
			return b.bytes[at-b.base:][:n]
		}
	}
	fail("%s: an access outside of memory at %#x, thread %v of block %v, by %s",
		t.b.e.Name, at, t.at, t.b.at, t.b.e.text[t.pc])
	return nil
}

// Run launches a kernel with arguments uint64, int32 or uint32, in order.
func (m *Module) Run(name string, g *Grid, arguments ...any) (err error) {
	defer caught(&err)
	e := m.Entries[name]
	if e == nil {
		return fmt.Errorf("ptx: no entry %s", name)
	}
	if len(arguments) != len(e.params) {
		return fmt.Errorf("ptx: %s has %d parameters, got %d", name, len(e.params), len(arguments))
	}
	g.arguments = make([]byte, e.paramBytes)
	for _, p := range e.params {
		var v uint64
		size := 4
		switch a := arguments[p.index].(type) {
		case uint64:
			v, size = a, 8
		case int32:
			v = uint64(uint32(a))
		case uint32:
			v = uint64(a)
		default:
			return fmt.Errorf("ptx: argument %d is a %T", p.index, a)
		}
		if size != p.size {
			return fmt.Errorf("ptx: parameter %d of %s has %d bytes, got %d", p.index, name, p.size, size)
		}
		store(g.arguments[p.offset:][:p.size], v)
	}
	n := int(g.Threads[0] * g.Threads[1])
	if e.MaxThreads > 0 && n > e.MaxThreads {
		return fmt.Errorf("ptx: %s with %d threads, expected at most %d", name, n, e.MaxThreads)
	}
	for y := range g.Blocks[1] {
		for x := range g.Blocks[0] {
			b := &block{e: e, g: g, at: [2]uint32{x, y}, shared: make([]byte, int(e.static)+g.Dynamic)}
			for i := range b.shared {
				b.shared[i] = math.MaxUint8 // NaN
			}
			for i := range uint32(n) {
				b.threads = append(b.threads, &thread{
					registers: make([]uint64, len(e.kinds)), written: make([]bool, len(e.kinds)), b: b,
					at: [2]uint32{i % g.Threads[0], i / g.Threads[0]}, local: make([]byte, e.local),
				})
			}
			b.run()
		}
	}
	return nil
}

// run runs each thread to its next barrier, in turn, until all are done.
func (b *block) run() {
	for {
		for _, t := range b.threads {
			for t.state == ready {
				b.e.code[t.pc](t)
				b.g.Instructions++
			}
		}
		if b.together() {
			continue
		}
		ended, waits, at := 0, 0, -1
		for _, t := range b.threads {
			switch t.state {
			case done:
				ended++
			case waiting:
				waits++
				if at >= 0 && at != t.waitsAt {
					fail("%s: threads wait at different barriers", b.e.Name)
				}
				at = t.waitsAt
			}
		}
		if ended == len(b.threads) {
			return
		}
		if waits != len(b.threads) {
			fail("%s: a barrier is reached by %d of %d threads", b.e.Name, waits, len(b.threads))
		}
		for _, t := range b.threads {
			t.state = ready
		}
	}
}
