//go:build !campaign

package atomicfile

func perform(o operation, do func(data []byte) (int, error)) (int, error) { return do(o.data) }
