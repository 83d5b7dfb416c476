// Package tiles hands out the pieces of a Gram matrix to workers and keeps those that were
// computed.
//
// It holds the loop over workers ([Run]), the report of progress ([Reporter]), the memory of tiles,
// bounded in bytes ([Cache]), and their files ([Store]). What a piece contains and how it is
// computed, its callers know.
package tiles
