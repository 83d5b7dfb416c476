//go:build cuda && cgo && linux

package cuda

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
)

// cubin is an ELF file like those of NVIDIA's assembler, with a section for each kernel and no
// code.
func cubin(flags uint32, abi byte, names []string) []byte {
	var strings, headers bytes.Buffer
	header := func(name string, kind elf.SectionType, offset, size int) {
		_ = binary.Write(&headers, binary.LittleEndian, elf.Section64{
			Name: uint32(strings.Len()), Type: uint32(kind),
			Off: uint64(offset), Size: uint64(size), Addralign: 1,
		})
		strings.WriteString(name + "\x00")
	}
	header("", elf.SHT_NULL, 0, 0)
	for _, name := range names {
		header(".text."+name, elf.SHT_PROGBITS, 64, 16)
	}
	header(".shstrtab", elf.SHT_STRTAB, 80, strings.Len()+len(".shstrtab")+1)
	h := elf.Header64{
		Type: 2, Machine: uint16(elfCUDA), Version: 129, Flags: flags, Ehsize: 64,
		Shoff: uint64(80 + strings.Len()), Shentsize: 64,
		Shnum: uint16(len(names) + 2), Shstrndx: uint16(len(names) + 1),
	}
	copy(h.Ident[:], "\x7fELF\x02\x01\x01\x33")
	h.Ident[8] = abi
	var all bytes.Buffer
	_ = binary.Write(&all, binary.LittleEndian, h)
	return slices.Concat(all.Bytes(), make([]byte, 16), strings.Bytes(), headers.Bytes())
}

// A module file is used if it has all kernels for the device; otherwise there is an error. The test
// device has compute capability 9.0.
func TestModule(t *testing.T) {
	if onRealDevice() {
		t.Skip("these modules have no code")
	}
	noLeaks(t)
	names := slices.Sorted(maps.Keys(new(kernels).functions()))
	complete := cubin(0x50055a, 7, names)
	file := filepath.Join(t.TempDir(), "module")
	x := embedded(t, zipf(20, 60, 8, 3))
	for _, c := range []struct{ what, image, words string }{
		{"a cubin", string(complete), ""},
		{"a cubin of a later ABI", string(cubin(0x6005a02, 8, names)), ""},
		{"PTX", ptx, ""},
		{"nothing", "", "not PTX or a complete cubin"},
		{"text", "no kernels", "not PTX or a complete cubin"},
		{"another capability", string(cubin(0x500550, 7, names)),
			"built for compute capability 8.0, but the device supports 9.0 to 9.0"},
		{"a later minor one", string(cubin(0x50055b, 7, names)), "for compute capability 9.1"},
		{"without kernels", string(cubin(0x50055a, 7, names[2:])),
			"it lacks the kernels " + names[0] + ", " + names[1]},
		{"PTX without it", strings.Replace(ptx, ".entry closePairs(", ".entry end(", 1), "it lacks the kernels closePairs"},
		{"PTX with a zero byte", ptx + "\x00", "zero byte"},
		{"cut off", string(complete[:len(complete)-1]), "not PTX or a complete cubin"},
		{"a head alone", string(complete[:40]), "not PTX or a complete cubin"},
		{"another machine", string(complete[:18]) + "\x3e" + string(complete[19:]), "not a cubin"},
	} {
		musttest.NoError(t, os.WriteFile(file, []byte(c.image), 0o666))
		t.Setenv(moduleVariable, file)
		d, err := Open(Options{})
		if c.words != "" {
			musttest.WantError(err)(t, c.what, c.words, file)
		} else if err != nil {
			t.Errorf("%s: error %v", c.what, err)
		} else if load(t, d, x); d.Info().Module != file {
			t.Errorf("%s: module %q, expected %q", c.what, d.Info().Module, file)
		}
	}
	for at := range complete { // a damaged byte gives an error or is ignored, without a panic
		damaged := slices.Clone(complete)
		damaged[at] ^= 0xff
		_ = checkModule(file, string(damaged), "9.0")
		musttest.WantError(checkModule(file, string(complete[:at]), "9.0"))(t,
			fmt.Sprintf("the first %d of %d bytes", at, len(complete)))
	}
	t.Setenv(moduleVariable, file+"s")
	musttest.WantError(Open(Options{}))(t, "no file", file+"s: no such file")
}

func TestOptions(t *testing.T) {
	for _, opt := range []Options{{MemoryBytes: -1}, {MemoryBytes: math.MinInt64}} {
		musttest.WantError(Open(opt))(t, "options", "MemoryBytes must be positive")
	}
	d := openTiled(t, math.MaxInt64, Options{MemoryBytes: math.MaxInt64}) // no sum wraps around
	cols := load(t, d, embedded(t, zipf(20, 60, 8, 3)))
	gather(t, cols, whole(cols), 20)
}

