// Package job says what a job is: a [Description], which is small, names all that its results depend
// on, and whose digest is the job's name; tasks, numbered from 0, whose results are objects of a
// store; and a [Kind], which plans, does and gathers jobs.
//
// Objects have these names, digests being SHA-256 in hexadecimal:
//
//	corpora/DIGEST/…        documents in shards, see package corpus
//	files/DIGEST            other inputs, such as a model
//	jobs/JOB                a description; JOB is its digest
//	results/JOB/NNNNNNNNN   the result of a task
package job
