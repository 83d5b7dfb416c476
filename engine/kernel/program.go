package kernel

import "github.com/gramengine/gram/engine/device"

// ProgramOf translates a kernel into a program for a back end. It returns nil if the kernel isn't
// resolved, if it calls a Go function for each pair, if programs don't support one of its
// functions, if a table is inaccurate, or if the program exceeds a limit of package device.
func ProgramOf(k Kernel) *device.Program {
	of := k.(*kernel)
	if of.dependsOnData {
		return nil
	}
	e := of.mapPlan().e
	n := len(e.nodes)
	b := &programBuilder{e: e, ok: true, uses: make([]int, n), size: make([]int, n), depth: make([]int, n),
		local: make([]int, n)}
	for i := range e.nodes {
		b.size[i], b.local[i], b.depth[i] = 1, -1, 1
		for k, of := range e.nodes[i].operands() {
			b.uses[of]++
			b.size[i] += b.size[of]
			b.depth[i] = max(b.depth[i], b.depth[of]+k)
		}
		if a, d := &e.nodes[i], b.depth; b.needsSwap(a) {
			d[i] = max(d[a.b], d[a.a]+1)
		}
	}
	for _, n := range e.attributes {
		b.program.Attributes = append(b.program.Attributes, n.f)
	}
	b.push(ref(len(e.nodes) - 1))
	if !b.ok || b.program.Validate() != nil {
		return nil
	}
	return &b.program
}

// programBuilder turns an expression into instructions of a stack machine. It stores a node of more
// than a few instructions in a local variable if the node is used more than once.
type programBuilder struct {
	program    device.Program
	e          *expr
	uses, size []int // per node: number of nodes that use it, number of instructions
	local      []int // local variable of each node, or -1
	depth      []int // stack depth that each node needs
	ok         bool
}

func (b *programBuilder) emit(emit device.Op, n int) {
	b.program.Instructions = append(b.program.Instructions, device.Instruction{Op: emit, Arg: n})
	b.ok = b.ok && len(b.program.Instructions) <= device.MaxCode
}

func (b *programBuilder) emitConst(op device.Op, v float64) {
	b.program.Consts = append(b.program.Consts, v)
	b.emit(op, len(b.program.Consts)-1)
}

// needsSwap reports whether the second operand is pushed first, because it needs the deeper stack.
func (b *programBuilder) needsSwap(n *node) bool {
	return (n.op == opAdd || n.op == opMul) && b.depth[n.b] > b.depth[n.a]
}

func (b *programBuilder) pushAll(of ...ref) {
	for _, r := range of {
		b.push(r)
	}
}

func (b *programBuilder) push(r ref) {
	if !b.ok {
		return
	}
	if b.local[r] >= 0 {
		b.emit(device.OpLocal, b.local[r])
		return
	}
	n := b.e.nodes[r]
	switch n.op {
	case opC:
		b.emit(device.OpC, 0)
	case opConst:
		b.emitConst(device.OpConst, n.v)
	case opX:
		b.emit(device.OpX, n.n)
	case opY:
		b.emit(device.OpY, n.n)
	case opDist:
		b.pushAll(n.a, n.b)
		b.emit(device.OpSub, 0)
		b.emit(device.OpIntPow, 2)
		b.pushAll(n.a, n.b)
		b.emit(device.OpMul, 0)
		b.emitConst(device.OpConst, 2)
		b.emit(device.OpMul, 0)
		b.push(n.d)
		b.emit(device.OpMul, 0)
		b.emit(device.OpAdd, 0)
	case opFunc:
		b.push(n.a)
		b.emitFunction(n.f)
	case opSelect:
		b.pushAll(n.a, n.b, n.d)
		b.emit(device.OpSelect, 0)
	case opCall:
		b.ok = false
	default:
		to := [...]device.Op{opAdd: device.OpAdd, opSub: device.OpSub, opMul: device.OpMul, opDiv: device.OpDiv}[n.op]
		switch {
		case n.op == opMul && n.a == n.b:
			b.push(n.a)
			b.emit(device.OpIntPow, 2)
		case b.needsSwap(&n):
			b.pushAll(n.b, n.a)
			b.emit(to, 0)
		default:
			b.pushAll(n.a, n.b)
			b.emit(to, 0)
		}
	}
	if b.uses[r] > 1 && b.size[r] > 8 {
		b.local[r] = b.program.LocalCount
		b.program.LocalCount++
		b.emit(device.OpStore, b.local[r])
		b.emit(device.OpLocal, b.local[r])
	}
}

func (b *programBuilder) emitFunction(f *function) {
	b.ok = b.ok && f.ops != nil
	for _, op := range f.ops {
		switch op {
		case device.OpPow, device.OpDeficit:
			b.emitConst(op, f.arg)
		case device.OpTable:
			t := f.table()
			b.ok = b.ok && t.Fallback == nil
			b.program.NonNegativeOnly = b.program.NonNegativeOnly || t.HoleValue != nil
			b.program.Tables = append(b.program.Tables, device.Table{Rows: t.Rows, Bits: t.Bits, IsLog: t.IsLog})
			b.emit(op, len(b.program.Tables)-1)
		default:
			b.emit(op, f.n)
		}
	}
}
