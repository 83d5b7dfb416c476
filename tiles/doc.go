// Package tiles cuts a Gram matrix into pieces, says who computes which when, and keeps those that
// were computed.
//
// What lives here: the schedule of the symmetric half over workers ([Run]), the memory of tiles
// bounded in bytes ([Cache]), and their files ([Store]). What doesn't: what a piece contains and
// how it is computed, which its caller knows.
package tiles
