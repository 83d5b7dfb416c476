//go:build cuda && cgo && linux

package cuda

import (
	"errors"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

// programs holds the program of the request under way.
type programs struct {
	d    *Device
	pool pool
}

// upload copies a program with the attributes of the norms of rows and columns and returns the address of a Program, 0 for none.
func (p *programs) upload(r *device.Request, rows, columns *sparse.Embedded) (uint64, error) {
	if r.Program == nil {
		return 0, nil
	}
	if err := r.Program.Validate(); err != nil {
		return 0, err
	}
	p.pool.d, p.pool.keep = p.d, true
	if err := p.pool.close(); err != nil {
		return 0, err
	}
	u := uploader{p: &p.pool}
	var code []uint32
	for _, c := range r.Program.Code {
		code = append(code, uint32(c.Op)|uint32(c.N)<<8)
	}
	var tables []uint64
	for _, t := range r.Program.Tables {
		isLog := uint64(0)
		if t.Log {
			isLog = 1
		}
		tables = append(tables, send(&u, t.Rows), uint64(t.Bits), isLog)
	}
	n := len(r.Docs)
	x, y := make([]float64, len(r.Program.Norms)*n), make([]float64, len(r.Program.Norms)*(r.Hi-r.Lo))
	for a, f := range r.Program.Norms {
		for i, d := range r.Docs {
			x[a*n+i] = f(rows.Norms[d])
		}
		for j := r.Lo; j < r.Hi; j++ {
			y[a*(r.Hi-r.Lo)+j-r.Lo] = f(columns.Norms[j])
		}
	}
	fields := []uint64{
		send(&u, code), send(&u, r.Program.Consts), send(&u, tables), send(&u, x), send(&u, y),
		uint64(len(code)), uint64(r.Program.Locals), uint64(r.Hi - r.Lo), uint64(n),
	}
	at := send(&u, fields)
	if u.err != nil {
		return 0, errors.Join(u.err, p.pool.close())
	}
	return at, nil
}
