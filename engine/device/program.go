package device

import (
	"fmt"
	"math"

	"github.com/gramengine/gram/sparse"
)

// Op is an instruction of a [Program]. It pops its operands from a stack of float64 numbers and
// pushes its result.
type Op uint8

// The instructions. v is the number on top of the stack, u the number below it, and n the argument.
const (
	OpC       Op = iota // c
	OpConst             // Consts[n]
	OpX                 // norm attribute n of the row's document
	OpY                 // norm attribute n of the column's document
	OpLocal             // local n
	OpStore             // sets local n to v, and pops v
	OpAdd               // u + v
	OpSub               // u - v
	OpMul               // u v
	OpDiv               // u / v
	OpNeg               // -v
	OpSqrt              // √v
	OpExp               // e^v
	OpExpm1             // e^v - 1
	OpLog1p             // ln(1+v), v >= 0
	OpTanh              // tanh v
	OpIntPow            // vⁿ by repeated squaring
	OpPow               // max(v, 0)^Consts[n], Consts[n] > 0
	OpDeficit           // 1 - (1-v)^Consts[n] without cancellation, v in [0, 2] for integer powers, else v in [0, 1]
	OpTable             // Tables[n](float32(v)), v in [0, 2]
	OpClamp             // min(max(v, 0), 2)
	OpSelect            // w > 0 ? u : v, where w is the number below u

	numOps
)

// Limits of a program. A GPU keeps the stack of each thread in registers, which limits the stack
// depth.
const (
	MaxSlots = 12  // maximum of LocalCount plus the stack depth
	MaxCode  = 512 // maximum number of instructions
)

// Exponents of OpIntPow must be below MaxPower. For larger exponents the powers of nearly all
// numbers overflow, or round to 0 or 1.
const MaxPower = 1 << 20

// maxTableBits is the maximum of Table.Bits. It ensures that row indices fit into 32 bits.
const maxTableBits = 20

// Instruction is an operation and its argument, the n in the comments of the Op constants.
type Instruction struct {
	Op  Op
	Arg int
}

// Table approximates a function of c in [0, 2] by a piecewise polynomial for asm.Kernels.Piecewise.
// If IsLog is true, the polynomial approximates the logarithm of the function.
type Table struct {
	Rows  [][8]float32
	Bits  uint
	IsLog bool
}

// Program is a sequence of instructions that compute a kernel value from c and the norms of two
// documents. Attributes are functions of a single norm and are computed once per document. A
// Program is immutable and may be used concurrently.
type Program struct {
	Instructions []Instruction
	Consts       []float64
	Tables       []Table
	// attributes as functions of a document's norm x; NaN if the program isn't applicable to x
	Attributes []func(x float64) float64
	LocalCount int

	// NonNegativeOnly is true if the program requires nonnegative documents, so that c <= 1.
	NonNegativeOnly bool
}

// stackEffects holds the number of operands and the number of results of each instruction.
var stackEffects = [numOps][2]int{
	OpC: {0, 1}, OpConst: {0, 1}, OpX: {0, 1}, OpY: {0, 1}, OpLocal: {0, 1}, OpStore: {1, 0},
	OpAdd: {2, 1}, OpSub: {2, 1}, OpMul: {2, 1}, OpDiv: {2, 1}, OpNeg: {1, 1},
	OpSqrt: {1, 1}, OpExp: {1, 1}, OpExpm1: {1, 1}, OpLog1p: {1, 1}, OpTanh: {1, 1}, OpIntPow: {1, 1}, OpPow: {1, 1},
	OpDeficit: {1, 1}, OpTable: {1, 1}, OpClamp: {1, 1}, OpSelect: {3, 1},
}

