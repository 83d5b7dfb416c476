package main

import (
	"fmt"
	"io"
	"strconv"
)

func (r *pairsReport) writeText(w io.Writer) {
	fmt.Fprintln(w, r.benchHead)
	t := newTable("isa", "kernel", ">workers", ">pairs/s", ">least", ">most", ">x merge", ">speed-up", ">seconds", ">peak memory", ">exact form")
	for _, m := range r.merges() {
		t.add(m.ISA, m.Kernel, formatCount(m.Workers), formatRate(m.PairsPerS), formatRate(m.PairsPerSLeast), formatRate(m.PairsPerSMost), "1.0")
	}
	for _, row := range r.Rows {
		t.add(row.ISA, shorten(row.Kernel, 34), formatCount(row.Workers), formatRate(row.PairsPerS), formatRate(row.PairsPerSLeast),
			formatRate(row.PairsPerSMost), fmt.Sprintf("%.1f", row.RatioToMerge), fmt.Sprintf("%.2f", row.SpeedUp), formatSeconds(row.Seconds),
			formatBytes(row.PeakBytes), recomputed(row.ISA, row.Recomputed))
	}
	t.write(w)

	fmt.Fprintln(w, "\nAgainst the machine: multiply-adds/s of the head stage, bytes as counted")
	t = newTable("isa", "kernel", ">workers", ">head terms", ">panel", ">peak", ">head", ">of peak", ">useful", ">bytes", ">bytes/s", ">of read", ">of copy")
	for _, row := range r.Rows {
		if row.table == nil {
			continue // the GPU's are another matter, see cuda/check.sh
		}
		t.add(row.ISA, shorten(row.Kernel, 34), formatCount(row.Workers), formatCount(row.HeadTerms), formatCount(row.Panel), formatRate(row.PeakPerS),
			formatRate(row.HeadPerS), formatShare(row.HeadShare), formatShare(row.UsefulShare), formatRate(float64(row.Bytes)),
			formatRate(row.BytesPerS), formatShare(row.ReadShare), formatShare(row.CopyShare))
	}
	t.write(w)

	fmt.Fprintf(w, "\nBandwidth in bytes/s: a buffer of %s, and half of each cache\n", formatBytes(r.Memory[0].Buffer))
	t = newTable(">workers", ">read", ">copy", ">read L2", ">read L1")
	for _, m := range r.Memory {
		t.add(formatCount(m.Workers), formatRate(m.ReadPerS), formatRate(m.CopyPerS), formatRate(m.L2ReadPerS), formatRate(m.L1ReadPerS))
	}
	t.write(w)

	fmt.Fprintln(w, "\nWhere the time goes")
	t = newTable("isa", "kernel", ">workers", ">load", ">tail", ">head", ">close", ">map", ">store", ">idle", ">map values/s")
	for _, row := range r.Rows {
		if row.table == nil {
			continue
		}
		values := ""
		if row.MapValuesPerS > 0 {
			values = formatRate(row.MapValuesPerS)
		}
		t.add(row.ISA, shorten(row.Kernel, 34), formatCount(row.Workers), formatShare(row.Load), formatShare(row.Tail), formatShare(row.Head),
			formatShare(row.Close), formatShare(row.Map), formatShare(row.Store), formatShare(row.Idle), values)
	}
	t.write(w)
	if r.Plot != "" {
		fmt.Fprintf(w, "\nwrote %s\n", r.Plot)
	}
}

// formatShare writes a share in percent.
func formatShare(v float64) string { return strconv.FormatFloat(100*v, 'f', 1, 64) + "%" }

// formatSeconds writes a time with three digits.
func formatSeconds(s float64) string {
	switch {
	case s >= 1:
		return strconv.FormatFloat(s, 'g', 4, 64) + " s"
	case s >= 1e-3:
		return strconv.FormatFloat(1e3*s, 'g', 3, 64) + " ms"
	}
	return strconv.FormatFloat(1e6*s, 'g', 3, 64) + " µs"
}
