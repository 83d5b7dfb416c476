//go:build !linux

package doors

type guards struct{}

func (*guards) free() {}

func guarded[T uint8 | uint16 | uint32 | int | int32 | int64 | float32 | float64](p *program, n int) []T {
	return make([]T, n)
}
