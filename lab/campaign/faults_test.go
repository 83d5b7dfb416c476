//go:build campaign

package campaign

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/internal/musttest"
)

var faultsPart = part{
	name: "faults", short: 10 * time.Second, long: 15 * time.Minute,
	about: "the n-th file operation fails or is incomplete, for every n; files must be synced before they are renamed",
	prepare: func(t *trial) func(number int64) bool {
		all := t.recordings()
		for _, w := range all {
			t.checkSyncs(w)
		}
		ways := []string{fmt.Sprintf("short %d", syscall.ENOSPC)}
		for _, e := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO} {
			ways = append(ways, fmt.Sprintf("fail %d", e))
		}
		return t.faults(all, ways...)
	},
}

var killPart = part{
	name: "kill", short: 8 * time.Second, long: 10 * time.Minute,
	about: "the process is killed before the n-th operation on files, or in the middle of it, for every n",
	prepare: func(t *trial) func(number int64) bool {
		return t.faults(t.recordings(), "kill 0", "torn 0")
	},
}

// writer is a command that writes files. In args, $ is replaced by old in the first run, and by new
// in the second run.
type writer struct{ name, args, old, new string }

var writers = []writer{
	{"matrix", "matrix -q -in a.tsv -kernel $ -o k.npy -o-labels k.labels", "linear", "diffusion"},
	{"matrix text", "matrix -q -in a.tsv -kernel $ -o k.svm", "linear", "rbf"},
	{"train", "train -q -in a.tsv -kernel linear -c $ -o m.model", "1", "2"},
	{"landmarks", "train -q -in a.tsv -type landmark:m=8 -c $ -o m.model", "1", "2"},
	{"grid", "grid -q -in a.tsv -kernel linear -grid C=$ -o m.model", "1,2", "2,3"},
	{"grid page", "grid -q -in a.tsv -kernel linear -grid C=$ -report r.html", "1,2", "2,3"},
	{"predict", "predict -q -in a.tsv -model fixed.model -o $", "p.csv", "p.csv"},
	{"duplicates", "duplicates -q -in a.tsv -within $ -o d.tsv", "0.01", "0.9"},
	{"evaluate", "evaluate -q -in a.tsv -model fixed.model -o e.csv -report r.html -mistakes $", "1", "2"},
	{"index", "child index x.index $", "a b", "c d e"}, // run by the test binary
}

func writeIndex(args []string) {
	x, err := gram.NewIndex(context.Background(), args[1:], gram.IndexOptions{})
	must(err)
	must(x.Save(args[0]))
}

// corpusLines are labelled texts of two classes.
func corpusLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "c%d\tw%d w%d w%d common\n", i%2, i%2, i%7, i%11)
	}
	return b.String()
}

// vectorLines are labelled vectors of two classes.
func vectorLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d 1:%d 2:%d 3:%d 4:1\n", i%2, 1+i%2*3+i%3, 1+i%5, 2+i%7)
	}
	return b.String()
}

// operation is a line that tiles/atomicfile logs to $GRAM_OPERATIONS (build tag campaign).
type operation struct {
	Name, Path, To string
	File, Inode    uint64
	Failed         bool
}

// recording is a run of a writer without a fault: the files before and after the run, and the
// operations.
type recording struct {
	writer
	argv          []string
	before, after map[string][]byte
	operations    []operation
	folder        uint64 // inode of the folder
}

// recordings runs each writer in an empty folder, and in a folder with files that the writer
// replaces.
func (t *trial) recordings() (all []*recording) {
	program := t.build("./cmd/gram")
	argv := func(args, value string) []string {
		argv := []string{program}
		if strings.HasPrefix(args, "child ") {
			argv[0] = os.Args[0]
		}
		for word := range strings.FieldsSeq(args) {
			argv = append(argv, strings.ReplaceAll(word, "$", value))
		}
		if argv[0] == program && argv[1] != "evaluate" {
			argv = append(argv, "-workers", "1")
		}
		return argv
	}
	folder := t.folder(map[string][]byte{"a.tsv": []byte(corpusLines(24))})
	t.succeed(job{folder: folder, argv: argv("train -q -in a.tsv -kernel linear -c 1 -o fixed.model", "")})
	inputs := contents(folder)
	for _, w := range writers {
		for _, replaces := range []bool{false, true} {
			one := &recording{writer: w, argv: argv(w.args, w.new), before: inputs}
			folder := t.folder(inputs)
			if replaces {
				t.succeed(job{folder: folder, argv: argv(w.args, w.old)})
				one.before, one.name = contents(folder), w.name+", replacing"
			}
			one.folder = musttest.Get(os.Stat(folder))(t).Sys().(*syscall.Stat_t).Ino
			log := filepath.Join(t.scratch, "operations")
			_ = os.Remove(log)
			t.succeed(job{folder: folder, argv: one.argv, env: []string{"GRAM_OPERATIONS=" + log}})
			one.after = contents(folder)
			text, _ := os.ReadFile(log)
			for line := range bytes.Lines(text) {
				var o operation
				musttest.NoError(t, json.Unmarshal(line, &o))
				one.operations = append(one.operations, o)
			}
			if len(one.operations) == 0 && w.old != w.new {
				t.Fatalf("%s: no operation on files", one.name)
			}
			all = append(all, one)
		}
	}
	return all
}

