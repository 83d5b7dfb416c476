// Package tiles caches parts of rows of a Gram matrix in bounded memory ([Cache]).
package tiles
