package asm

// rowSumsGeneric adds multiples of rows of kernel values, which lie side by side, to as many sums as a row is long,
//
//	sum[r] += Σ_s coef[s]·rows[(at[s]-base)·len(sum) + r],  0 <= r < len(sum)
//
// in the order of s, each product and each sum rounded to float64 by itself: decision values of
// len(sum) objects, whose bits depend neither on how the list is divided among calls nor on the
// other objects. at and coef are equally long. It is the caller's duty that all rows at[s]-base lie
// inside of rows, none below 0, and that sum overlaps nothing else: neither is checked. Nothing is
// allocated or retained; calls may run concurrently as long as no sum overlaps what another call
// reads or writes.
func rowSumsGeneric(sum []float64, rows []float32, base int, at []int32, coef []float64) {
	n := len(sum)
	for s, row := range at {
		values := rows[(int(row)-base)*n:][:n]
		for r, v := range values {
			sum[r] += float64(coef[s] * float64(v))
		}
	}
}