// checkSyncs checks that a power failure leaves complete files: each file is synced between its
// last write and its rename, and the folder after the last rename.
func (t *trial) checkSyncs(w *recording) {
	files, unsynced, renamed := map[string]uint64{}, map[uint64]bool{}, false
	for _, o := range w.operations {
		switch {
		case o.Failed:
		case o.Name == "create":
			files[o.Path] = o.File
		case o.Name == "write":
			unsynced[o.File] = true
		case o.Name == "sync":
			unsynced[o.File], renamed = false, renamed && o.Inode != w.folder
		case o.Name == "rename":
			if renamed = true; unsynced[files[o.Path]] {
				t.find("%s: %s is renamed before it is synced", w.name, o.To)
			}
		}
	}
	t.count("recordings of syncs", 1)
	if renamed {
		t.find("%s: the folder isn't synced after the last rename", w.name)
	}
}

// faults returns a case for each operation of each writer and each kind of fault.
func (t *trial) faults(all []*recording, ways ...string) func(number int64) bool {
	var cases []func()
	for _, w := range all {
		for n := range w.operations {
			for _, how := range ways {
				cases = append(cases, func() { t.fault(w, how, n+1) })
			}
		}
	}
	step := int64(1)
	if testing.Short() { // a sample; 41 shares no factor with the number of ways
		step = 41
	}
	return func(number int64) bool {
		if number*step >= int64(len(cases)) {
			return false
		}
		cases[number*step]()
		return true
	}
}

// fault runs a writer whose n-th operation fails, and then runs it again without a fault.
func (t *trial) fault(w *recording, how string, n int) {
	folder := t.folder(w.before)
	where := fmt.Sprintf("%s, operation %d of %d: %s", w.name, n, len(w.operations), how)
	r := t.start(job{folder: folder, argv: w.argv, env: []string{fmt.Sprintf("GRAM_FAULT=%d %s", n, how)}})
	t.count("failed operations", 1)
	died := !strings.HasPrefix(how, "fail") && !strings.HasPrefix(how, "short")
	if r.crashed() || died != (r.status == -1) {
		t.find("%s: %s", where, r.said())
	}
	now := contents(folder)
	for name, whole := range w.after {
		is, there := now[name]
		old, was := w.before[name]
		before := there == was && bytes.Equal(is, old)
		if !(there && bytes.Equal(is, whole)) && (!before || r.status == 0) {
			t.find("%s: %s has %d bytes, neither the file before (%d) nor the new one (%d); %s", where, name, len(is),
				len(old), len(whole), r.said())
		}
	}
	if r.status == 0 && w.operations[n-1].Name == "sync" && how == fmt.Sprintf("fail %d", syscall.EIO) {
		t.find("%s: a disk that can't sync is no error", where)
	}
	named := func(name string) bool {
		return name != "a.tsv" && name != "fixed.model" && strings.Contains(r.stderr, name)
	}
	if r.status > 0 && !slices.ContainsFunc(slices.Collect(maps.Keys(w.after)), named) {
		t.find("%s: no file is named: %s", where, r.said())
	}
	for name := range now {
		_, known := w.after[name]
		if _, was := w.before[name]; !died && !known && !was {
			t.count("temporary files left because they couldn't be removed", 1)
			if !strings.HasPrefix(how, "fail") {
				t.find("%s: leaves %s", where, name)
			}
		}
	}
	r = t.start(job{folder: folder, argv: w.argv})
	t.count("later runs", 1)
	after := contents(folder)
	for name, data := range w.after {
		if is, there := after[name]; !there || !bytes.Equal(is, data) {
			t.find("%s: the next run: %s has %d bytes, expected others (%d)", where, name, len(is), len(data))
		}
	}
	if len(after) != len(w.after) || r.status != 0 {
		t.find("%s: the next run leaves %q, %s", where, slices.Sorted(maps.Keys(after)), r.said())
	}
}
