// Package doors tests what the public packages promise at their doors, that is, at every exported
// function and method: a bad argument gives an error that names it, or a documented panic that says
// what was found and comes before memory is touched; a good one gives the right numbers. A door
// never fails inside the runtime, never returns NaN without an error, and never waits for ever.
//
// The package has no code besides tests. They have three parts:
//
//   - list_test.go asks the type checker for all doors, so that a new one without a case fails.
//   - cases_*_test.go have a case for each door, which calls it with arguments that a seed draws:
//     corpora of no document, of one document or one term, empty documents, duplicates, NaN and
//     infinities, lengths off by one, indices that are unsorted, doubled or out of range, empty
//     classes.
//   - program_test.go runs the cases in processes of their own, so that a crash, a read beyond a
//     slice or a call that doesn't return is reported with its seed. Slices that reach assembly lie
//     between pages that can't be read (guard_linux_test.go).
//
// FuzzDoors runs the same cases for as long as one likes.
package doors
