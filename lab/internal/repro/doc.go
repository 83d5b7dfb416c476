// Package repro contains the code shared by experiments of papers. Each paper has a subpackage,
// such as repro/lafferty.
//
// An [Experiment] has settings with a method Run, which returns a [Report] of settings, tables,
// notes and charts. An [Env] provides the data folder, the CPU or GPU, a seed and progress reports.
// A [Session] trains and tests multiclass classifiers on one corpus. [PairedTTest] and [SignTest]
// are the papers' significance tests.
//
// Results depend only on settings, corpora, seed and instruction set.
package repro
