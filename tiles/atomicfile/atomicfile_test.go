package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

func entries(t *testing.T, folder string) []string {
	t.Helper()
	list := musttest.Get(os.ReadDir(folder))(t)
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func begin(t *testing.T, path string) *File {
	t.Helper()
	f := musttest.Get(Create(path, ""))(t)
	t.Cleanup(f.Abort)
	return f
}

// A file replaces an existing file only when it is complete, and gets its permissions.
func TestFileAppearsWhole(t *testing.T) {
	folder := t.TempDir()
	path, fresh := filepath.Join(folder, "a"), filepath.Join(folder, "b")
	musttest.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	musttest.NoError(t, os.WriteFile(fresh, nil, 0o666))
	f := begin(t, path)
	musttest.Get(f.Write([]byte("?e")))(t)
	for at, b := range []string{2: "w", 0: "n"} {
		musttest.Get(f.WriteAt([]byte(b), int64(at)))(t)
	}
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("%q before the file is complete", got)
	}
	musttest.NoError(t, errors.Join(f.Sync(), f.Commit()))
	f.Abort()
	if got, _ := os.ReadFile(path); string(got) != "new" {
		t.Errorf("%q, expected the new content", got)
	}
	whole := begin(t, filepath.Join(folder, "c"))
	musttest.NoError(t, whole.Commit())
	for path, like := range map[string]fs.FileMode{path: 0o600, whole.path: mode(t, fresh)} {
		if made := mode(t, path); made != like {
			t.Errorf("%s: permissions %v, expected %v", path, made, like)
		}
	}
	if names := entries(t, folder); !slices.Equal(names, []string{"a", "b", "c"}) {
		t.Errorf("the folder has %q", names)
	}
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info := musttest.Get(os.Stat(path))(t)
	return info.Mode()
}

