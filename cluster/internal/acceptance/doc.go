// Package acceptance tests gramcluster as users run it: with killed processes, an S3 server, Spark
// and other schedulers. The output must equal the output of gram.
package acceptance
