package lafferty

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// printedTSV contains the figures in the paper's Tables 1 to 6. In Tables 1 to 4, * in the last
// column marks insignificant differences. In Table 6, the last column is a sign, see signOf.
//
//go:embed printed.tsv
var printedTSV string

// printedFigures returns the figures of a row in printedTSV, their number of decimals, and the last
// column. Missing figures are NaN. For Tables 5 and 6, documents must be 0.
func printedFigures(
	table, class, features string, documents int,
) (figures [len(kernels)]float64, digits int, mark string) {
	size := ""
	if documents > 0 {
		size = fmt.Sprint(documents)
	}
	_, rest, ok := strings.Cut(printedTSV, "\n"+strings.Join([]string{table, class, features, size}, "\t")+"\t")
	if !ok {
		return [...]float64{math.NaN(), math.NaN(), math.NaN()}, 4, ""
	}
	line, _, _ := strings.Cut(rest, "\n")
	cells := strings.Split(line, "\t")
	for k := range figures {
		figures[k], _ = strconv.ParseFloat(cells[k], 64)
	}
	return figures, len(cells[0]) - len("0."), cells[3]
}
