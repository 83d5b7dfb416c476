// Package store keeps objects in a folder, in memory, or in a bucket of S3, Google or Azure, for
// processes that know nothing of each other, may end at any moment, and may do the same twice.
//
// It takes no locks and looks at no clock. What keeps it right:
//
//   - An object's name says what it holds, so two who write it write the same bytes.
//   - An object is made only where there is none, and never changed or replaced. Only Delete
//     removes it.
//   - Each object is a frame that knows its own name and has a CRC-32C for each MiB. Get returns the
//     bytes that Put was given, or an error.
//   - Where an object is damaged, the next attempt takes another key: NAME.a0, NAME.a1, …, and a
//     reader takes the first that is whole. So who mends an object can't hurt what another has
//     just written.
package store
