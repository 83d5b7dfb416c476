//go:build cuda && cgo && linux

package cuda

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gorgonia.org/cu"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

// BenchmarkTensor measures what BenchmarkDigest does, of texts and of images, without tensor cores
// and with dense ends of the terms that one document in so many has, on either side of denseShare,
// beside the products of bytes that tensor cores reach in the same run.
func BenchmarkTensor(b *testing.B) {
	docs := 30_000
	if !onRealDevice() {
		docs = 150
	}
	for _, corpus := range []struct {
		name   string
		make   func(b *testing.B, docs int) *sparse.CSR
		shares []int64
	}{{"images", images, []int64{0, 2, denseShare, 8}}, {"texts", texts, []int64{0, 6, 16}}} {
		for _, share := range corpus.shares {
			name := fmt.Sprintf("corpus=%s/docs=%d/share=%d/kernel=diffusion", corpus.name, docs, share)
			b.Run(name, func(b *testing.B) {
				benchmarkDigest(b, corpus.make(b, docs), share, func(*Columns, *device.Program) error { return nil })
			})
		}
	}
}

// images makes documents as dense as handwritten digits of 28 × 28 points: a point near the middle
// is there in three of four, one at the rim in hardly any, and some 155 in all.
func images(_ *testing.B, docs int) *sparse.CSR {
	const side, width = 28, 5.8
	r := rand.New(rand.NewPCG(uint64(docs), 4))
	m := &sparse.CSR{Cols: side * side, Offsets: []int64{0}}
	var share [side * side]float64
	for i := range share {
		x, y := float64(i%side)-side/2, float64(i/side)-side/2
		share[i] = 0.75 * math.Exp(-(x*x+y*y)/(2*width*width))
	}
	for range docs {
		for i, p := range share {
			if r.Float64() < p {
				m.Terms, m.Values = append(m.Terms, uint32(i)), append(m.Values, float32(1+r.IntN(255)))
			}
		}
		m.Offsets = append(m.Offsets, int64(len(m.Terms)))
	}
	return m
}

// The kernel that measures tensor cores takes as many products as it is said to, of the bytes that
// it is said to.
func TestPeakTensor(t *testing.T) {
	noLeaks(t)
	d := open(t, Options{})
	const rounds = 3
	got := make([]float32, 2*peakThreads)
	err := d.do(func() error {
		k, err := d.load()
		if err != nil {
			return err
		}
		p := pool{d: d}
		out, err := p.alloc(4 * int64(len(got)))
		if err != nil {
			return err
		}
		s, err := cu.MakeStream(cu.NonBlocking)
		if err != nil {
			return err
		}
		err = d.launch("peakTensor", k.peakTensor, 2, 1, peakThreads, 0, s, uint64(out.at), rounds)
		return errors.Join(err, s.Synchronize(), read(got, out), s.Destroy(), p.close())
	})
	if err = errors.Join(err, d.Close()); err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		thread := i % peakThreads
		if want := float32(int32(8 * rounds * peakProduct(thread))); v != want {
			t.Fatalf("thread %d: found %v, expected %v", thread, v, want)
		}
	}
}

// peakProduct is the sum of a thread's part of the product that peakTensor takes, modulo 2^32.
func peakProduct(thread int) (sum uint32) {
	first, lane := thread/32*32, thread%32
	// Byte at of a word of some words that a lane has of one side.
	side := func(lane, words, word, at int, factor uint32) int32 {
		return int32(int8(uint32(words*(first+lane)+word+1) * factor >> (8 * at)))
	}
	for i := range 4 {
		row, column := lane/4+i/2*8, lane%4*2+i%2
		for k := range 32 {
			t, half := k%16/4, k/16
			sum += uint32(side(row%8*4+t, 4, 2*half+row/8, k%4, 2654435761) *
				side(column*4+t, 2, half, k%4, 2246822519))
		}
	}
	return sum
}
