package solver

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// BenchmarkTrain trains on a ready matrix like that of text under a narrow diffusion kernel: values
// near 0 but for the diagonal, a little greater within a class, so that nearly all documents are
// support vectors.
func BenchmarkTrain(b *testing.B) {
	for _, size := range []struct{ docs, classes int }{{2000, 10}, {4000, 2}} {
		r := rand.New(rand.NewPCG(1, 1))
		data := make([]float32, size.docs*size.docs)
		labels := make([]int, size.docs)
		position := make([][4]float64, size.docs)
		for i := range labels {
			labels[i] = i * size.classes / size.docs
			for k := range position[i] {
				position[i][k] = 0.5*r.NormFloat64() + float64(labels[i]>>k&1)
			}
		}
		for i := range labels {
			for j := range i {
				var d float64
				for k, v := range position[i] {
					d += (v - position[j][k]) * (v - position[j][k])
				}
				v := float32(0.2 * math.Exp(-0.2*d))
				data[i*size.docs+j], data[j*size.docs+i] = v, v
			}
			data[i*size.docs+i] = 1
		}
		m := musttest.Get(NewDense(size.docs, data))(b)
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("docs=%d/classes=%d/workers=%d", size.docs, size.classes, workers), func(b *testing.B) {
				var steps int
				for b.Loop() {
					c := musttest.Get(Train(
						context.Background(), m,
						Training{Labels: labels, Classes: size.classes, Parameters: Parameters{C: 10}},
						Options{Workers: workers},
					))(b)
					for _, machine := range c.Machines {
						steps += machine.Iterations
					}
				}
				b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
			})
		}
	}
}
