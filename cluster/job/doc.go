// Package job defines jobs. A [Description] contains everything that a job's results depend on. The
// digest of the description is the name of the job. Tasks are numbered from 0, and their results
// are objects in a store. A [Kind] plans, runs and gathers jobs.
//
// Objects have the following names, where digests are SHA-256 in hexadecimal:
//
//	corpora/DIGEST/…        documents in shards, see package shards
//	files/DIGEST            other inputs, such as a model
//	jobs/JOB                a description; JOB is its digest
//	results/JOB/NNNNNNNNN   the result of a task
package job
