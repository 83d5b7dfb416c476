//go:build cuda && cgo && linux

package cuda

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/gramengine/gram/cuda/internal/timemodel"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/internal/musttest"
)

// The kernels' header has the constants and shapes of this package, and the kernels' interpreter
// has the instructions of package device.
func TestShapes(t *testing.T) {
	header := musttest.Get(os.ReadFile("kernels/shape.h"))(t)
	for name, want := range map[string]int{
		"PANEL": panelWidth, "PANEL_THREADS": panelThreads, "PANEL_BLOCKS": panelBlocks,
		"TAIL_COLUMNS": tailColumns, "TAIL_THREADS": tailThreads, "CLOSE_THREADS": closeThreads,
		"NARROW_VALUES": narrowValues, "AT_ONCE": timemodel.ValuePadding,
		"REDUCE_THREADS": reduceThreads,
		"TENSOR_ROWS":    tensorRows, "TENSOR_COLUMNS": tensorColumns, "TENSOR_THREADS": tensorThreads,
		"TENSOR_TERMS": timemodel.DenseStep, "SLOTS": device.MaxSlots} {
		m := regexp.MustCompile(`\b` + name + ` = (?:FEWER\()?(\d+),`).FindSubmatch(header)
		if m == nil || string(m[1]) != strconv.Itoa(want) {
			t.Errorf("%s: found %q, expected %d", name, m, want)
		}
	}
	tile := regexp.MustCompile(`(?s)struct Tile \{(.*?)\};`).FindSubmatch(header)
	fields := 0
	for _, line := range strings.Split(string(tile[1]), "\n") {
		if declared, _, ok := strings.Cut(line, ";"); ok {
			fields += 1 + strings.Count(declared, ",")
		}
	}
	if fields != tileFields {
		t.Errorf("Tile has %d fields, expected %d", fields, tileFields)
	}
	if size := unsafe.Sizeof(entry{}); size != 8 {
		t.Errorf("an entry has %d bytes, expected 8", size)
	}
	kernels := musttest.Get(os.ReadFile("kernels/program.h"))(t)
	enum := regexp.MustCompile(`(?s)enum \{\s+(C, .*?)\s+\};`).FindSubmatch(kernels)
	want := map[device.Op]string{
		device.OpC: "C", device.OpConst: "CONST", device.OpX: "X", device.OpY: "Y",
		device.OpLocal: "LOCAL", device.OpStore: "STORE",
		device.OpAdd: "ADD", device.OpSub: "SUB", device.OpMul: "MUL", device.OpDiv: "DIV", device.OpNeg: "NEG",
		device.OpSqrt: "SQRT", device.OpExp: "EXP", device.OpExpm1: "EXPM1", device.OpLog1p: "LOG1P",
		device.OpTanh: "TANH", device.OpIntPow: "POWER", device.OpPow: "POW", device.OpDeficit: "DEFICIT",
		device.OpTable: "TABLE", device.OpClamp: "CLAMP", device.OpSelect: "SELECT",
	}
	names := regexp.MustCompile(`,\s+`).Split(string(enum[1]), -1)
	for i, name := range names {
		if want[device.Op(i)] != name {
			t.Errorf("instruction %d is %s, expected %s", i, name, want[device.Op(i)])
		}
	}
	if len(names) != len(want) {
		t.Errorf("%d instructions, expected %d", len(names), len(want))
	}
}

// Blocks cover all rows, none is empty, and each has enough rows to be worth filling a panel.
func TestHeightOfBlocks(t *testing.T) {
	info := &Info{Multiprocessors: 132, SharedBytes: 232_448}
	for _, rows := range []int{1, 63, 64, 127, 500, 2048} {
		for _, panels := range []int{1, 43, 132, 235, 100_000} {
			for _, shared := range []int{512, 60_000, 200_000} {
				height, parts := heightOfBlocks(info, rows, panels, shared, panelBlocks)
				if parts*height < rows || (parts-1)*height >= rows || height < 64 && parts > 1 {
					t.Errorf("%d rows, %d panels, %d bytes: %d parts of %d rows", rows, panels, shared, parts, height)
				}
			}
		}
	}
	// 43 panels in 3 parts give a block to nearly every multiprocessor, in 6 parts two blocks.
	for shared, want := range map[int]int{60_000: 6, 200_000: 3} {
		if _, parts := heightOfBlocks(info, 2048, 43, shared, panelBlocks); parts != want {
			t.Errorf("43 panels of %d bytes: %d parts, expected %d", shared, parts, want)
		}
	}
}
