// Command _gen writes the assembly of package asm and its Go declarations.
//
//	go run .             (in asm/_gen)
//
// The kernels of one file form a family. Generator functions add kernels to the file, with the
// instruction set as a parameter. Family NAME becomes asm/NAME_amd64.s and asm/NAME_stubs_amd64.go.
package main

import (
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"strings"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
	. "github.com/mmcloughlin/avo/reg"
)

var families = []struct {
	name string
	add  []func(f file)
}{
	{"maps", []func(f file){maps, piecewise}},
	{"panel", []func(f file){panels, pairings}},
	{"tail", []func(f file){tails, finish}},
	{"select", []func(f file){selects, leasts}},
	{"wide", []func(f file){wideMaps}},
	{"solver", []func(f file){solver, rows, rowSums, products}},
	{"peak", []func(f file){peaks}},
}

func main() {
	for _, f := range families {
		if err := write(f.name, f.add); err != nil {
			fmt.Fprintf(os.Stderr, "_gen: %s: %v\n", f.name, err)
			os.Exit(1)
		}
	}
}

// write generates the two files of a family in the parent folder.
func write(name string, add []func(f file)) error {
	c := build.NewContext()
	c.ConstraintExpr("!purego")
	f := file{c, map[string]Mem{}}
	for _, add := range add {
		add(f)
	}
	result, err := c.Result()
	if err != nil {
		return err
	}
	if err := pass.Compile.Execute(result); err != nil {
		return err
	}
	if err := checkRegisters(result); err != nil {
		return err
	}
	if err := checkEncodings(result); err != nil {
		return err
	}
	if err := broadcastConstants(result); err != nil {
		return err
	}
	config := printer.Config{Argv: []string{"asm/_gen"}, Pkg: "asm"}
	source, err := printer.NewGoAsm(config).Print(result)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join("..", name+"_amd64.s"), source, 0o644); err != nil {
		return err
	}
	stubs, err := printer.NewStubs(config).Print(result)
	if err != nil {
		return err
	}
	if stubs, err = format.Source(stubs); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join("..", name+"_stubs_amd64.go"), stubs, 0o644)
}

// broadcastConstants changes instructions on 64-byte registers to broadcast constants from one lane
// of memory. The linker aligns data to at most 32 bytes, so 64-byte constants could cross a cache
// line. Such loads made maps up to 1.8 times slower.
func broadcastConstants(file *ir.File) error {
	loads := map[string]string{"VMOVUPS": "VBROADCASTSS", "VMOVUPD": "VBROADCASTSD"}
	for _, f := range file.Functions() {
		for _, i := range f.Instructions() {
			constant, wide := false, false
			for _, o := range i.Operands {
				m, ok := o.(Mem)
				constant = constant || ok && strings.HasPrefix(m.Symbol.Name, constantPrefix)
				r, ok := o.(Register)
				wide = wide || ok && r.Size() == 64
			}
			switch load, ok := loads[i.Opcode]; {
			case !constant || !wide || strings.HasPrefix(i.Opcode, "VPBROADCAST"):
			case ok:
				i.Opcode = load
			case strings.HasPrefix(i.Opcode, "VMOV"):
				return fmt.Errorf("%s: %s loads a constant; only VMOVUPS and VMOVUPD are supported", f.Name, i.Opcode)
			default:
				i.Suffixes = append([]string{"BCST"}, i.Suffixes...)
			}
		}
	}
	return nil
}

// checkEncodings rejects vector instructions in SSE encoding, which avo's Load and Store emit for
// float32 and float64. A MOVSS load costs a Xeon 150 to 200 ns while upper halves of registers are
// in use.
func checkEncodings(file *ir.File) error {
	for _, f := range file.Functions() {
		for _, i := range f.Instructions() {
			for _, o := range i.Operands {
				if r, ok := o.(Register); ok && r.Kind() == KindVector && !strings.HasPrefix(i.Opcode, "V") && i.Opcode[0] != 'K' {
					return fmt.Errorf("%s: %s is not an AVX instruction; use its VEX form", f.Name, i.Opcode)
				}
			}
		}
	}
	return nil
}

// checkRegisters rejects vector registers 16 to 31 outside AVX-512 kernels. avo allocates these
// registers if it runs out of others, but only AVX-512 has them.
func checkRegisters(file *ir.File) error {
	for _, f := range file.Functions() {
		if strings.HasSuffix(f.Name, "AVX512") {
			continue
		}
		for _, i := range f.Instructions() {
			for _, r := range i.Registers() {
				if p := ToPhysical(r); p != nil && p.Kind() == KindVector && p.PhysicalIndex() >= 16 {
					return fmt.Errorf("%s needs more than 16 vector registers; use a smaller block", f.Name)
				}
			}
		}
	}
	return nil
}
