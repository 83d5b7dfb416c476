package doors

import (
	"fmt"

	"github.com/gramengine/gram/engine/geometry"
	"github.com/gramengine/gram/engine/kernel"
)

func geometryCases() map[string]testCase {
	return map[string]testCase{
		"kernel.RoughError.Error": messages(&kernel.RoughError{}),
		"kernel.RayOf":            {run: surfaces},
		"geometry.At":             {run: surfaces},
		"geometry.Metric":         {run: surfaces},
		"geometry.Fisher":         {run: multinomial},
		"geometry.FisherDistance": {run: multinomial},
		"geometry.FisherGeodesic": {run: multinomial},
		"geometry.FisherLogVolume": {run: func(p *program) {
			n := p.odd()
			p.any(fmt.Sprint(n, " outcomes"), func() error { _, err := geometry.FisherLogVolume(n); return err })
		}},
	}
}

func surfaces(p *program) {
	k := p.kernelOrOwn()
	norm, d := p.strange(), 1+p.IntN(5)
	p.any(fmt.Sprint(k, " at ", norm), func() error { _, err := kernel.RayOf(k, norm); return err })
	p.any(fmt.Sprint(k, " at ", norm), func() error { _, err := geometry.At(k, norm, d); return err })
	x := guarded[float64](p, d)
	for i := range x {
		x[i] = p.strange()
	}
	p.any(fmt.Sprint(k, " at ", x), func() error { _, err := geometry.Metric(k, x); return err })
	p.bad("no kernel", func() error { _, err := kernel.RayOf(nil, 1); return err })
	p.bad("no kernel", func() error { _, err := geometry.At(nil, 1, 1); return err })
	p.bad("no dimensions", func() error { _, err := geometry.At(k, 1, -p.IntN(2)); return err })
	p.bad("no point", func() error { _, err := geometry.Metric(k, nil); return err })
}

func multinomial(p *program) {
	n := 2 + p.IntN(5)
	draw := func() []float64 {
		v, sum := guarded[float64](p, n), 0.0
		for i := range v {
			v[i] = 0.1 + p.Float64()
			sum += v[i]
		}
		for i := range v {
			v[i] /= sum
		}
		return v
	}
	a, b := draw(), draw()
	p.good(fmt.Sprint(a, b), func() error {
		g, err := geometry.Fisher(a)
		finite(p, "metric", g)
		if err != nil {
			return err
		}
		if _, err = geometry.FisherDistance(a, b); err != nil {
			return err
		}
		at, err := geometry.FisherGeodesic(a, b, p.Float64())
		finite(p, "point", at)
		return err
	})
	wrong := draw()
	wrong[p.IntN(n)] = pick(p, p.notFinite(), -0.5, 2)
	p.bad("no distribution", func() error { _, err := geometry.Fisher(wrong); return err })
	p.bad("no distribution", func() error { _, err := geometry.FisherDistance(a, wrong); return err })
	p.bad("no distribution", func() error { _, err := geometry.FisherGeodesic(wrong, b, 0.5); return err })
	p.bad("no share", func() error { _, err := geometry.FisherGeodesic(a, b, pick(p, -1, 2, p.notFinite())); return err })
}