// Validate returns an error if an instruction, attribute or table is invalid, if an operand is
// missing, if the stack doesn't end with exactly one number, or if a limit is exceeded.
func (p *Program) Validate() error {
	if len(p.Instructions) > MaxCode {
		return fmt.Errorf("device: program has %d instructions; the maximum is %d", len(p.Instructions), MaxCode)
	}
	if p.LocalCount < 0 || p.LocalCount > MaxSlots {
		return fmt.Errorf("device: number of locals must be between 0 and %d, got %d", MaxSlots, p.LocalCount)
	}
	var stored [MaxSlots]bool
	depth, deepest := 0, 0
	for at, c := range p.Instructions {
		if c.Op >= numOps {
			return fmt.Errorf("device: instruction %d has opcode %d, but opcodes are below %d", at, c.Op, numOps)
		}
		limit := 0
		switch c.Op {
		case OpConst, OpPow, OpDeficit:
			limit = len(p.Consts)
		case OpX, OpY:
			limit = len(p.Attributes)
		case OpLocal, OpStore:
			limit = p.LocalCount
		case OpTable:
			limit = len(p.Tables)
		case OpIntPow:
			limit = MaxPower
		default:
			limit = 1
		}
		if c.Arg < 0 || c.Arg >= limit {
			return fmt.Errorf("device: argument %d of instruction %d is not in [0, %d)", c.Arg, at, limit)
		}
		switch {
		case c.Op == OpStore:
			stored[c.Arg] = true
		case c.Op == OpLocal && !stored[c.Arg]:
			return fmt.Errorf("device: instruction %d reads local %d, which is not set", at, c.Arg)
		case c.Op == OpPow && !(p.Consts[c.Arg] > 0):
			return fmt.Errorf("device: exponent of instruction %d must be positive, got %v", at, p.Consts[c.Arg])
		}
		e := stackEffects[c.Op]
		if depth < e[0] {
			return fmt.Errorf("device: instruction %d takes %d operands, but the stack has %d", at, e[0], depth)
		}
		depth += e[1] - e[0]
		deepest = max(deepest, depth)
	}
	for i, f := range p.Attributes {
		if f == nil {
			return fmt.Errorf("device: norm attribute %d is nil", i)
		}
	}
	for i, t := range p.Tables {
		if t.Bits > maxTableBits || len(t.Rows) != tableOctaves<<t.Bits+1 {
			return fmt.Errorf("device: table %d has %d rows for %d bits; "+
				"tables have at most %d bits and %d rows per power of 2, plus one",
				i, len(t.Rows), t.Bits, maxTableBits, tableOctaves)
		}
	}
	if depth != 1 {
		return fmt.Errorf("device: program leaves %d values on the stack instead of 1", depth)
	}
	if deepest+p.LocalCount > MaxSlots {
		return fmt.Errorf("device: the number of locals plus the depth of the stack must be at most %d, got %d + %d",
			MaxSlots, p.LocalCount, deepest)
	}
	return nil
}

// AppliesTo reports whether the program can be applied to x. No attribute may be NaN. If
// NonNegativeOnly is set, all values must be nonnegative.
func (p *Program) AppliesTo(x *sparse.Embedded) bool {
	if p.NonNegativeOnly {
		for _, v := range x.Values {
			if v < 0 {
				return false
			}
		}
	}
	for _, f := range p.Attributes {
		for _, norm := range x.Norms {
			if v := f(norm); v != v {
				return false
			}
		}
	}
	return true
}

// Eval returns the program's value for c in [0, 2] and norms x and y. Results of back ends differ
// from this value by a few float64 ulp per instruction. The program must be valid.
func (p *Program) Eval(c float32, x, y float64) float64 {
	var stack [MaxSlots]float64
	var locals [MaxSlots]float64
	top := -1
	for _, code := range p.Instructions {
		e := stackEffects[code.Op]
		top -= e[0]
		operands := stack[top+1:]
		v := p.apply(code, operands, locals[:], float64(c), x, y)
		if e[1] == 1 {
			top++
			stack[top] = v
		}
	}
	return stack[0]
}

func (p *Program) apply(code Instruction, o, locals []float64, c, x, y float64) float64 {
	switch code.Op {
	case OpC:
		return c
	case OpConst:
		return p.Consts[code.Arg]
	case OpX:
		return p.Attributes[code.Arg](x)
	case OpY:
		return p.Attributes[code.Arg](y)
	case OpLocal:
		return locals[code.Arg]
	case OpStore:
		locals[code.Arg] = o[0]
	case OpAdd:
		return o[0] + o[1]
	case OpSub:
		return o[0] - o[1]
	case OpMul:
		return o[0] * o[1]
	case OpDiv:
		return o[0] / o[1]
	case OpNeg:
		return -o[0]
	case OpSqrt:
		return math.Sqrt(o[0])
	case OpExp:
		return math.Exp(o[0])
	case OpExpm1:
		return math.Expm1(o[0])
	case OpLog1p:
		return math.Log1p(o[0])
	case OpTanh:
		return math.Tanh(o[0])
	case OpIntPow:
		return IntPow(o[0], code.Arg)
	case OpPow:
		return math.Pow(max(o[0], 0), p.Consts[code.Arg])
	case OpDeficit:
		return Deficit(o[0], p.Consts[code.Arg])
	case OpTable:
		return p.Tables[code.Arg].eval(float32(o[0]))
	case OpClamp:
		return min(max(o[0], 0), 2)
	case OpSelect:
		if o[0] > 0 {
			return o[1]
		}
		return o[2]
	}
	return math.NaN()
}

// IntPow returns vⁿ by repeated squaring, n >= 0. It panics if n is negative.
func IntPow(v float64, n int) float64 {
	if n < 0 {
		panic(fmt.Errorf("device: exponent must be nonnegative, got %d", n))
	}
	p := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			p *= v
		}
		v *= v
	}
	return p
}

// Deficit returns 1 - (1-v)^p for v in [0, 2], without cancellation for small v. v must be at most
// 1 if p is fractional.
func Deficit(v, p float64) float64 {
	if v < 0.5 {
		return -math.Expm1(p * math.Log1p(-v))
	}
	if p == math.Trunc(p) {
		if p < MaxPower {
			return 1 - IntPow(1-v, int(p))
		}
		return 1 - math.Pow(1-v, p)
	}
	return 1 - math.Pow(max(1-v, 0), p)
}
