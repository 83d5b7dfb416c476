// Package tiles holds the memory of the pieces of a Gram matrix that were computed, bounded in bytes ([Cache]).
package tiles
