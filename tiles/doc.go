// Package tiles cuts a Gram matrix into pieces and says who computes which when.
//
// What lives here: the schedule of the symmetric half over workers ([Run]). What doesn't: what a piece contains, which its caller knows.
package tiles
