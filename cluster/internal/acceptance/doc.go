// Package acceptance has tests of gramcluster as users run it: processes that are killed, an S3 server, Spark, and the
// other drivers. What comes of them is compared with what gram writes.
package acceptance
