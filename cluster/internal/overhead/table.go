package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gramengine/gram/internal/report"
)

// table returns the table in docs/cluster.md, with median times in seconds over the rounds.
func table(rounds []round, processes int) string {
	var b strings.Builder
	fmt.Fprintln(&b, "| CPU time in s | user | system | both |")
	fmt.Fprintln(&b, "| --- | --- | --- | --- |")
	all := func(r round) spent { return r[plan].plus(r[work]).plus(r[gather]) }
	row := func(name string, of func(r round) spent) {
		user := median(rounds, func(r round) float64 { return of(r).user })
		system := median(rounds, func(r round) float64 { return of(r).system })
		both := spread(rounds, func(r round) float64 { return of(r).sum() })
		fmt.Fprintf(&b, "| %s | %.2f | %.2f | %s |\n", name, user, system, both)
	}
	row("`gram matrix`", func(r round) spent { return r[alone] })
	row("`gramcluster plan gram`", func(r round) spent { return r[plan] })
	row(fmt.Sprintf("`gramcluster work`, %d processes", processes), func(r round) spent { return r[work] })
	row("`gramcluster gather`", func(r round) spent { return r[gather] })
	row("`gramcluster`, total", all)
	fmt.Fprintf(&b, "| ratio | | | %s |\n", spread(rounds, func(r round) float64 { return all(r).sum() / r[alone].sum() }))
	return b.String()
}

// sorted returns the values of(r) for all rounds r, in ascending order.
func sorted(rounds []round, of func(r round) float64) (values []float64) {
	for _, r := range rounds {
		values = append(values, of(r))
	}
	slices.Sort(values)
	return values
}

func median(rounds []round, of func(r round) float64) float64 {
	return report.Median(sorted(rounds, of))
}

// spread formats the median, minimum and maximum of the values of(r) for all rounds r.
func spread(rounds []round, of func(r round) float64) string {
	v := sorted(rounds, of)
	return fmt.Sprintf("%.2f (%.2f to %.2f)", median(rounds, of), v[0], v[len(v)-1])
}
