package kernel

import (
	"math"
	"slices"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/kernel/internal/table"
)

type op uint8

// Operations of a node with operands a, b and d.
const (
	opC      op = iota // 1 - cosine of the documents
	opConst            // v
	opX                // attribute n of the row's document
	opY                // attribute n of the column's document
	opAdd              // a + b
	opSub              // a - b
	opMul              // a b
	opDiv              // a / b
	opDist             // (a-b)² + 2abd: the squared distance of vectors with norms a, b and 1 - cosine d
	opFunc             // f(a)
	opSelect           // a > 0 ? b : d
	opCall             // call(d, a, b), a Go function
)

type ref int

type node struct {
	op      op
	a, b, d ref
	n       int
	v       float64
	f       *function
	call    *goFunc
}

// goFunc holds a Go function of 1 - cosine and the two norms. Maps call f for each pair.
type goFunc struct{ f func(c, x, y float64) float64 }

// expr is a function of c and the norms of both documents. The operands of a node precede the node,
// and the last node is the value. Equal nodes are stored once.
type expr struct {
	exact      bool // true if all kernels are computed by their formulas, not by tables
	nodes      []node
	index      map[node]ref // index of each node
	attributes []norm       // functions of a single norm; n of opX and opY is an index into attributes
}

func newExpr(exact bool, value func(a input) ref) *expr {
	e := &expr{exact: exact, index: map[node]ref{}}
	last := value(input{e, e.add(node{op: opC}), documentNorm})
	e.nodes, e.index = e.nodes[:last+1:last+1], nil
	return e
}

func (e *expr) add(n node) ref {
	r, ok := e.index[n]
	if !ok {
		r = ref(len(e.nodes))
		e.nodes = append(e.nodes, n)
		e.index[n] = r
	}
	return r
}

// norm is a function of the norm of a document, such as the norm in a feature space.
type norm struct {
	text         string // identifies the function
	f            func(x float64) float64
	fast         func(x float64) float64 // approximation of f within table.HalfLineError, for maps; nil if maps use f
	scale, power float64                 // f = scale x^power, if monomial
	monomial     bool
}

var documentNorm = norm{text: "x", f: func(x float64) float64 { return x }, scale: 1, power: 1, monomial: true}

func constantNorm(v float64) norm {
	return norm{f: func(float64) float64 { return v }, scale: v, monomial: true}
}

func (n norm) mapFunc() func(x float64) float64 {
	if n.fast != nil {
		return n.fast
	}
	return n.f
}

// compose returns the composition f(n). text identifies f.
func (n norm) compose(text string, f func(x float64) float64) norm {
	if n.monomial && n.power == 0 {
		return constantNorm(f(n.scale))
	}
	of := n.f
	return norm{text: n.text + "|" + text, f: func(x float64) float64 { return f(of(x)) }}
}

func (n norm) scaledPower(scale, power float64) norm {
	if scale == 1 && power == 1 {
		return n
	}
	if power == 0 {
		return constantNorm(scale)
	}
	r := n.compose("power "+formatNumber(scale)+" "+formatNumber(power),
		func(x float64) float64 { return scale * realPower(x, power) })
	if power != math.Trunc(power) && -1 < power && power <= table.MaxPower {
		of, half := n.f, table.NewHalfLine(func(x float64) float64 { return realPower(x, power) })
		r.fast = func(x float64) float64 { return scale * half.Eval(of(x)) }
	}
	if n.monomial && r.text != "" {
		r.scale, r.power, r.monomial = scale*realPower(n.scale, power), n.power*power, true
	}
	return r
}

// realPower returns v^p for v >= 0, and 0 for v = 0 even if p <= 0.
func realPower(v, p float64) float64 {
	if v == 0 {
		return 0
	}
	if n := int(p); p == float64(n) && n >= 0 {
		return device.IntPow(v, n)
	}
	return math.Pow(v, p)
}

// input is the input of a kernel in an expression. It consists of 1 - cosine and the norms of the
// documents or of their images in a feature space.
type input struct {
	e    *expr
	c    ref
	norm norm
}

func (a input) number(v float64) ref { return a.e.add(node{op: opConst, v: v}) }

