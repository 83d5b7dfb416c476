package repro

import (
	"compress/gzip"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// writeIDX writes an idx file of bytes, gzipped.
func writeIDX(t testing.TB, data string, s Source, file string, content []byte, sizes ...uint32) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(data, s.Name), 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(data, s.Name, file))
	if err != nil {
		t.Fatal(err)
	}
	head := []byte{0, 0, 8, byte(len(sizes))}
	for _, n := range sizes {
		head = binary.BigEndian.AppendUint32(head, n)
	}
	z := gzip.NewWriter(f)
	_, err = z.Write(append(head, content...))
	for _, closing := range []func() error{z.Close, f.Close} {
		if e := closing(); err == nil {
			err = e
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// choStandIns writes digits in the form of MNIST, and texts in that of 20 Newsgroups. A digit d is a bar whose place and direction say which it is, of
// random length and brightness, among spots.
func choStandIns(t testing.TB) string {
	data := zhangStandIns(t)
	r := rand.New(rand.NewPCG(5, 6))
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
		writeIDX(t, data, MNIST, MNIST.Files[2*k], images, uint32(n), side, side)
		writeIDX(t, data, MNIST, MNIST.Files[2*k+1], labels, uint32(n))
	}
	return data
}