// Methods of a closed handle return ErrClosed, and Close is idempotent. A handle with open children
// can't be closed.
func TestClosed(t *testing.T) {
	noLeaks(t)
	const n = 20
	x := embedded(t, zipf(n, 60, 8, 3))
	d := open(t, Options{})
	cols := load(t, d, x)
	musttest.WantError(d.Close())(t, "closed too early", "still open")
	ctx := t.Context()
	ask := func() []error {
		_, loaded := d.Load(ctx, x)
		_, digest := cols.Digest(ctx, &device.Request{RowIndices: []int{0}, Hi: n})
		visit := func(*device.Tile) error { return nil }
		return []error{loaded, digest, cols.ComputeRows(ctx, &device.Request{RowIndices: []int{0}, Hi: n}, visit)}
	}
	if _, err := cols.Digest(ctx, &device.Request{RowIndices: []int{0}, Hi: n}); err != nil { // Close had no effect
		t.Error(err)
	}
	for _, c := range []interface{ Close() error }{cols, d, cols, d} {
		if err := c.Close(); err != nil {
			t.Errorf("%T: error %v", c, err)
		}
	}
	_, loaded := new(Device).Load(ctx, x)
	for i, err := range append(ask(), loaded) {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("question %d: error %v, expected ErrClosed", i, err)
		}
	}
	if d.Info() == (Info{}) || cols.HostBytes() == 0 || cols.BatchRows() == 0 || cols.Name() == "" {
		t.Error("what needs no device")
	}
	if err := new(Device).Close(); err != nil {
		t.Errorf("a device that was never opened: error %v", err)
	}
}

// After a panic of a caller's function, no work is in progress, and the device works.
func TestPanics(t *testing.T) {
	noLeaks(t)
	const n = 70
	x := embedded(t, zipf(n, 60, 8, 3))
	cols := load(t, openTiled(t, 4096, Options{}), x)
	panics := &device.Program{
		Instructions: []device.Instruction{{Op: device.OpX}},
		Attributes:   []func(float64) float64{func(float64) float64 { panic("norm") }},
	}
	all := run.Range(0, n)
	for _, r := range []*device.Request{{RowIndices: all, Hi: n}, {Program: panics, RowIndices: all, Hi: n}} {
		func() {
			defer func() {
				if v := recover(); v != "visit" && v != "norm" {
					t.Errorf("panic %v, expected the caller's", v)
				}
			}()
			t.Setenv("FAKE_FAIL", "cuStreamSynchronize:0:0") // counts
			_ = cols.ComputeRows(t.Context(), r, func(*device.Tile) error { panic("visit") })
		}()
		if onRealDevice() {
			continue
		}
		if calls, _ := counted(t); r.Program == nil && calls != 2 {
			t.Errorf("%d streams were waited for after a panic, expected 2", calls)
		}
	}
	holdRows(t, cols, whole(cols))
}

// Several goroutines concurrently request rows and close everything.
func TestRowsConcurrently(t *testing.T) {
	noLeaks(t)
	const n = 40
	x := embedded(t, zipf(n, 60, 8, 3))
	d := openTiled(t, 4096, Options{})
	d.timer.enabled = true
	cols := load(t, d, x)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				err := cols.ComputeRows(context.Background(), whole(cols), func(*device.Tile) error { return nil })
				if cols.HostBytes(); errors.Is(err, ErrClosed) {
					return
				} else if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for len(d.KernelTimes()) == 0 {
	}
	for range 2 {
		wg.Go(func() {
			if err := cols.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	musttest.NoError(t, d.Close())
}

// Times include each launch, and are empty if timing is off.
func TestTimes(t *testing.T) {
	noLeaks(t)
	const n = 70
	x := embedded(t, zipf(n, 60, 8, 3))
	for _, on := range []bool{false, true} {
		t.Setenv(timingVariable, map[bool]string{true: "1"}[on])
		d := openTiled(t, 4*30*padded(n), Options{})
		d.tileRows = 40
		cols := load(t, d, x)
		for range 2 {
			gather(t, cols, whole(cols), n)
		}
		launches := map[string]int{}
		for _, k := range d.KernelTimes() {
			launches[k.Kernel] = k.Launches
			if !(k.Seconds >= 0 && k.Seconds < 1e3) || math.IsNaN(k.Seconds) {
				t.Errorf("%+v", k)
			}
		}
		want := map[string]int{}
		if on { // two tiles, in two pieces and one
			want = map[string]int{"tailAdd": 4, "panelDot": 4, "closePairs": 4, "copy": 6}
		}
		if !maps.Equal(launches, want) {
			t.Errorf("launches %v, expected %v", launches, want)
		}
	}
}
