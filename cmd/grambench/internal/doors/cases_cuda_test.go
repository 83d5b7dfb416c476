package doors

import (
	"errors"
	"fmt"

	"github.com/gramengine/gram/cuda"
)

func cudaCases() map[string]testCase {
	return map[string]testCase{
		"cuda.Failure.Error":  messages(&cuda.Failure{Err: errors.New("x")}),
		"cuda.Failure.Unwrap": messages(&cuda.Failure{Err: errors.New("x")}),
		"cuda.Open": {run: func(p *program) {
			opt := cuda.Options{MemoryBytes: int64(p.odd()), Tensor: p.chance(2)}
			p.any(fmt.Sprintf("%+v", opt), func() error {
				d, err := cuda.Open(opt)
				if err == nil {
					err = errors.Join(d.Close(), d.Close())
				}
				return err
			})
		}},
	}
}
