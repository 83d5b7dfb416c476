package engine

import (
	"context"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/kernel"
)

// OnDevice says whether the engine's device computes the kernel and can keep rows of the matrix, so
// that Resident makes room for them where there is memory.
func (m *Matrix) OnDevice() (bool, error) {
	d, _, err := m.onDevice()
	return d != nil, err
}

// onDevice returns the device that can keep rows of the matrix, nil if there is none, and the
// kernel's program.
func (m *Matrix) onDevice() (device.Keeper, *device.Program, error) {
	e := m.c.e
	d, ok := e.c.Backend.(device.Keeper)
	if !ok {
		return nil, nil, nil
	}
	k, err := e.bind(m.k)
	if err != nil {
		return nil, nil, err
	}
	if _, plain := k.(kernel.C); plain {
		return d, nil, nil
	}
	p, err := e.c.Program(k, nil)
	if p == nil {
		return nil, nil, err
	}
	return d, p, nil
}

// Resident makes room for rows of the matrix on the engine's device, where a solver then works with
// them; they are computed when they are first needed, and count as computed by the cache, which
// keeps nothing of them. It returns nil where there is no device that can do that, or where the
// kernel can't be computed by it. The caller closes it before the engine.
func (m *Matrix) Resident() (device.Resident, error) {
	d, p, err := m.onDevice()
	if d == nil || err != nil {
		return nil, err
	}
	r, err := d.Resident(p)
	if err != nil {
		return nil, err
	}
	return &countedRows{r, m.c}, nil
}

// countedRows counts the pairs of rows that are computed.
type countedRows struct {
	device.Resident
	c *Cached
}

func (r *countedRows) NewScores(docs []int, copies int) (device.ProblemScores, error) {
	b, err := r.Resident.NewScores(docs, copies)
	if err != nil {
		return nil, err
	}
	return &countedScores{b, r.c}, nil
}

// countedScores counts the rows of calls that succeed.
type countedScores struct {
	device.ProblemScores
	c *Cached
}

func (b *countedScores) count(rows int) {
	pairs := int64(rows) * int64(b.c.Len())
	b.c.c.Computed(pairs)
	b.c.e.c.Count(pairs)
}

func (b *countedScores) Pick(
	ctx context.Context, docs, vars []int32, dst []float32, score []float64,
) (computed int, err error) {
	if computed, err = b.ProblemScores.Pick(ctx, docs, vars, dst, score); err == nil {
		b.count(computed)
	}
	return computed, err
}

func (b *countedScores) Add(
	ctx context.Context, docs []int32, by []float64, changed []int32, mask []byte,
) (computed int, err error) {
	if computed, err = b.ProblemScores.Add(ctx, docs, by, changed, mask); err == nil {
		b.count(computed)
	}
	return computed, err
}
