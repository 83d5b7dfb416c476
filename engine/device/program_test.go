package device

import (
	"math"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// A program with every instruction has the value of its formula.
func TestEval(t *testing.T) {
	one := [][8]float32{}
	for range tableOctaves + 1 {
		one = append(one, [8]float32{2.5})
	}
	p := &Program{
		Consts:     []float64{2, 0.5, 3},
		Attributes: []func(float64) float64{func(x float64) float64 { return x + 1 }},
		Tables:     []Table{{Rows: one}, {Rows: one, IsLog: true}},
		LocalCount: 1,
		Instructions: []Instruction{
			{OpC, 0}, {OpSqrt, 0}, {OpStore, 0}, // ½
			{OpX, 0}, {OpY, 0}, {OpMul, 0}, {OpConst, 0}, {OpDiv, 0}, {OpTanh, 0}, // tanh((x+1)(y+1)/2)
			{OpLocal, 0}, {OpExp, 0}, {OpExpm1, 0}, {OpLog1p, 0}, {OpSub, 0}, // - e^½
			{OpC, 0}, {OpIntPow, 3}, {OpAdd, 0}, // + ¼³
			{OpC, 0}, {OpPow, 1}, {OpNeg, 0}, {OpAdd, 0}, // - ½
			{OpLocal, 0}, {OpDeficit, 2}, {OpAdd, 0}, // + 1-½³
			{OpC, 0}, {OpTable, 0}, {OpAdd, 0}, {OpC, 0}, {OpTable, 1}, {OpAdd, 0}, // + 2.5 + e^2.5
			{OpC, 0}, {OpConst, 2}, {OpConst, 0}, {OpSelect, 0}, {OpClamp, 0}, {OpAdd, 0}, // + min(3, 2)
		},
	}
	musttest.NoError(t, p.Validate())
	want := math.Tanh(5*3/2.0) - math.Exp(0.5) + 1.0/64 - 0.5 + 7.0/8 + 2.5 + math.Exp(2.5) + 2
	if got := p.Eval(0.25, 4, 2); !(math.Abs(got-want) <= 1e-13) {
		t.Errorf("found %v, expected %v", got, want)
	}
}

func TestDeficit(t *testing.T) {
	for _, c := range []struct{ v, p, want float64 }{{1e-12, 3, 3e-12 - 3e-24}, {2, 3, 2}, {0.75, 0.5, 0.5}, {1.5, 2,
		0.75}, {0.25, 2, 0.4375},
		{2, 1<<32 + 1, 2}, {2, 1 << 32, 0}, {2, 1e300, 0}, {1.5, 1<<40 + 1, 1}, {0.75, 1 << 33, 1}, {2, 1 << 20, 0},
		{2, 1<<20 + 1, 2}} {
		if got := Deficit(c.v, c.p); !(math.Abs(got-c.want) <= 1e-15*math.Abs(c.want)) {
			t.Errorf("1-(1-%v)^%v: found %v, expected %v", c.v, c.p, got, c.want)
		}
	}
}

func TestValidate(t *testing.T) {
	for want, p := range map[string]*Program{
		"leaves 0":                         {},
		"leaves 2":                         {Instructions: []Instruction{{OpC, 0}, {OpC, 0}}},
		"takes 2":                          {Instructions: []Instruction{{OpC, 0}, {OpAdd, 0}}},
		"argument 0":                       {Instructions: []Instruction{{OpConst, 0}}},
		"argument 1":                       {Instructions: []Instruction{{OpC, 0}, {OpTable, 1}}, Tables: make([]Table, 1)},
		"argument -1":                      {Instructions: []Instruction{{OpC, 0}, {OpIntPow, -1}}},
		"must be between 0 and 12, got -1": {Instructions: []Instruction{{OpC, 0}}, LocalCount: -1},
		"must be between 0 and 12, got 13": {Instructions: []Instruction{{OpC, 0}}, LocalCount: 13},
		"attribute 1 is nil": {Instructions: []Instruction{{OpC, 0}},
			Attributes: []func(float64) float64{math.Sqrt, nil}},
		"has 0 rows for 0": {Instructions: []Instruction{{OpC, 0}, {OpTable, 0}}, Tables: make([]Table, 1)},
		"rows for 3 bits": {Instructions: []Instruction{{OpC, 0}, {OpTable, 0}}, Tables: []Table{{Rows: make([][8]float32,
			tableOctaves<<3), Bits: 3}}},
		"rows for 99 bits": {Instructions: []Instruction{{OpC, 0}, {OpTable, 0}}, Tables: []Table{{Bits: 99}}},
		"which is not set": {Instructions: []Instruction{{OpLocal, 0}}, LocalCount: 1},
		"exponent of instruction 1 must be positive, got NaN": {Instructions: []Instruction{{OpC, 0}, {OpPow, 0}},
			Consts: []float64{math.NaN()}},
		"exponent of instruction 1 must be positive, got 0": {Instructions: []Instruction{{OpC, 0}, {OpPow, 0}},
			Consts: []float64{0}},
		"opcode 99":              {Instructions: []Instruction{{99, 0}}},
		"at most 12, got 0 + 13": {Instructions: append(make([]Instruction, 13), make([]Instruction, 0)...)},
		"the maximum is 512":     {Instructions: make([]Instruction, 513)},
	} {
		if want == "at most 12, got 0 + 13" {
			for range 12 {
				p.Instructions = append(p.Instructions, Instruction{OpAdd, 0})
			}
		}
		musttest.WantError(p.Validate())(t, "a wrong program", want)
	}
}

func TestHolds(t *testing.T) {
	m := &sparse.CSR{Cols: 2, Offsets: []int64{0, 1, 2}, Terms: []uint32{0, 1}, Values: []float32{1, -2}}
	e := sparse.Embedding{Weighting: sparse.TF}
	x := musttest.Get(e.Fit(m).Transform(m))(t)
	code := []Instruction{{OpC, 0}}
	above := func(limit float64) func(float64) float64 {
		return func(x float64) float64 { return math.Sqrt(x - limit) }
	}
	for _, c := range []struct {
		p    *Program
		want bool
	}{
		{&Program{Instructions: code}, true},
		{&Program{Instructions: code, NonNegativeOnly: true}, false},
		{&Program{Instructions: code, Attributes: []func(float64) float64{above(0.5)}}, true},
		{&Program{Instructions: code, Attributes: []func(float64) float64{above(1.5)}}, false},
	} {
		if got := c.p.AppliesTo(x); got != c.want {
			t.Errorf("holds: %v, expected %v", got, c.want)
		}
	}
}
