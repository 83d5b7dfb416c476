package kernel

import "github.com/gramengine/gram/sparse"

// sphereFamilies lists the kernels of the simplex and its sphere.
func sphereFamilies() []family {
	sphere := sparse.Sphere
	return []family{
		diffusionFamily(),
		{Info: Info{Name: "ngd", Summary: "shift - 2 arccos(1-c)", What: "negative geodesic distance, on the sphere of radius 2",
			Source: sourceZhang + ", §4", Examples: []string{"ngd:shift=0", "ngd:shift=pi"}}, embedding: sphere,
			params: []param{signed("shift", "what is added to the negative geodesic distance", 0)},
			build:  func(e in, v []float64) component { return ngd{e, v[0]} }},
		{Info: Info{Name: "ngd-exp", Summary: "exp(-arccos(1-c)/t)", What: "exponential of the negative geodesic distance",
			Source: sourceZhang + ", §4", Examples: []string{"ngd-exp:t=1"}}, embedding: sphere,
			params: []param{positive("t", "width, in radians", 1)},
			build:  func(e in, v []float64) component { return ngdExp{e, v[0]} }},
		{Info: Info{Name: "ngd-power", Summary: "-(2 arccos(1-c))^beta", What: "power of the geodesic distance, negative", Source: sourceProduct,
			Examples: []string{"ngd-power:beta=0.5"}}, embedding: sphere,
			params: []param{between("beta", "the power", 0.5, 1)},
			build:  func(e in, v []float64) component { return compile(geodesic{single{e}, v[0]}) }},
		{Info: Info{Name: "ngd-log", Summary: "-ln(1 + 2 arccos(1-c))", What: "logarithm of the geodesic distance, negative", Source: sourceLog,
			Examples: []string{"ngd-log"}}, embedding: sphere,
			build: func(e in, v []float64) component { return compile(geodesic{single{e}, 0}) }},
		{Info: Info{Name: "hellinger", Summary: "exp(-gamma c)", What: "exponential kernel of the squared Hellinger distance", Source: sourceSchoenberg,
			Examples: []string{"hellinger:gamma=1"}}, embedding: sphere,
			params: []param{positive("gamma", "factor of the squared distance", 1)},
			build:  func(e in, v []float64) component { return compile(hellingerExp{single{e}, v[0]}) }},
		{Info: Info{Name: "bhattacharyya", Summary: "1-c", What: "probability product kernel of power ½",
			Source: sourceJebara + ", §2", Examples: []string{"bhattacharyya"}}, embedding: sphere,
			build: func(e in, v []float64) component { return bhattacharyya{e} }},
		probabilityProductFamily(),
		{Info: Info{Name: "c", Summary: "the squared Hellinger distance c = 1 - cosine itself", What: "what all kernels are computed from, no kernel for learning",
			Source: "DESIGN.md", Examples: []string{"c"}}, embedding: sphere,
			build: func(e in, v []float64) component { return C{e} }},
	}
}

// innerFamilies lists the kernels of raw vectors.
func innerFamilies() []family {
	var counts sparse.Embedding
	return []family{
		{Info: Info{Name: "linear", Summary: "⟨x,y⟩ = ‖x‖‖y‖(1-c)", What: "inner product", Source: sourceLIBSVM, Examples: []string{"linear"}}, embedding: counts,
			build: func(e in, v []float64) component { return linear{e} }},
		{Info: Info{Name: "polynomial", Summary: "(gamma ⟨x,y⟩ + r)^degree", What: "polynomial of the inner product", Source: sourceLIBSVM,
			Examples: []string{"polynomial:r=1,degree=2"}}, embedding: counts,
			params: []param{gammaParam(), offsetParam(), whole("degree", "the power", 3, 0, 64)},
			build:  func(e in, v []float64) component { return polynomial{e, v[0], v[1], int(v[2])} }},
		{Info: Info{Name: "rbf", Summary: "exp(-gamma ‖x-y‖²)", What: "Gaussian", Source: sourceLIBSVM, Examples: []string{"rbf"}}, embedding: counts,
			params: []param{gammaParam()},
			build:  func(e in, v []float64) component { return gaussian{e, v[0]} }},
		{Info: Info{Name: "ned", Summary: "-‖x-y‖^beta", What: "Euclidean distance or its power, negative", Source: sourceZhang + ", §4, for beta = 1",
			Examples: []string{"ned:beta=1", "ned:beta=0.5"}}, embedding: counts,
			params: []param{between("beta", "the power", 1, 2)},
			build:  func(e in, v []float64) component { return newEuclidean(e, v[0]) }},
		{Info: Info{Name: "ned-log", Summary: "-ln(1 + ‖x-y‖)", What: "logarithm of the Euclidean distance, negative", Source: sourceLog,
			Examples: []string{"ned-log"}}, embedding: counts,
			build: func(e in, v []float64) component { return newEuclidean(e, 0) }},
		{Info: Info{Name: "sigmoid", Summary: "tanh(gamma ⟨x,y⟩ + r)", What: "hyperbolic tangent of the inner product", Source: sourceLIBSVM,
			Examples: []string{"sigmoid"}}, embedding: counts,
			params: []param{gammaParam(), offsetParam()},
			build:  func(e in, v []float64) component { return sigmoid{e, v[0], v[1]} }},
		arccosFamily(),
	}
}

// layered returns a composition of a kernel with itself.
func layered(k component, layers int) component {
	if layers == 1 {
		return k
	}
	of := make([]component, layers)
	for i := range of {
		of[i] = k
	}
	return compile(compose(of))
}
