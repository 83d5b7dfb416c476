//go:build cuda && cgo && linux

package cuda

import (
	"slices"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

// uploadProgram copies a request's program, and the norm attributes of rows and columns, to the
// device. It returns the fields of Program in kernels/shape.h and their address, or nil and 0 if
// there is no program.
func uploadProgram(to allocator, r *device.Request, rows, columns *sparse.Embedded) ([]uint64, uint64, error) {
	if r.Program == nil {
		return nil, 0, nil
	}
	u := uploader{p: to}
	x, norms := attributes(r.Program, rows.Norms, r.RowIndices), columns.Norms
	if len(norms) > 0 {
		norms = norms[r.Lo:r.Hi]
	}
	y := attributes(r.Program, norms, nil)
	fields := sendProgram(&u, r.Program, send(&u, x), send(&u, y), len(r.RowIndices), r.Hi-r.Lo)
	at := send(&u, fields)
	return fields, at, u.err
}

// attributes computes the program's attributes from norms, for the listed documents, or for all
// documents if docs is nil. The order is [attribute][document].
func attributes(p *device.Program, norms []float64, docs []int) []float64 {
	if len(p.Attributes) == 0 {
		return nil
	}
	if docs != nil {
		some := make([]float64, len(docs))
		for i, d := range docs {
			some[i] = norms[d]
		}
		norms = some
	}
	out := make([]float64, 0, len(p.Attributes)*len(norms))
	for _, f := range p.Attributes {
		for _, norm := range norms {
			out = append(out, f(norm))
		}
	}
	return out
}

// sendProgram copies a program to the device and returns the fields of Program in kernels/shape.h.
// x and y are the addresses of the attributes of rows and columns.
func sendProgram(u *uploader, p *device.Program, x, y uint64, rows, columns int) []uint64 {
	var code []uint32
	for _, c := range p.Instructions {
		code = append(code, uint32(c.Op)|uint32(c.Arg)<<8)
	}
	var tables []uint64
	for _, t := range p.Tables {
		isLog := uint64(0)
		if t.IsLog {
			isLog = 1
		}
		tables = append(tables, send(u, t.Rows), uint64(t.Bits), isLog)
	}
	list, only := send(u, tables), uint64(0)
	if slices.Equal(p.Instructions, []device.Instruction{{Op: device.OpC}, {Op: device.OpTable}}) && !p.Tables[0].IsLog {
		only = list
	}
	return []uint64{send(u, code), send(u, p.Consts), list, x, y, uint64(len(p.Instructions)), uint64(p.LocalCount),
		uint64(columns), uint64(rows), only}
}

// programY and programOnly are indices of Program's fields. Field programY is the address of the
// column attributes. Field programOnly is the address of the program's only table, unless IsLog is
// set.
const (
	programY    = 4
	programOnly = 9
)
