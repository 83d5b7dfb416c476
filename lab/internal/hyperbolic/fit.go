package hyperbolic

import (
	"fmt"

	"github.com/gramengine/gram/sparse"
)

// Fit returns the maximum-likelihood estimate of each set of points, as [Estimate]. Row i of points
// belongs to the set s.Of[i]. columns are the coordinates, ascending; values in other columns are ignored.
//
// It fails if a set has no two different points.
func Fit(points *sparse.CSR, s *Sets, columns []uint32) ([]Normal, error) {
	members := make([][]int, len(s.Names))
	for i, set := range s.Of {
		members[set] = append(members[set], i)
	}
	normals := make([]Normal, len(s.Names))
	x := make([]float64, len(columns))
	for set, rows := range members {
		var err error
		normals[set], err = Estimate(len(columns), func(visit func([]float64)) {
			for _, i := range rows {
				clear(x)
				terms, values := points.Row(i)
				at := 0
				for k, t := range terms {
					for at < len(columns) && columns[at] < t {
						at++
					}
					if at < len(columns) && columns[at] == t {
						x[at] = float64(values[k])
					}
				}
				visit(x)
			}
		})
		if err != nil {
			return nil, fmt.Errorf("set %s: %w", s.Names[set], err)
		}
	}
	return normals, nil
}
