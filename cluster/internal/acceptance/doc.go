// Package acceptance tests gramcluster as users run it: with killed processes, an S3 server, Spark
// and other schedulers. It compares the output of gramcluster with the output of gram.
package acceptance
