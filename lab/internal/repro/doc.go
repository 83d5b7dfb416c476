// Package repro repeats the experiments of the source papers. It holds what the experiments share;
// each paper is a package below, such as repro/lafferty.
//
// An [Experiment] is a struct of settings with a method Run, which returns a [Report]: settings,
// tables, notes and charts. A [Run] gives it the folder of corpora, processor or GPU, a seed and
// progress. A [Session] trains and tests classifiers of several classes on one corpus. [PairedT]
// and [SignTest] are the papers' tests of significance.
//
// The figures depend on settings, corpora, seed and instruction set alone.
package repro
