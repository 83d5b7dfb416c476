// Package tiles is the run-time of all computations and what they cut a Gram matrix into: it hands out
// pieces of work, tiles of the matrix or others, to workers, and keeps the tiles that were computed.
//
// It holds the loop over workers ([Run]), the report of progress ([Reporter]), the memory of tiles,
// bounded in bytes ([Cache]), and their files ([Store]). What a piece contains and how it is
// computed, its callers know.
package tiles
