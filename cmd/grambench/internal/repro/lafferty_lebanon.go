package repro

// laffertyLebanon is the first paper's.
var laffertyLebanon = Experiment{
	Name:  "lafferty-lebanon",
	Paper: "Lafferty and Lebanon, Diffusion Kernels on Statistical Manifolds, JMLR 6 (2005), §5",
	Data:  "webkb, reuters-modapte",
	Time:  "10 minutes on two cores",
	Waits: "is being written",
}
