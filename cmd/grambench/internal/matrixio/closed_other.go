//go:build !unix

package matrixio

import "os"

// Closed reports whether a standard stream was closed when the program began.
func Closed(file *os.File) bool { _, err := file.Stat(); return err != nil }
