package engine_test

import (
	"fmt"
	"log"

	"github.com/gramengine/gram/engine/kernel"
)

// This example combines kernels. Equivalent specifications are equal kernels.
func Example_combinedKernels() {
	for _, spec := range []string{"0.5*diffusion:t=0.5 + 0.5*linear:embed=tf-l1-sqrt", "exp(2*ngd)",
		"product(ngd-exp, bhattacharyya)", "bhattacharyya + -1*ngd-exp"} {
		k, err := kernel.Parse(spec)
		if err != nil {
			log.Fatal(err)
		}
		p := kernel.PropertiesOf(k)
		fmt.Printf("%v: %v, unrefuted %v\n", k, p.Definiteness, p.Unrefuted)
	}
	a, b := kernel.MustParse("arccos:n=1,layers=3"), kernel.MustParse("arccos:layers=3")
	fmt.Println(kernel.Equal(a, b))
	_, err := kernel.Parse("diffusion:t=0")
	fmt.Println(err)
	// Output:
	// 0.5*diffusion:t=0.5 + 0.5*linear: not proven, unrefuted true
	// exp(2*ngd:shift=0): positive definite, unrefuted false
	// product(ngd-exp:t=1,bhattacharyya): positive definite, unrefuted false
	// bhattacharyya + -1*ngd-exp:t=1: not proven, unrefuted false
	// true
	// engine: kernel "diffusion:t=0", column 13: expected a number above 0 (from 1e-18 to 1e+18), found t=0
}
