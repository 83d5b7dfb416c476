// Package cli is what the commands of a program have in common before they know of any document:
// commands with their flags, help and completion, exit codes, warnings, progress, and the guard
// that keeps a command from overwriting what it reads.
//
// A [Program] finds the command, has [Command.Setup] declare its flags, checks them, and runs what
// Setup returned. Results go to standard output, progress and diagnostics to standard error, and
// reports, too, where standard output takes a file. Exit status: 0 done, 1 failed, 2 wrong usage,
// 128 plus the number of the signal that ended the command.
package cli
