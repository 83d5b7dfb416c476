package doors

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/gramengine/gram/asm"
)

// cases returns the case of each door. Names are those of the list.
func cases() map[string]testCase {
	all := map[string]testCase{}
	for _, table := range []map[string]testCase{
		sparseCases(), tokenCases(), asmCases(), tilesCases(), engineCases(), kernelCases(), normalCases(),
		deviceCases(), spectrumCases(), geometryCases(),
		solverCases(), modelCases(), svmCases(), logisticCases(), linearCases(), knnCases(), landmarkCases(),
		pcaCases(), selectionCases(), widthCases(), metricCases(), multilayerCases(), cudaCases(), outCases(),
	} {
		for name, c := range table {
			if _, twice := all[name]; twice {
				panic("two cases for " + name)
			}
			all[name] = c
		}
	}
	return all
}

// messages is the case of an error's methods, whose fields may be anything.
func messages(zero ...error) testCase {
	return testCase{run: func(p *program) {
		for _, e := range zero {
			p.quiet(fmt.Sprintf("of %T{}", e), func() {
				_ = e.Error()
				_ = errors.Unwrap(e)
			})
		}
	}}
}

// sized is the case of a method without parameters that adds up what fields say.
func sized(of func(p *program) any) testCase {
	return testCase{run: func(p *program) {
		v := of(p)
		for m := range reflect.TypeOf(v).Methods() {
			if m.Type.NumIn() == 1 && m.Type.NumOut() == 1 && m.Type.Out(0).Kind() == reflect.Int64 {
				p.quiet(fmt.Sprintf("%T.%s of the zero value", v, m.Name), func() {
					reflect.ValueOf(v).MethodByName(m.Name).Call(nil)
				})
			}
		}
	}}
}

func isas() []string {
	var all []string
	for _, isa := range asm.Available() {
		all = append(all, string(isa))
	}
	return all
}