// The temporary name is the pattern with a number in place of the star.
func TestTemporaryNames(t *testing.T) {
	for pattern, want := range map[string][2]string{"": {".a.", ".tmp"}, "making-*": {"making-", ""}} {
		folder := t.TempDir()
		f := musttest.Get(Create(filepath.Join(folder, "a"), pattern))(t)
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

// Create replaces only regular files, and errors don't contain the temporary name.
func TestCreateRefuses(t *testing.T) {
	folder := t.TempDir()
	link := filepath.Join(folder, "link")
	if err := os.Symlink("nowhere", link); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]string{
		folder:                             "is a folder, not a regular file",
		"":                                 `"" is not a file name`,
		folder + "/none/":                  "is not a file name",
		link:                               "is a link, not a regular file",
		filepath.Join(folder, "none", "a"): "cannot write a in folder " + filepath.Join(folder, "none"),
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

// The temporary file is in the folder to which the system resolves the path, which may differ from
// the cleaned path: renaming must not cross file systems. A missing folder is an error of Create.
func TestFolderOfPath(t *testing.T) {
	base := t.TempDir()
	deep := filepath.Join(base, "other", "deep")
	musttest.NoError(t, os.MkdirAll(deep, 0o777))
	if err := os.Symlink(deep, filepath.Join(base, "link")); err != nil {
		t.Skip(err)
	}
	musttest.NoError(t, os.WriteFile(filepath.Join(base, "other", ".a.1.tmp"), nil, 0o666))
	f := begin(t, base+"/link/../a") // the file is in the folder other
	want := []string{"deep"}
	if f.tempPath != "" {
		want = []string{filepath.Base(f.tempPath), "deep"}
	}
	if names := entries(t, filepath.Join(base, "other")); !slices.Equal(names, want) {
		t.Errorf("other has %q, expected %q", names, want)
	}
	musttest.NoError(t, f.Commit())
	if _, err := os.Stat(filepath.Join(base, "other", "a")); err != nil {
		t.Error(err)
	}
	if f, err := Create(base+"/missing/../a", ""); err == nil {
		f.Abort()
		t.Error("a file behind a folder that isn't there is begun")
	}
}

// If Commit fails to close, sync or rename the file, it leaves no temporary file and doesn't
// replace the existing file.
func TestCommitFails(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a")
	f := begin(t, path)
	f.file.Close()
	musttest.WantError(f.Commit())(t, "the file can't be closed", fs.ErrClosed)
	r, w, err := os.Pipe() // a pipe can't be synced
	musttest.NoError(t, err)
	defer r.Close()
	musttest.NoError(t, os.WriteFile(path, []byte("old"), 0o666))
	f = begin(t, path)
	f.file.Close()
	f.file = w
	musttest.WantError(f.Commit())(t, "a file that can't be synced")
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("%q, expected the file before", got)
	}
	os.Remove(path)
	f = begin(t, path)
	if err := os.Mkdir(path, 0o777); err != nil { // so that renaming fails
		t.Fatal(err)
	}
	musttest.WantError(f.Commit())(t, "a file that replaces a folder")
	if names := entries(t, folder); !slices.Equal(names, []string{"a"}) {
		t.Errorf("the folder has %q", names)
	}
}

// Commit and CommitUnsynced create a new file or replace an existing one.
func TestCommit(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a")
	for i, commit := range []func(*File) error{(*File).CommitUnsynced, (*File).Commit, (*File).CommitUnsynced} {
		f := begin(t, path)
		musttest.Get(f.Write([]byte{'0' + byte(i)}))(t)
		if err := commit(f); err != nil {
			t.Errorf("commit %d: error %v", i, err)
		}
		want := string('0' + rune(i))
		if got, _ := os.ReadFile(path); string(got) != want {
			t.Errorf("commit %d leaves %q, expected %q", i, got, want)
		}
		if names := entries(t, folder); !slices.Equal(names, []string{"a"}) {
			t.Errorf("the folder has %q", names)
		}
	}
}

// Create removes the temporary file of a killed process, but not the temporary file of a running
// process.
func TestKilled(t *testing.T) {
	if path := os.Getenv("ATOMICFILE_PATH"); path != "" { // this process will be killed
		f, err := Create(path, "")
		if err == nil {
			_, err = f.Write([]byte("half"))
		}
		fmt.Println("made", err)
		select {}
	}
	path := filepath.Join(t.TempDir(), "a")
	live := begin(t, path)
	child := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	child.Env = append(os.Environ(), "ATOMICFILE_PATH="+path)
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if errors.Is(err, syscall.ENOEXEC) {
		t.Skip("the program runs in an emulator, and so can't start itself")
	}
	musttest.NoError(t, err)
	line, err := bufio.NewReader(out).ReadString('\n')
	if line != "made <nil>\n" {
		t.Errorf("the process says %q, error %v", line, err)
	}
	during := len(entries(t, filepath.Dir(path)))
	musttest.NoError(t, child.Process.Kill())
	_ = child.Wait()
	again := begin(t, path)
	if names := entries(t, filepath.Dir(path)); len(names) != 2 || during != 2 {
		t.Errorf("the folder had %d files and has %q, expected 2", during, names)
	}
	musttest.NoError(t, errors.Join(live.Commit(), again.Commit()))
}

// RemoveStale removes only unlocked regular files whose names match the pattern with a number.
func TestSweep(t *testing.T) {
	folder := t.TempDir()
	held := begin(t, filepath.Join(folder, "a*b"))
	if held.lock == nil {
		t.Skip("no locks here")
	}
	names := []string{".a*b.x.tmp", ".a*b..tmp", ".a*b.1", "a", ".a*b.12.tmp"}
	for _, name := range names {
		musttest.NoError(t, os.WriteFile(filepath.Join(folder, name), nil, 0o666))
	}
	musttest.NoError(t, os.Mkdir(filepath.Join(folder, ".a*b.2.tmp"), 0o777))
	RemoveStale(filepath.Join(folder, "none"), "*")
	RemoveStale(folder, "no star")
	RemoveStale(folder, ".a*b.*.tmp")
	want := append(names[:4:4], ".a*b.2.tmp", filepath.Base(held.tempPath))
	slices.Sort(want)
	if left := entries(t, folder); !slices.Equal(left, want) {
		t.Errorf("left are %q, expected %q", left, want)
	}
}

// After Commit or Abort, methods of a file return an error and change nothing.
func TestFileAfterItsEnd(t *testing.T) {
	for name, end := range map[string]func(*File){"committed": func(f *File) { f.Commit() }, "aborted": (*File).Abort} {
		folder := t.TempDir()
		f := begin(t, filepath.Join(folder, "a"))
		end(f)
		if openFiles.files[f] {
			t.Errorf("%s: the file still counts as one in the making", name)
		}
		before := entries(t, folder)
		_, written := f.Write([]byte("more"))
		_, writtenAt := f.WriteAt([]byte("more"), 0)
		for i, err := range []error{written, writtenAt, f.Sync(), f.Commit()} {
			if !errors.Is(err, fs.ErrClosed) {
				t.Errorf("%s: operation %d: %v", name, i, err)
			}
		}
		f.Abort()
		if after := entries(t, folder); !slices.Equal(after, before) {
			t.Errorf("%s: the folder had %q and has %q", name, before, after)
		}
	}
}

func TestAbortAll(t *testing.T) {
	folder := t.TempDir()
	musttest.NoError(t, begin(t, filepath.Join(folder, "whole")).Commit())
	begin(t, filepath.Join(folder, "half"))
	AbortAll()
	defer func() { openFiles.ended = false }()
	if late, err := Create(filepath.Join(folder, "late"), ""); err == nil {
		late.Abort()
		t.Error("a file is begun when the program ends")
	}
	if names := entries(t, folder); !slices.Equal(names, []string{"whole"}) {
		t.Errorf("the folder has %q, expected the committed file alone", names)
	}
}
