//go:build campaign

package atomicfile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"syscall"
)

// Fault injection for builds with the tag campaign. GRAM_FAULT="N HOW ERRNO" makes operation N of
// the process fail. Operations are counted from 1. HOW is "fail" (the operation isn't done and
// returns the error), "short" (a write writes half of the data, other operations are done; both
// return the error), "kill" (the process dies before the operation), or "torn" (the process dies
// after "short"). Each other operation appends a line to the file GRAM_OPERATIONS. In this line,
// Failed is set if the operation failed without an injected fault.
var faults = struct {
	sync.Mutex
	n, at int
	how   string
	errno syscall.Errno
	log   *os.File
	files map[*os.File]uint64
}{files: map[*os.File]uint64{}}

func init() {
	f := &faults
	if text := os.Getenv("GRAM_FAULT"); text != "" {
		if _, err := fmt.Sscan(text, &f.at, &f.how, (*uintptr)(&f.errno)); err != nil {
			panic("GRAM_FAULT: " + err.Error())
		}
	}
	if path := os.Getenv("GRAM_OPERATIONS"); path != "" {
		var err error
		if f.log, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666); err != nil {
			panic(err)
		}
	}
}

func perform(o operation, do func(data []byte) (int, error)) (int, error) {
	f := &faults
	f.Lock()
	defer f.Unlock()
	if f.n++; f.n != f.at {
		n, err := do(o.data)
		o.record(f.log, err != nil)
		return n, err
	}
	n := 0
	if f.how == "short" || f.how == "torn" {
		n, _ = do(o.data[:len(o.data)/2])
	}
	if f.how == "torn" || f.how == "kill" {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	return n, o.failed(f.errno)
}

func (o *operation) failed(e syscall.Errno) error {
	switch {
	case o.name == "rename":
		return &os.LinkError{Op: o.name, Old: o.path, New: o.newPath, Err: e}
	case o.file != nil:
		return &os.PathError{Op: o.name, Path: o.file.Name(), Err: e}
	}
	return &os.PathError{Op: o.name, Path: o.path, Err: e}
}

// record appends the operation to a log. Files are numbered; the inode identifies folders.
func (o *operation) record(log *os.File, failed bool) {
	if log == nil {
		return
	}
	line := struct {
		Name, Path, To string
		File, Inode    uint64
		Data           []byte
		Offset         int64
		Failed         bool
	}{Name: o.name, Path: o.path, To: o.newPath, Data: o.data, Offset: o.offset, Failed: failed}
	file := o.file
	if o.created != nil && !failed {
		file = *o.created
	}
	if file != nil {
		if faults.files[file] == 0 {
			faults.files[file] = uint64(len(faults.files) + 1)
		}
		line.File, line.Path = faults.files[file], cmp.Or(o.path, file.Name())
		if info, err := file.Stat(); err == nil {
			line.Inode = info.Sys().(*syscall.Stat_t).Ino
		}
	}
	text, err := json.Marshal(line)
	if err == nil {
		_, err = log.Write(append(text, '\n'))
	}
	if err != nil {
		panic(err)
	}
}
