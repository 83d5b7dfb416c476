package asm

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// Affine and Squares against math/big, to some roundings of each term, and to the bit against the
// portable ones; lengths, fences and every element by itself.
func TestInner(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(12, 1))
		for _, n := range lengths[:16] {
			c, y := make([]float32, n), make([]float32, n)
			for j := range c {
				c[j], y[j] = 2*r.Float32()*r.Float32(), float32(math.Exp(3*r.NormFloat64()))
			}
			x, gamma, add := math.Exp(r.NormFloat64()), math.Exp(r.NormFloat64()), r.NormFloat64()
			if n > 0 {
				y[0], c[0] = float32(x), 0x1p-149
				x = float64(y[0])
			}
			for name, run := range map[string]struct {
				map64 func(k *Kernels, dst []float64, c, y []float32)
				want  func(c, x, y *big.Float) *big.Float
				size  func(c, y float64) float64
			}{
				"affine": {func(k *Kernels, dst []float64, c, y []float32) { k.Affine(dst, c, y, x, gamma, add) },
					func(c, x, y *big.Float) *big.Float {
						return bigAdd(bigMul(bigOf(gamma), bigMul(bigMul(x, y), bigSub(bigOf(1), c))), bigOf(add))
					}, func(c, y float64) float64 { return gamma*x*y*math.Abs(1-c) + math.Abs(add) }},
				"squares": {func(k *Kernels, dst []float64, c, y []float32) { k.Squares(dst, c, y, x) },
					func(c, x, y *big.Float) *big.Float {
						d := bigSub(x, y)
						return bigAdd(bigMul(d, d), bigMul(bigOf(2), bigMul(bigMul(x, y), c)))
					}, func(c, y float64) float64 { return (x-y)*(x-y) + 2*x*y*c }},
			} {
				room, want := make([]float64, n+2), make([]float64, n)
				room[0], room[n+1] = math.NaN(), math.NaN()
				run.map64(k, room[1:n+1], c, y)
				run.map64(&generic, want, c, y)
				for j, got := range room[1 : n+1] {
					exact, _ := run.want(bigOf(float64(c[j])), bigOf(x), bigOf(float64(y[j]))).Float64()
					if err := math.Abs(got - exact); !(err <= 5*0x1p-53*run.size(float64(c[j]), float64(y[j]))) ||
						math.Float64bits(got) != math.Float64bits(want[j]) {
						t.Fatalf("%s, n = %d: element %d of c = %v, y = %v is %v, portable %v, exactly %v",
							name, n, j, c[j], y[j], got, want[j], exact)
					}
				}
				if room[0] == room[0] || room[n+1] == room[n+1] {
					t.Fatalf("%s, n = %d: written beyond the ends", name, n)
				}
			}
		}
	})
}

// halfAngleSide returns the numbers of a document of norm x for angles with cos θ_x = x²/(x²+1), in
// float64 and exactly.
func halfAngleSide(x float64) (numbers [HalfAngleNumbers]float64, root, sin, cos *big.Float) {
	sqrt := func(v *big.Float) *big.Float { return new(big.Float).SetPrec(bigPrec).Sqrt(v) }
	square := bigMul(bigOf(x), bigOf(x))
	full := bigAdd(square, bigOf(1))
	cosine := bigQuo(square, full)
	root = sqrt(cosine)
	sin, cos = sqrt(bigQuo(bigQuo(bigOf(1), full), bigOf(2))), sqrt(bigQuo(bigAdd(bigOf(1), cosine), bigOf(2)))
	numbers[0] = x
	numbers[1], _ = root.Float64()
	numbers[2], _ = sin.Float64()
	numbers[3], _ = cos.Float64()
	numbers[4] = 1 / (math.Sqrt2 * (x*x + 1))
	return numbers, root, sin, cos
}

// The definition in math/big: sin θ cos m - cos θ sin m over 1 + cos θ cos m + sin θ sin m. Each
// number of a document is rounded, and some 20 operations are, none of which takes away: 2⁻⁴⁷.
func TestTurn(t *testing.T) {
	norms := []float64{0, 1e-9, 1e-3, 0.5, 1, 1.0000001, 3, 1000}
	cs := []float32{0, 0x1p-149, 1e-20, 1e-5, 0.3, 0.999, 1, 1.0001, 1.7, 2 - 0x1p-23, 2}
	eachISA(t, func(t *testing.T, k *Kernels) {
		for _, x := range norms {
			row, rootX, sinX, cosX := halfAngleSide(x)
			cols, slices := make([][]float64, HalfAngleNumbers), make([][]float64, HalfAngleNumbers)
			var c []float32
			var want []float64
			for _, y := range norms {
				col, rootY, sinY, cosY := halfAngleSide(y)
				for _, v := range cs {
					for i, w := range col {
						cols[i] = append(cols[i], w)
					}
					cosM := bigSub(bigMul(cosX, cosY), bigMul(sinX, sinY))
					sinM := bigAdd(bigMul(sinX, cosY), bigMul(cosX, sinY))
					cosT := bigMul(bigMul(rootX, rootY), bigSub(bigOf(1), bigOf(float64(v))))
					sinT := new(big.Float).SetPrec(bigPrec).Sqrt(bigSub(bigOf(1), bigMul(cosT, cosT)))
					sin := bigSub(bigMul(sinT, cosM), bigMul(cosT, sinM))
					cos := bigAdd(bigMul(cosT, cosM), bigMul(sinT, sinM))
					w, _ := bigQuo(sin, bigAdd(bigOf(1), cos)).Float64()
					c, want = append(c, v), append(want, w)
				}
			}
			// From each place on, so that all fall to all lanes, up to the end and alone.
			for from := range 9 {
				for i := range cols {
					slices[i] = cols[i][from:]
				}
				dst := make([]float64, len(c)-from+1)
				dst[len(dst)-1] = math.NaN()
				k.HalfAngle(dst[:len(dst)-1], c[from:], row[:], slices)
				for j, got := range dst[:len(dst)-1] {
					w := want[from+j]
					// 10⁻⁸⁵: what big.Float has lost
					if err := math.Abs(got - w); !(err <= 0x1p-47*w+1e-85) && from == 0 {
						t.Errorf("norms %v and %v, c = %v: found %v, expected %v, relative error %v",
							x, slices[0][j], c[from+j], got, w, err/w)
					}
					var one, back [1]float64
					var other [HalfAngleNumbers]float64
					alone, mirror := make([][]float64, HalfAngleNumbers), make([][]float64, HalfAngleNumbers)
					for i := range alone {
						alone[i], mirror[i], other[i] = slices[i][j:j+1], row[i:i+1], slices[i][j]
					}
					k.HalfAngle(one[:], c[from+j:], row[:], alone)
					k.HalfAngle(back[:], c[from+j:], other[:], mirror)
					if one[0] != got || back[0] != got {
						t.Fatalf("norms %v and %v, c = %v: found %v, alone %v, exchanged %v",
							x, slices[0][j], c[from+j], got, one[0], back[0])
					}
				}
				if last := dst[len(dst)-1]; last == last {
					t.Fatal("written beyond the end")
				}
			}
		}
	})
}
