// Package repro holds what the experiments of the source papers share. Each paper's experiment is a
// package below this one, such as repro/lafferty; package experiments lists them for the command.
//
// An [Experiment] says what a paper did and declares its flags. A [Run] is what it is given to work
// with: the folder of corpora ([Source]), processor or GPU, a seed, progress. What an experiment finds
// is a [Report]: settings, tables, notes and the learning curves of a [Figure]. [PairedT] and
// [SignTest] are the papers' tests of significance. A [Session] trains and tests classifiers of
// several classes on one corpus, and a [Preparation] says which terms of a text count.
//
// An experiment prints nothing; the command does. It gives the same figures from run to run and
// from any number of workers on one instruction set: they depend on flags, corpora and seed alone.
//
// What one paper alone needs is in its package, such as learning curves over random splits in
// repro/lafferty. The papers' packages don't import each other.
package repro
