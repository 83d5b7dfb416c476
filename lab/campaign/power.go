package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

var powerPart = part{
	name: "power", short: 10 * time.Second, long: 20 * time.Minute, prepare: preparePower,
	about: "the power fails after any operation on files, and any of those that weren't synced are lost",
}

// operation is what tiles/atomicfile writes down in a build with the tag campaign.
type operation struct {
	Name, Path, To string
	File, Inode    uint64
	Data           []byte
	Offset         int64
	Failed         bool
}

// history is a run of a writer, operation by operation.
type history struct {
	*trialOf
	done   []operation
	folder uint64 // its inode
}

func preparePower(ctx context.Context, t *trial) (func(ctx context.Context, number int64) error, error) {
	list, err := t.trials(ctx)
	if err != nil {
		return nil, err
	}
	var all []*history
	var ends []int64 // of the histories among all prefixes
	prefixes := int64(0)
	for _, w := range list {
		h, err := t.record(ctx, w)
		if err != nil {
			return nil, err
		}
		all, prefixes = append(all, h), prefixes+int64(len(h.done))+1
		ends = append(ends, prefixes)
	}
	t.note("prefixes of operations there are", fmt.Sprint(prefixes))
	return func(ctx context.Context, number int64) error {
		const rounds = 50 // of other choices at random
		if number >= rounds*prefixes {
			return errDone
		}
		at := number % prefixes
		of, _ := slices.BinarySearch(ends, at+1)
		n := at
		if of > 0 {
			n -= ends[of-1]
		}
		return t.failAfter(ctx, all[of], int(n))
	}, nil
}

// record runs a writer and reads what it does.
func (t *trial) record(ctx context.Context, w *trialOf) (*history, error) {
	folder, err := t.folder(w.before)
	if err != nil {
		return nil, err
	}
	log := filepath.Join(t.scratch, "operations")
	_ = os.Remove(log)
	r, err := t.start(ctx, job{folder: folder, argv: w.argv, env: []string{"GRAM_OPERATIONS=" + log}})
	if err != nil || r.status != 0 {
		return nil, fmt.Errorf("%s: %w, %s", w.name, err, r.said())
	}
	h := &history{trialOf: w}
	if info, err := os.Stat(folder); err == nil {
		h.folder = info.Sys().(*syscall.Stat_t).Ino
	}
	text, err := os.ReadFile(log)
	for line := range bytes.Lines(text) {
		var o operation
		if err := json.Unmarshal(line, &o); err != nil {
			return nil, err
		}
		if !o.Failed {
			h.done = append(h.done, o)
		}
	}
	if w.count > 0 && len(h.done) == 0 {
		return nil, fmt.Errorf("%s: no operations in %s: %w", w.name, log, err)
	}
	return h, nil
}

// failAfter looks at what a file system may hold where the power fails after n operations: of names that weren't
// synced all, none, each one less, and at random; of unsynced bytes likewise, as zeros or beyond the file's end.
func (t *trial) failAfter(ctx context.Context, h *history, n int) error {
	choices := []func(i int) bool{
		func(int) bool { return true }, func(int) bool { return false },
		func(int) bool { return t.r.IntN(2) == 0 }, func(int) bool { return t.r.IntN(4) > 0 },
	}
	for i := range n {
		choices = append(choices, func(k int) bool { return k != i })
	}
	seen := map[string]bool{}
	for _, names := range choices {
		for _, data := range choices[:4] {
			files := h.left(n, names, data)
			var key strings.Builder
			for _, name := range sortedKeys(files) {
				fmt.Fprintf(&key, "%s %x ", name, sum(files[name]))
			}
			if seen[key.String()] {
				continue
			}
			seen[key.String()] = true
			t.count("states of the disk", 1)
			if err := t.examine(ctx, h, n, files); err != nil {
				return err
			}
		}
	}
	return nil
}

// left returns the files after n operations, without those names and those bytes that weren't synced and aren't chosen.
func (h *history) left(n int, names, data func(i int) bool) map[string][]byte {
	type file struct{ data []byte }
	made := map[uint64]*file{}
	files := map[string]*file{}
	for name, is := range h.before {
		files[name] = &file{slices.Clone(is)}
	}
	synced, folders := map[uint64]int{}, map[uint64]int{} // the last operations that sync files and folders
	for i, o := range h.done[:n] {
		if o.Name == "sync" {
			synced[o.File], folders[o.Inode] = i, i
		}
		if made[o.File] == nil {
			made[o.File] = &file{}
		}
	}
	for i, o := range h.done[:n] {
		stays := i < folders[h.folder] || names(i)
		switch {
		case o.Name == "write":
			f, at := made[o.File], int(o.Offset)
			if at < 0 {
				at = len(f.data)
			}
			there := i < synced[o.File] || data(i)
			if end := at + len(o.Data); end > len(f.data) && (there || i%2 == 0) { // a length without bytes is zeros
				f.data = append(f.data, make([]byte, end-len(f.data))...)
			}
			if there {
				copy(f.data[at:], o.Data)
			}
		case o.Name == "create" && stays:
			files[o.Path] = made[o.File]
		case o.Name == "rename" && stays && files[o.Path] != nil:
			files[o.To] = files[o.Path]
			delete(files, o.Path)
		case o.Name == "remove" && stays:
			delete(files, o.Path)
		}
	}
	left := map[string][]byte{}
	for name, f := range files {
		left[name] = comparable(name, f.data)
	}
	return left
}

// examine checks that each file is the one before or the new one, the new one after the last operation, and that the
// next run succeeds where that may not be taken for granted.
func (t *trial) examine(ctx context.Context, h *history, n int, files map[string][]byte) error {
	where := fmt.Sprintf("%s, the power fails after %d of %d operations", h.name, n, len(h.done))
	for name, want := range h.after {
		is, there := files[name]
		old, was := h.before[name]
		switch {
		case there && bytes.Equal(is, want):
		case n == len(h.done):
			t.find("%s: %s isn't the new file though the run has ended", where, name)
		case there != was || !bytes.Equal(is, old):
			t.find("%s: %s has %d bytes, neither the file before (%d) nor the new one (%d)", where, name, len(is),
				len(old), len(want))
		}
	}
	if t.r.IntN(20) > 0 { // old and new files are those of other parts
		return nil
	}
	folder, err := t.folder(files)
	if err != nil {
		return err
	}
	r, err := t.start(ctx, job{folder: folder, argv: h.argv})
	if err != nil {
		return err
	}
	t.count("runs after that", 1)
	t.sameFiles(where+": the next run", r, h.after, contents(folder))
	return nil
}

func sum(data []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range data {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}
