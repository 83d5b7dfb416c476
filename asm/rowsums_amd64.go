//go:build !purego

package asm

// sumsBlock is what the number of sums must be a multiple of for the kernels in assembly; the portable form takes any other number.
const sumsBlock = 64

func rowSumsAVX2(sum []float64, rows []float32, base int, at []int32, coef []float64) {
	if len(sum)%sumsBlock != 0 {
		rowSumsGeneric(sum, rows, base, at, coef)
		return
	}
	sumRowsAVX2(sum, rows, base, at, coef)
}

func rowSumsAVX512(sum []float64, rows []float32, base int, at []int32, coef []float64) {
	if len(sum)%sumsBlock != 0 {
		rowSumsGeneric(sum, rows, base, at, coef)
		return
	}
	sumRowsAVX512(sum, rows, base, at, coef)
}
