package main

import "github.com/gramengine/gram/engine"

// defaultKernels returns the specifications that verify takes: all that the engine gives as examples, and variants of them.
func defaultKernels() []string {
	var specs []string
	for _, info := range engine.Catalogue() {
		specs = append(specs, info.Examples...)
	}
	return append(specs, variants()...)
}

// variants returns specifications that take other ways through the maps than the examples do.
func variants() []string {
	return []string{"arccos:n=2.5", "arccos:n=0,bias=100", "arccos:n=0,bias=-0.3", "arccos:n=0,bias=0.3,sigma=0.5", "arccos:n=0,bias=0.3,embed=tf-l1-sqrt",
		"arccos:n=0,layers=3", "compose(rbf,arccos:n=1)", "compose(polynomial:r=1,degree=2,arccos:n=1,arccos:n=1)", "compose(polynomial:r=1,degree=3,arccos:n=1)",
		"compose(0.5*linear + rbf,arccos:n=1)", "power(rbf,0.5)", "centred(ned)"}
}

// fewerPairs returns the kernels that are compared on one of eight of the whole rows that others have: the variants, and the example whose reference is an
// integral for every pair.
func fewerPairs() map[string]bool {
	few := map[string]bool{}
	for _, spec := range append(variants(), "arccos:n=0,bias=0.3") {
		few[engine.MustParseKernel(spec).String()] = true
	}
	return few
}
