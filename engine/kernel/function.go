package kernel

import (
	"math"
	"sync"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/kernel/internal/table"
)

// function is a function of a real variable with implementations for Eval, maps and programs.
type function struct {
	f     func(v float64) float64
	power float64 // p if f(v) = v^p, else 0

	// Maps use one of the next three functions, or f if all three are nil.
	table func() *table.Piecewise                      // for v in [0, 2]
	row   func(m *machine, dst []float32, v []float64) // results in float32
	loop  func(dst, v []float64)                       // results in float64

	absError func(v float64) float64 // absolute error of f in float64; default: a few roundings

	roundsArg bool        // true if maps round the argument v to float32
	rowError  float64     // relative error of row, in float32 units
	ops       []device.Op // instructions of a program; nil if programs don't support the function
	n         int         // argument of an instruction in ops
	arg       float64     // constant of an instruction in ops
}

func (f *function) isFloat64() bool { return f.table == nil && f.row == nil }

// error returns a bound on the error of f(v) if the error of v is at most err.
func (f *function) error(v, err float64, narrow bool) float64 {
	at, worst := f.f(v), 0.0
	for _, w := range [...]float64{v - err, v, v + err} {
		if f.table != nil {
			w = min(max(w, 0), 2)
		}
		to := f.f(w)
		own := 0.0
		switch {
		case !narrow || f.isFloat64():
		case f.table != nil:
			if own = f.table().Error(w, to); f.absError != nil {
				own += f.absError(w)
			}
		default:
			own = f.rowError*unitRoundoff*math.Abs(to) + underflowError
		}
		if change := math.Abs(to-at) + own; !(change <= worst) {
			worst = change
		}
	}
	return worst
}

// tabulatedFunction returns f as a function of c, clamped to [0, 2]. Maps evaluate f with a table.
func tabulatedFunction(f func(c float64) float64) *function {
	return &function{
		f:     func(c float64) float64 { return f(min(max(c, 0), 2)) },
		table: sync.OnceValue(func() *table.Piecewise { return table.New(f, nil) }), roundsArg: true,
		ops: []device.Op{device.OpClamp, device.OpTable},
	}
}

// halfLineFunction returns f as a function of max(v, 0). Maps evaluate f with a table.
func halfLineFunction(f func(v float64) float64, ops ...device.Op) *function {
	g := func(v float64) float64 { return f(max(v, 0)) }
	half := table.NewHalfLine(g)
	return &function{
		f: g, rowError: 1 + table.HalfLineError/unitRoundoff, ops: ops,
		row: func(m *machine, dst []float32, v []float64) { half.Apply(m.k, dst, v) },
	}
}

var (
	exp = &function{
		f: math.Exp, roundsArg: true, rowError: 8, ops: []device.Op{device.OpExp},
		row: func(m *machine, dst []float32, v []float64) {
			m.k.Narrow(dst, v)
			m.k.Exp(dst, dst)
		},
	}
	tanh = &function{
		f: math.Tanh, rowError: 1 + table.HalfLineError/unitRoundoff, ops: []device.Op{device.OpTanh},
		row: func(m *machine, dst []float32, v []float64) { m.k.Tanh(dst, v) },
	}
	squareRoot = &function{
		f: func(v float64) float64 { return math.Sqrt(max(v, 0)) }, power: 0.5, ops: []device.Op{device.OpSqrt},
		loop: func(dst, v []float64) {
			for j, w := range v {
				if w < 0 {
					w = 0
				}
				dst[j] = math.Sqrt(w)
			}
		},
	}
	clamp = &function{
		f: func(v float64) float64 { return min(max(v, 0), 2) }, ops: []device.Op{device.OpClamp},
		loop: func(dst, v []float64) {
			for j, w := range v {
				dst[j] = min(max(w, 0), 2)
			}
		},
	}
	oneMinusExp = &function{ // 1 - e^-v for v ≥ 0
		f: func(v float64) float64 { return -math.Expm1(-max(v, 0)) }, rowError: 1 + 0x1p-34/unitRoundoff,
		ops: []device.Op{device.OpNeg, device.OpExpm1, device.OpNeg},
		row: func(m *machine, dst []float32, v []float64) { m.k.Decay(dst, v) },
	}
	log1p      = halfLineFunction(math.Log1p, device.OpLog1p)
	arctangent = halfLineFunction(math.Atan)
)

func integerPower(n int) *function {
	return &function{
		f: func(v float64) float64 { return device.IntPow(v, n) }, power: float64(n),
		ops: []device.Op{device.OpIntPow}, n: n,
		loop: func(dst, v []float64) {
			v = v[:len(dst)]
			switch n {
			case 2:
				for j, w := range v {
					dst[j] = w * w
				}
			case 3:
				for j, w := range v {
					dst[j] = w * w * w
				}
			default:
				for j, w := range v {
					dst[j] = device.IntPow(w, n)
				}
			}
		},
	}
}

// powerOf returns a function that adds the node v^p, p > 0, to an expression. Rounding may make v
// slightly negative.
func powerOf(p float64) func(a input, v ref) ref {
	n, rest := math.Modf(p)
	if rest != 0 && p <= table.MaxPower {
		n, rest = 0, p
	}
	whole, half := integerPower(int(n)), halfLineFunction(func(v float64) float64 { return math.Pow(v, rest) },
		device.OpPow)
	half.power, half.arg = rest, rest
	if rest == 0.5 {
		half.row, half.loop = nil, squareRoot.loop
	}
	return func(a input, v ref) ref {
		switch {
		case p == 1:
			return v
		case rest == 0:
			return a.fn(whole, v)
		case n == 0:
			return a.fn(half, v)
		}
		return a.mul(a.fn(whole, v), a.fn(half, v))
	}
}

// deficitOf returns the function 1 - (1-c)^p. A fractional p requires c ≤ ½.
func deficitOf(p float64) *function {
	if p != math.Trunc(p) {
		return tabulatedFunction(func(c float64) float64 { return device.Deficit(min(c, 0.5), p) })
	}
	f := tabulatedFunction(func(c float64) float64 { return device.Deficit(c, p) })
	f.ops, f.arg = []device.Op{device.OpClamp, device.OpDeficit}, p
	return f
}
