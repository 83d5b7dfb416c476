//go:build cuda && cgo && linux

package cuda

import (
	"fmt"
	"math"
	"unsafe"
)

// State of a thread.
const (
	ready = iota
	waiting
	inWarp // waits at an instruction that a warp executes together
	done
)

type thread struct {
	registers []uint64
	written   []bool
	pc        int
	state     int
	waitsAt   int // index of the barrier
	at        [2]int
	b         *block
	local     []byte // local memory
}

type block struct {
	e       *ptxEntry
	g       *ptxGrid
	at      [2]int
	shared  []byte
	threads []*thread
}

// ptxGrid is a launch: its dimensions, its dynamic shared memory in bytes, and the memory that it
// may access.
type ptxGrid struct {
	Blocks  [2]int
	Threads int
	Dynamic int
	Memory  [][]byte

	arguments []byte
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
	for _, m := range t.b.g.Memory {
		base := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(m))))
		if at >= base && at+uint64(n) <= base+uint64(len(m)) {
			return m[at-base:][:n]
		}
	}
	fail("%s: an access outside of memory at %#x, thread %v of block %v, by %s",
		t.b.e.Name, at, t.at, t.b.at, t.b.e.text[t.pc])
	return nil
}

// Run launches a kernel with arguments in order. Arguments must fit into their parameters.
func (m *ptxModule) Run(name string, g *ptxGrid, arguments ...uint64) (err error) {
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
		v := arguments[p.index]
		if v>>(8*p.size-1)>>1 != 0 {
			return fmt.Errorf("ptx: parameter %d of %s has %d bytes, got %#x", p.index, name, p.size, v)
		}
		store(g.arguments[p.offset:][:p.size], v)
	}
	if e.MaxThreads > 0 && g.Threads > e.MaxThreads {
		return fmt.Errorf("ptx: %s with %d threads, expected at most %d", name, g.Threads, e.MaxThreads)
	}
	for y := range g.Blocks[1] {
		for x := range g.Blocks[0] {
			b := &block{e: e, g: g, at: [2]int{x, y}, shared: make([]byte, int(e.static)+g.Dynamic)}
			for i := range b.shared {
				b.shared[i] = math.MaxUint8 // NaN
			}
			for i := range g.Threads {
				b.threads = append(b.threads, &thread{
					registers: make([]uint64, len(e.kinds)), written: make([]bool, len(e.kinds)), b: b,
					at: [2]int{i, 0}, local: make([]byte, e.local),
				})
			}
			b.run()
		}
	}
	return nil
}

// run runs each warp in turn to its next barrier, until all are done. So a warp without a necessary
// barrier runs as early as possible.
func (b *block) run() {
	for {
		for from := 0; from < len(b.threads); from += warpSize {
			w := b.threads[from:min(from+warpSize, len(b.threads))]
			for again := true; again; again = b.together(w) {
				for _, t := range w {
					for t.state == ready {
						at := t.pc
						if b.e.code[at](t); t.pc == at && t.state != inWarp {
							t.pc++
						}
					}
				}
			}
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
