package compute

import (
	"context"
	"encoding/binary"
	"math"
	"sync"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/tiles"
)

// identity is what [Computer.Identity] has found.
type identity struct {
	mu     sync.Mutex
	known  bool
	digest [32]byte
}

// Identity returns a digest of all that the bits of c depend on: the documents, the back end and,
// since the next version of this program may add up in another order, c itself of documents here
// and there with the first ones. It is computed once.
func (c *Computer) Identity(ctx context.Context) ([32]byte, error) {
	c.identity.mu.Lock()
	defer c.identity.mu.Unlock()
	if c.identity.known {
		return c.identity.digest, nil
	}
	n := c.Len()
	digest := c.X.Digest()
	about := append([]byte("c "+c.Backend.Name()+"\n"), digest[:]...)
	if b, ok := c.Backend.(device.Identified); ok {
		about = append(about, b.Identity()...)
	}
	r := &device.Request{Docs: make([]int, min(c.Kernels.Panel, n)), Hi: min(BlockDocs, n)}
	for i := range r.Docs {
		r.Docs[i] = i * n / len(r.Docs)
	}
	err := c.Rows(ctx, kernel.C(), r, nil, func(t *device.Tile) error {
		lines, length, stride := Lines(t)
		for i := range lines {
			for _, v := range t.Value[i*stride:][:length] {
				about = binary.LittleEndian.AppendUint32(about, math.Float32bits(v))
			}
		}
		return nil
	})
	if err != nil {
		return [32]byte{}, err
	}
	c.identity.digest, c.identity.known = tiles.Digest(about), true
	return c.identity.digest, nil
}
