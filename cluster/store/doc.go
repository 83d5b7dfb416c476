// Package store keeps objects in a folder, in memory, or in a bucket of S3, Google or Azure.
// Processes need no locks and no clocks. They may be killed at any time and may repeat work.
//
// Correctness follows from these rules:
//
//   - The name of an object determines its contents, so concurrent writers write the same bytes.
//   - An object is created only if it doesn't exist, and never changed or replaced. Only Delete
//     removes it.
//   - Each object contains its name and a CRC-32C per MiB. Get returns the bytes passed to Put, or
//     an error.
//   - Attempts to write an object have keys NAME.a0, NAME.a1, …. A writer creates the next attempt
//     if the previous attempts are damaged. Readers use the first intact attempt. So repairing an
//     object never overwrites an attempt that another process has just written.
package store
