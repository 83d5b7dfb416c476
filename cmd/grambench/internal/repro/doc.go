// Package repro repeats experiments of the papers that the kernels come from, on the real corpora, and sets what it measures beside what the papers print.
//
// Each experiment is a protocol as data, with short code that reads like the paper's section, in files that begin with its name: lafferty_lebanon.go and so
// on. What they share has files of its own: the registry that the command lists (registry.go), what an experiment is given to work with (run.go), the results
// that are kept so that a run can be interrupted and go on (state.go), the report (report.go) with its learning curves (figure.go), the tests of
// significance (stats.go), and the folder of corpora (data.go).
//
// An experiment is a function of flags, corpora and a seed: it gives the same figures from run to run and from any number of workers on one instruction
// set. It prints nothing; the command does, and draws.
package repro
