package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gramengine/gram/internal/report"
)

// formatTable returns the table in docs/cluster.md, with median times in seconds over the rounds.
func formatTable(rounds []round, processes int) string {
	var b strings.Builder
	fmt.Fprintln(&b, "| CPU time in s | user | system | both |")
	fmt.Fprintln(&b, "| --- | --- | --- | --- |")
	all := func(r round) cpuTime { return r[stepPlan].plus(r[stepWork]).plus(r[stepGather]) }
	row := func(name string, of func(r round) cpuTime) {
		user := median(rounds, func(r round) float64 { return of(r).user })
		system := median(rounds, func(r round) float64 { return of(r).system })
		both := formatSpread(rounds, func(r round) float64 { return of(r).sum() })
		fmt.Fprintf(&b, "| %s | %.2f | %.2f | %s |\n", name, user, system, both)
	}
	row("`gram matrix`", func(r round) cpuTime { return r[stepGram] })
	row("`gramcluster plan gram`", func(r round) cpuTime { return r[stepPlan] })
	row(fmt.Sprintf("`gramcluster work`, %d processes", processes), func(r round) cpuTime { return r[stepWork] })
	row("`gramcluster gather`", func(r round) cpuTime { return r[stepGather] })
	row("`gramcluster`, total", all)
	fmt.Fprintf(&b, "| ratio | | | %s |\n", formatSpread(rounds,
		func(r round) float64 { return all(r).sum() / r[stepGram].sum() }))
	return b.String()
}

func sortedValues(rounds []round, of func(r round) float64) (values []float64) {
	for _, r := range rounds {
		values = append(values, of(r))
	}
	slices.Sort(values)
	return values
}

func median(rounds []round, of func(r round) float64) float64 {
	return report.Median(sortedValues(rounds, of))
}

// formatSpread formats the median, minimum and maximum of the values of(r) for all rounds r.
func formatSpread(rounds []round, of func(r round) float64) string {
	v := sortedValues(rounds, of)
	return fmt.Sprintf("%.2f (%.2f to %.2f)", median(rounds, of), v[0], v[len(v)-1])
}
