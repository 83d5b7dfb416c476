// Package tiles keeps the pieces of a Gram matrix that were computed.
//
// It holds the memory of tiles, bounded in bytes ([Cache]), and their files ([Store]). What a piece
// contains and how it is computed, its callers know.
package tiles