// pair returns n(x) and n(y) for the norms x of the row's document and y of the column's document.
func (a input) pair(n norm) (x, y ref) {
	if n.monomial && n.power == 0 {
		v := a.number(n.scale)
		return v, v
	}
	i := slices.IndexFunc(a.e.attributes, func(of norm) bool { return of.text == n.text })
	if i < 0 {
		i = len(a.e.attributes)
		a.e.attributes = append(a.e.attributes, n)
	}
	return a.e.add(node{op: opX, n: i}), a.e.add(node{op: opY, n: i})
}

func (a input) combineNorms(o op, n norm) ref {
	x, y := a.pair(n)
	return a.binary(o, x, y)
}

func (a input) normProduct(n norm) ref           { return a.combineNorms(opMul, n) }           // n(x) n(y)
func (a input) normSum(n norm) ref               { return a.combineNorms(opAdd, n) }           // n(x) + n(y)
func (a input) normSquaredDifference(n norm) ref { return a.square(a.combineNorms(opSub, n)) } // (n(x) - n(y))²

// dist returns ‖x-y‖² of vectors with norms n(x) and n(y) and 1 - cosine c.
func (a input) dist(n norm, c ref) ref {
	x, y := a.pair(n)
	return a.e.add(node{op: opDist, a: x, b: y, d: c})
}

func (a input) square(p ref) ref           { return a.mul(p, p) }
func (a input) add(p, q ref) ref           { return a.binary(opAdd, p, q) }
func (a input) sub(p, q ref) ref           { return a.binary(opSub, p, q) }
func (a input) mul(p, q ref) ref           { return a.binary(opMul, p, q) }
func (a input) div(p, q ref) ref           { return a.binary(opDiv, p, q) }
func (a input) scale(v float64, p ref) ref { return a.mul(a.number(v), p) }
func (a input) cosine() ref                { return a.sub(a.number(1), a.c) }

func (a input) fn(f *function, p ref) ref {
	if n := a.e.nodes[p]; n.op == opConst {
		return a.number(f.f(n.v))
	}
	return a.e.add(node{op: opFunc, a: p, f: f})
}

func (a input) ifPositive(w, u, v ref) ref {
	if n := a.e.nodes[w]; n.op == opConst {
		if n.v > 0 {
			return u
		}
		return v
	}
	return a.e.add(node{op: opSelect, a: w, b: u, d: v})
}

func (a input) callFunc(f *goFunc) ref {
	x, y := a.pair(a.norm)
	return a.e.add(node{op: opCall, a: x, b: y, d: a.c, call: f})
}

func (a input) binary(o op, p, q ref) ref {
	m, n := a.e.nodes[p], a.e.nodes[q]
	switch {
	case m.op == opConst && n.op == opConst:
		return a.number(arithmetic(o, m.v, n.v))
	case o == opMul && m.op == opConst && m.v == 1, o == opAdd && m.op == opConst && m.v == 0:
		return q
	case (o == opMul || o == opDiv) && n.op == opConst && n.v == 1,
		(o == opAdd || o == opSub) && n.op == opConst && n.v == 0:
		return p
	}
	return a.e.add(node{op: o, a: p, b: q})
}

func arithmetic(o op, a, b float64) float64 {
	switch o {
	case opAdd:
		return a + b
	case opSub:
		return a - b
	case opMul:
		return a * b
	}
	return a / b
}

// squaredDistance returns (x-y)² + 2xyc. The conversions to float64 prevent fused multiply-adds, so
// that results are bit-identical on every platform.
func squaredDistance(c, x, y float64) float64 {
	d := x - y
	return float64(d*d) + float64(2*float64(x*y)*c)
}

func (e *expr) eval(c, x, y float64) float64 {
	var few [48]float64
	v := few[:]
	if len(e.nodes) > len(v) {
		v = make([]float64, len(e.nodes))
	}
	for i := range e.nodes {
		v[i] = e.apply(&e.nodes[i], v, c, x, y)
	}
	return v[len(e.nodes)-1]
}

func (e *expr) apply(n *node, v []float64, c, x, y float64) float64 {
	switch n.op {
	case opC:
		return c
	case opConst:
		return n.v
	case opX:
		return e.attributes[n.n].f(x)
	case opY:
		return e.attributes[n.n].f(y)
	case opDist:
		return squaredDistance(v[n.d], v[n.a], v[n.b])
	case opFunc:
		return n.f.f(v[n.a])
	case opSelect:
		if v[n.a] > 0 {
			return v[n.b]
		}
		return v[n.d]
	case opCall:
		return n.call.f(min(max(v[n.d], 0), 2), v[n.a], v[n.b])
	}
	return arithmetic(n.op, v[n.a], v[n.b])
}

