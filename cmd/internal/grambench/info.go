package grambench

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/klauspost/cpuid/v2"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/cuda"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/run"
)

// Info is the command info, which describes the computer.
var Info = &cli.Command{
	Name:    "info",
	Summary: "print CPU, instruction sets, caches, memory and GPU of this computer",
	Help: `
Prints the version, the CPU's features, the instruction set that the engine uses, the free memory
and its limit, and the GPU with its driver, or the reason why no GPU is used.`,
	Examples: "grambench info\ngrambench info -json",
	Setup: func(f *cli.Flags) cli.RunFunc {
		return func(_ context.Context, e *cli.Env) error { return report.Write(e.Stdout, newComputerReport(), f.JSON) }
	},
}

// wantedFeatures lists the CPU features that current and future kernels may use.
var wantedFeatures = []cpuid.FeatureID{
	cpuid.SSE2, cpuid.AVX, cpuid.F16C, cpuid.FMA3, cpuid.AVX2, cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512DQ,
	cpuid.AVX512VL,
	cpuid.AVX512VNNI, cpuid.AVX512BF16, cpuid.AVX512FP16, cpuid.AMXTILE, cpuid.ASIMD, cpuid.SVE,
}

type computerReport struct {
	Version         string     `json:"version"`
	Go              string     `json:"go"`
	OS              string     `json:"os"`
	Arch            string     `json:"arch"`
	CPU             string     `json:"cpu"`
	Features        []string   `json:"features"`
	NumCores        int        `json:"logical_cores"`
	NumWorkers      int        `json:"workers"`
	L1D             int        `json:"l1d_bytes"`
	L2              int        `json:"l2_bytes"`
	L3              int        `json:"l3_bytes"`
	MemoryBytes     int64      `json:"memory_bytes"`
	FreeBytes       int64      `json:"memory_free_bytes"`
	FreeBytesSource string     `json:"memory_free_by,omitempty"` // limit that determines the amount of free memory
	ChosenISA       string     `json:"isa"`
	Reason          string     `json:"isa_reason"`
	CostOrigin      string     `json:"cost_origin"`
	GPU             string     `json:"gpu"` // name of the device, or the reason why there is none
	Backend         string     `json:"backend"`
	Device          *cuda.Info `json:"device,omitempty"`
	Rows            []infoRow  `json:"rows"`
}

// infoRow describes an instruction set and its availability.
type infoRow struct {
	ISA              string `json:"isa"`
	RequiredFeatures string `json:"needs"`
	PanelSize        int    `json:"panel_documents,omitempty"` // documents per panel; 0 if unavailable
	Available        bool   `json:"available"`
	Chosen           bool   `json:"chosen"`
}

func newComputerReport() *computerReport {
	cpu := cpuid.CPU
	r := &computerReport{
		Version: cli.Version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		CPU: strings.TrimSpace(cpu.BrandName), NumCores: runtime.NumCPU(), NumWorkers: runtime.GOMAXPROCS(0),
		L1D: max(cpu.Cache.L1D, 0), L2: max(cpu.Cache.L2, 0), L3: max(cpu.Cache.L3, 0),
		MemoryBytes: backend.ProcBytes("/proc/meminfo", "MemTotal:"),
		Features:    []string{}, CostOrigin: asm.CostOrigin, ChosenISA: string(asm.BestKernels().ISA),
	}
	if b := run.AvailableMemory(); b.Source != "" {
		r.FreeBytes, r.FreeBytesSource = max(b.FreeBytes, 0), b.Source
	}
	for _, id := range wantedFeatures {
		if cpu.Supports(id) {
			r.Features = append(r.Features, id.String())
		}
	}
	panel := map[asm.ISA]int{}
	for _, isa := range asm.Available() {
		if k, err := asm.KernelsFor(isa); err == nil {
			panel[isa] = k.PanelWidth
		}
	}
	needs := map[asm.ISA]string{
		asm.Generic: "nothing: portable Go",
		asm.AVX2:    "AVX2, FMA",
		asm.AVX512:  "AVX-512 F, BW, DQ, VL",
	}
	for _, isa := range []asm.ISA{asm.Generic, asm.AVX2, asm.AVX512} {
		r.Rows = append(r.Rows, infoRow{string(isa), needs[isa], panel[isa], panel[isa] > 0, string(isa) == r.ChosenISA})
	}
	if d, err := cuda.Probe(); err != nil {
		r.GPU, r.Backend = err.Error(), "cpu, because no GPU is available"
	} else {
		r.GPU, r.Device = d.Name, &d
		r.Backend = fmt.Sprintf("cuda for computations that would take more than %g s on the CPU, "+
			"otherwise cpu (-backend auto)", backend.GPUThresholdSeconds)
	}
	r.Reason = "the fastest instruction set that this build and CPU support"
	if len(panel) == 1 {
		r.Reason = "the only instruction set that this build and CPU support"
	}
	return r
}

func (r *computerReport) Describe(d *report.Document) {
	line := func(name, value string) { d.AddLinef("%-16s  %s", name, value) }
	line("grambench", r.Version+", "+r.Go+", "+r.OS+"/"+r.Arch)
	line("CPU", report.OrUnknown(r.CPU))
	line("features", report.OrUnknown(strings.Join(r.Features, " ")))
	line("cores", fmt.Sprintf("%d logical, %d workers by default", r.NumCores, r.NumWorkers))
	line("caches", fmt.Sprintf("L1 data %s, L2 %s, L3 %s", formatSize(int64(r.L1D)), formatSize(int64(r.L2)),
		formatSize(int64(r.L3))))
	line("memory", fmt.Sprintf("%s, %s free, by %s", formatSize(r.MemoryBytes), formatSize(r.FreeBytes),
		report.OrUnknown(r.FreeBytesSource)))
	line("GPU", r.gpuText())
	line("back end", r.Backend)
	line("chosen", r.ChosenISA+": "+r.Reason)
	line("cost model", r.CostOrigin+"; only cost ratios affect the choice of head terms")
	d.AddLine("")
	t := report.NewTable("instruction set", "needs", ">panel", "available", "chosen")
	for _, row := range r.Rows {
		panel := ""
		if row.Available {
			panel = report.FormatCount(row.PanelSize)
		}
		t.Add(row.ISA, row.RequiredFeatures, panel, map[bool]string{true: "yes", false: "no"}[row.Available],
			map[bool]string{true: "<--"}[row.Chosen])
	}
	d.AddTable("", "", t)
}

func (r *computerReport) gpuText() string {
	d := r.Device
	if d == nil {
		return r.GPU
	}
	kernels := ""
	if d.Module != "" {
		kernels = ", kernels of " + d.Module
	}
	return fmt.Sprintf("%s, compute capability %s, %s multiprocessors, %s, %s free, driver for CUDA %s%s", d.Name,
		d.Capability, report.FormatCount(d.Multiprocessors), report.FormatBytes(d.MemoryBytes),
		report.FormatBytes(d.FreeBytes),
		d.Driver, kernels)
}

// formatSize formats a size in bytes, or returns "unknown" if n isn't positive.
func formatSize(n int64) string {
	if n <= 0 {
		return report.OrUnknown("")
	}
	return report.FormatBytes(n)
}
