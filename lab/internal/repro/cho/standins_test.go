package cho

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/lab/internal/repro/larochelle"
	"github.com/gramengine/gram/lab/internal/repro/reprotest"
)

func writeIDX(t testing.TB, folder string, file int, content []byte, sizes ...uint32) {
	t.Helper()
	head := []byte{0, 0, 8, byte(len(sizes))}
	for _, n := range sizes {
		head = binary.BigEndian.AppendUint32(head, n)
	}
	reprotest.WriteGzip(t, folder, repro.MNIST, repro.MNIST.Files[file], append(head, content...))
}

// standIns writes digits in MNIST's format and texts in the format of 20 Newsgroups. The position
// and direction of a bar encode the digit. The bar's length and brightness are random. Spots are
// noise.
func standIns(t testing.TB) string {
	folder := reprotest.WriteGroupCorpora(t)
	r := rand.New(rand.NewPCG(5, 6))
	const pixels, side = larochelle.PixelCount, larochelle.ImageSize
	for k, n := range []int{240, 120} {
		images, labels := make([]byte, n*pixels), make([]byte, n)
		for i := range n {
			d := (i*7 + k) % 10
			labels[i] = byte(d)
			image := images[i*pixels : (i+1)*pixels]
			bright := 120 + r.IntN(130)
			at, from, to := 3+5*(d/2)+r.IntN(3)-1, r.IntN(8), 20+r.IntN(8)
			for x := from; x < to; x++ {
				if d%2 == 0 {
					image[at*side+x] = byte(bright)
				} else {
					image[x*side+at] = byte(bright)
				}
			}
			for range 25 {
				image[r.IntN(pixels)] = byte(r.IntN(256))
			}
		}
		writeIDX(t, folder, 2*k, images, uint32(n), side, side)
		writeIDX(t, folder, 2*k+1, labels, uint32(n))
	}
	return folder
}
