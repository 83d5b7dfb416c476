package kernel

import (
	"slices"
	"sync"

	"github.com/gramengine/gram/asm"
)

// chunk is the number of columns per pass. The intermediate results of a pass fit in the L1 cache.
const chunk = 256

type plan struct {
	e             *expr
	register      []int  // register of each node; -1 for c or a float32 function that no node needs in float64
	column        []bool // per node: true if the value is the same for all rows
	registerCount int
}

// newPlan assigns registers. Registers of nodes that depend on the row are reused.
func newPlan(e *expr) *plan {
	n := len(e.nodes)
	p := &plan{e: e, register: make([]int, n), column: make([]bool, n)}
	last := make([]int, n)  // per node: last node that uses it
	wide := make([]bool, n) // per node: true if a node that uses the value needs float64
	for i := range e.nodes {
		for _, of := range e.nodes[i].operands() {
			last[of] = i
			to := &e.nodes[i]
			wide[of] = wide[of] || e.nodes[of].op != opC || to.op != opFunc || to.f.table == nil
		}
	}
	var free []int
	for i := range e.nodes {
		node := &e.nodes[i]
		of := node.operands()
		p.column[i] = node.op == opConst || node.op == opY || len(of) > 0 &&
			!slices.ContainsFunc(of, func(r ref) bool { return !p.column[r] })
		switch {
		case !wide[i] && (node.op == opC || node.op == opFunc && !node.f.isFloat64()):
			p.register[i] = -1
		case !p.column[i] && len(free) > 0:
			p.register[i], free = free[len(free)-1], free[:len(free)-1]
		default:
			p.register[i] = p.registerCount
			p.registerCount++
		}
		slices.Sort(of)
		for _, r := range slices.Compact(of) { // free registers last, because no operation may overwrite its operands
			if last[r] == i && !p.column[r] && p.register[r] >= 0 {
				free = append(free, p.register[r])
			}
		}
	}
	return p
}

func (n *node) operands() []ref {
	switch n.op {
	case opC, opConst, opX, opY:
		return nil
	case opFunc:
		return []ref{n.a}
	case opDist, opSelect, opCall:
		return []ref{n.a, n.b, n.d}
	}
	return []ref{n.a, n.b}
}

// machine evaluates an expression for up to chunk columns of a row, or for several whole rows.
type machine struct {
	k         *asm.Kernels
	registers [][chunk]float64
	norms     []float64 // attributes of all rows, row by row
	y         [chunk]float32
	out       [chunk]float32 // result of a function
}

var machines = sync.Pool{New: func() any { return new(machine) }}

func (m *machine) reserve(n int) {
	if len(m.registers) < n {
		m.registers = make([][chunk]float64, n)
	}
}

// run maps a tile. x and y may be empty if the expression has no norms.
func (p *plan) run(k *asm.Kernels, dst, c, x, y []float32) {
	if len(dst) == 0 {
		return
	}
	m := machines.Get().(*machine)
	defer machines.Put(m)
	m.k = k
	m.reserve(p.registerCount)
	attrs, n, height := len(p.e.attributes), len(y), len(x)
	m.norms = m.norms[:0]
	for _, v := range x {
		for _, a := range p.e.attributes {
			m.norms = append(m.norms, a.mapFunc()(float64(v)))
		}
	}
	if attrs == 0 {
		n, height = len(dst), 1
	}
	for lo := 0; lo < n; lo += chunk {
		width, rows := min(chunk, n-lo), min(max(chunk/n, 1), height)
		for i := 0; i < rows && attrs > 0; i++ {
			copy(m.y[i*width:], y[lo:lo+width])
		}
		p.runPass(m, nil, nil, m.y[:rows*width], nil, width)
		for i := 0; i < height; i += rows {
			end := min(i+rows, height)
			at, size := i*n+lo, (end-i)*width
			p.runPass(m, dst[at:at+size], c[at:at+size], m.y[:size], m.norms[i*attrs:end*attrs], width)
		}
	}
}

// runPass computes the nodes that are the same for all rows if out is nil. Otherwise it computes
// the other nodes for a block, and writes the value to out. norms are the attributes of the block's
// rows.
func (p *plan) runPass(m *machine, out, c, y []float32, norms []float64, width int) {
	nodes, columns, last := p.e.nodes, out == nil, len(p.e.nodes)-1
	of := func(r ref) []float64 { return m.registers[p.register[r]][:len(y)] }
	for i := range nodes {
		n := &nodes[i]
		if p.column[i] != columns || n.op == opC && p.register[i] < 0 {
			continue
		}
		var dst []float64
		if p.register[i] >= 0 {
			dst = of(ref(i))
		}
		switch n.op {
		case opC:
			m.k.Widen(dst, c)
		case opConst:
			fill(dst, n.v)
		case opX:
			for row := 0; row*width < len(dst); row++ {
				fill(dst[row*width:][:width], norms[row*len(p.e.attributes)+n.n])
			}
		case opY:
			f := p.e.attributes[n.n].mapFunc()
			for j, v := range y {
				dst[j] = f(float64(v))
			}
		case opFunc:
			var v []float64
			if n.f.table == nil || nodes[n.a].op != opC {
				v = of(n.a)
			}
			to := m.out[:len(y)]
			if i == last && !columns {
				to = out
			}
			m.applyFunction(n.f, dst, v, to, c)
		case opDist:
			m.k.Squares(dst, of(n.a), of(n.b), of(n.d))
		case opSelect:
			copy(dst, of(n.b))
			d := of(n.d)
			for j, v := range of(n.a) {
				if !(v > 0) {
					dst[j] = d[j]
				}
			}
		case opCall:
			b, d := of(n.b), of(n.d)
			for j, v := range of(n.a) {
				dst[j] = n.call.f(min(max(d[j], 0), 2), v, b[j])
			}
		case opAdd:
			m.k.Add64(dst, of(n.a), of(n.b))
		case opSub:
			m.k.Sub64(dst, of(n.a), of(n.b))
		case opMul:
			m.k.Mul64(dst, of(n.a), of(n.b))
		case opDiv:
			m.k.Div64(dst, of(n.a), of(n.b))
		}
	}
	if !columns && p.register[last] >= 0 {
		m.k.Narrow(out, of(ref(last)))
	}
}

// applyFunction writes f(v) to dst in float64, or to out in float32. In the second case it also
// copies out to dst unless dst is nil. If v is nil, f is a table of c.
func (m *machine) applyFunction(f *function, dst, v []float64, out, c []float32) {
	switch {
	case f.isFloat64():
		if f.loop != nil {
			f.loop(dst, v)
			return
		}
		for j, w := range v {
			dst[j] = f.f(w)
		}
		return
	case f.table != nil:
		if v != nil {
			m.k.Narrow(out, v)
			c = out
		}
		f.table().Apply(m.k, out, c)
	default:
		f.row(m, out, v)
	}
	if dst != nil {
		m.k.Widen(dst, out)
	}
}

func fill(dst []float64, v float64) {
	dst[0] = v
	for n := 1; n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}