// power reports whether the value is (xy)^p times a function of c, and returns p.
func (e *expr) power() (p float64, separable bool) {
	type degree struct {
		x, y float64
		ok   bool
	}
	of := make([]degree, len(e.nodes))
	for i, n := range e.nodes {
		a, b, d := of[n.a], of[n.b], of[n.d]
		var to degree
		switch n.op {
		case opC, opConst:
			to.ok = true
		case opX, opY:
			to = degree{ok: e.attributes[n.n].monomial}
			if n.op == opX {
				to.x = e.attributes[n.n].power
			} else {
				to.y = e.attributes[n.n].power
			}
		case opAdd, opSub:
			to = degree{a.x, a.y, a.ok && a == b}
		case opMul:
			to = degree{a.x + b.x, a.y + b.y, a.ok && b.ok}
		case opDiv:
			to = degree{a.x - b.x, a.y - b.y, a.ok && b.ok}
		case opFunc:
			to = degree{a.x * n.f.power, a.y * n.f.power, a.ok && (n.f.power != 0 || a.x == 0 && a.y == 0)}
		case opSelect:
			to = degree{b.x, b.y, a.ok && b.ok && b == d}
		case opDist, opCall:
			to = degree{ok: a == degree{ok: true} && b == a && d == a}
		}
		of[i] = to
	}
	last := of[len(of)-1]
	return last.x, last.ok && last.x == last.y
}

// isSimple reports whether maps compute all nodes in float64, which is faster than a table.
func (e *expr) isSimple() bool {
	for _, n := range e.nodes {
		if n.op == opCall || n.op == opFunc && !n.f.isFloat64() {
			return false
		}
	}
	return true
}

// precision bounds the relative difference between a value and its reference that one float64
// operation adds. Norms in feature spaces are the same for the value and the reference.
const precision = 0x1p-51

// error returns a bound on the error of the value. If narrow is set, functions round their results
// to float32, as in maps. All other operations are in float64. Functions are assumed to be monotone
// or convex within the error of their argument. The bound is NaN or infinite if an intermediate
// result overflows.
func (e *expr) error(c, x, y float64, narrow bool) float64 {
	type bounded struct{ v, err float64 }
	values, of := make([]float64, len(e.nodes)), make([]bounded, len(e.nodes))
	for i, n := range e.nodes {
		v := e.apply(&n, values, c, x, y)
		values[i] = v
		size := math.Abs(v)
		a, b, d := of[n.a], of[n.b], of[n.d]
		err := precision * size
		switch n.op {
		case opC, opConst:
			err = 0
		case opX, opY:
			if err = 0; narrow && e.attributes[n.n].fast != nil {
				err = table.HalfLineError * size
			}
		case opAdd, opSub:
			err += a.err + b.err
		case opMul:
			err += math.Abs(a.v)*b.err + math.Abs(b.v)*a.err + a.err*b.err
		case opDiv:
			if a.err != 0 || b.err != 0 {
				err += (a.err + size*b.err) / max(math.Abs(b.v)-b.err, 0)
			}
		case opDist:
			gap, wrong := math.Abs(a.v-b.v), a.err+b.err
			both := (math.Abs(a.v)+a.err)*(math.Abs(b.v)+b.err) - math.Abs(a.v*b.v)
			err += (2*gap+wrong)*wrong + 2*math.Abs(a.v*b.v)*d.err + 2*both*(math.Abs(d.v)+d.err) + 2*precision*size
		case opFunc:
			if narrow && n.f.roundsArg && e.nodes[n.a].op != opC {
				a.err += unitRoundoff*math.Abs(a.v) + underflowError
			}
			err += n.f.error(a.v, a.err, narrow)
			if narrow && !(size+err <= math.MaxFloat32) && !n.f.isFloat64() {
				return math.Inf(1)
			}
		case opSelect:
			if err += d.err; a.v > 0 {
				err = precision*size + b.err
			}
		case opCall:
			for _, c := range [...]float64{d.v - d.err, d.v + d.err} {
				err = max(err, math.Abs(n.call.f(min(max(c, 0), 2), a.v, b.v)-v)+precision*size)
			}
		}
		of[i] = bounded{v, err}
	}
	return of[len(of)-1].err
}
