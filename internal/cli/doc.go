// Package cli contains the parts of a command-line program that don't depend on documents: commands
// and their flags, help and completion, exit statuses, warnings, progress, and the guard that
// prevents a command from overwriting its input.
//
// A [Program] finds the command, calls [Command.Setup] to declare its flags, checks them, and runs
// the work that Setup returned. Results go to standard output, progress and messages to standard
// error. Reports also go to standard error if the result goes to standard output. Exit statuses: 0
// success, 1 failure, 2 wrong usage, 128 plus the signal's number.
package cli
