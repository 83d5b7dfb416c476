// Command grambench computes, verifies and benchmarks Gram matrices of kernels on sparse documents.
package main

func main() {}
