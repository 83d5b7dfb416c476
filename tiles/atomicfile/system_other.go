//go:build !linux

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
)

func openUnnamed(*File, fs.FileMode) error   { return errors.ErrUnsupported }
func linkUnnamed(*os.File, string) error     { return errors.ErrUnsupported }
func hold(string, bool) *os.File             { return nil }
func keep(file *os.File, before fs.FileInfo) { _ = file.Chmod(before.Mode().Perm()) }
