package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func entries(t *testing.T, folder string) []string {
	t.Helper()
	list, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func create(t *testing.T, path string) *File {
	t.Helper()
	f, err := Create(path, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Abort)
	return f
}

// A file replaces another when it is complete, not before, and has a new file's permissions.
func TestFileAppearsWhole(t *testing.T) {
	folder := t.TempDir()
	path, fresh := filepath.Join(folder, "a"), filepath.Join(folder, "b")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(fresh, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	f := create(t, path)
	if _, err := f.Write([]byte("?e")); err != nil {
		t.Fatal(err)
	}
	for at, b := range []string{2: "w", 0: "n"} {
		if _, err := f.WriteAt([]byte(b), int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("%q before the file is complete", got)
	}
	if err := errors.Join(f.Sync(), f.Commit()); err != nil {
		t.Fatal(err)
	}
	f.Abort()
	if _, err := f.WriteAt([]byte("late"), 0); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("WriteAt after Commit: error %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "new" {
		t.Errorf("%q, expected the new content", got)
	}
	made, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if usual, _ := os.Stat(fresh); made.Mode() != usual.Mode() {
		t.Errorf("permissions %v, expected %v", made.Mode(), usual.Mode())
	}
	if names := entries(t, folder); !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("the folder has %q", names)
	}
}

// The temporary name is the pattern's, with a number in the place of the star.
func TestTemporaryNames(t *testing.T) {
	for pattern, want := range map[string][2]string{"": {".a.", ".tmp"}, "making-*": {"making-", ""}} {
		folder := t.TempDir()
		f, err := Create(filepath.Join(folder, "a"), pattern)
		if err != nil {
			t.Fatal(err)
		}
		name := entries(t, folder)[0]
		number := strings.TrimSuffix(strings.TrimPrefix(name, want[0]), want[1])
		if len(name) != len(want[0]+number+want[1]) || number == "" || strings.Trim(number, "0123456789") != "" {
			t.Errorf("pattern %q gives %q", pattern, name)
		}
		f.Abort()
		if names := entries(t, folder); len(names) != 0 {
			t.Errorf("an aborted file leaves %q", names)
		}
	}
}

// What is no regular file isn't replaced, and errors don't name the temporary file.
func TestCreateRefuses(t *testing.T) {
	folder := t.TempDir()
	link := filepath.Join(folder, "link")
	if err := os.Symlink("nowhere", link); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]string{
		folder:                             "is a folder, expected a regular file or none",
		"":                                 `"" names no file`,
		folder + "/none/":                  "names no file",
		link:                               "is a link, expected a regular file or none",
		filepath.Join(folder, "none", "a"): "a can't be written in folder " + filepath.Join(folder, "none"),
	} {
		f, err := Create(path, "")
		if err == nil {
			f.Abort()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), ".tmp") {
			t.Errorf("%s: error %v, expected %q", path, err, want)
		}
	}
}

// The temporary file is in the folder that the system finds behind a path, not in the one that its
// text has after cleaning: a file may not change file systems with its name, and a folder that isn't
// there is noticed before the work.
func TestFolderOfPath(t *testing.T) {
	base := t.TempDir()
	deep := filepath.Join(base, "other", "deep")
	if err := os.MkdirAll(deep, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(deep, filepath.Join(base, "link")); err != nil {
		t.Skip(err)
	}
	f := create(t, base+"/link/../a") // in other
	if names := entries(t, filepath.Join(base, "other")); len(names) != 2 {
		t.Errorf("other has %q, expected a temporary file, too", names)
	}
	if err := f.Commit(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(base, "other", "a")); err != nil {
		t.Error(err)
	}
	if f, err := Create(base+"/missing/../a", ""); err == nil {
		f.Abort()
		t.Error("a file behind a folder that isn't there is begun")
	}
}

// An error of Commit leaves nothing behind: neither that of closing nor that of renaming.
func TestCommitFails(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a")
	f := create(t, path)
	f.file.Close()
	if err := f.Commit(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("the file can't be closed: error %v", err)
	}
	f = create(t, path)
	if err := os.Mkdir(path, 0o777); err != nil { // meanwhile
		t.Fatal(err)
	}
	if err := f.Commit(); err == nil {
		t.Error("a file replaces a folder")
	}
	if names := entries(t, folder); !slices.Equal(names, []string{"a"}) {
		t.Errorf("the folder has %q", names)
	}
}

// A file that has ended says so, and changes nothing.
func TestFileAfterItsEnd(t *testing.T) {
	for name, end := range map[string]func(*File){"committed": func(f *File) { f.Commit() }, "aborted": (*File).Abort} {
		folder := t.TempDir()
		f := create(t, filepath.Join(folder, "a"))
		end(f)
		if making.files[f] {
			t.Errorf("%s: the file still counts as one in the making", name)
		}
		before := entries(t, folder)
		if n, err := f.Write([]byte("more")); n != 0 || !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s: Write() = %d, %v", name, n, err)
		}
		if err := f.Sync(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s: Sync() = %v", name, err)
		}
		if err := f.Commit(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s: Commit() = %v", name, err)
		}
		f.Abort()
		if after := entries(t, folder); !slices.Equal(after, before) {
			t.Errorf("%s: the folder had %q and has %q", name, before, after)
		}
	}
}

func TestAbortAll(t *testing.T) {
	folder := t.TempDir()
	if err := create(t, filepath.Join(folder, "whole")).Commit(); err != nil {
		t.Fatal(err)
	}
	create(t, filepath.Join(folder, "half"))
	AbortAll()
	defer func() { making.ended = false }()
	if late, err := Create(filepath.Join(folder, "late"), ""); err == nil {
		late.Abort()
		t.Error("a file is begun when the program ends")
	}
	if names := entries(t, folder); !slices.Equal(names, []string{"whole"}) {
		t.Errorf("the folder has %q, expected the committed file alone", names)
	}
}
