package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/gramengine/gram"
)

var faultsPart = part{
	name: "faults", short: 12 * time.Second, long: 20 * time.Minute, prepare: prepareFaults,
	about: "the n-th operation on files fails, is cut short, or is the last of the process, for every n",
}

func init() {
	children["index"] = func(ctx context.Context, args []string) error {
		x, err := gram.NewIndex(ctx, args[1:], gram.IndexOptions{})
		if err != nil {
			return err
		}
		return x.Save(args[0])
	}
}

// writer is a command that writes files. A run with old in the place of new leaves other files, which new replaces.
type writer struct {
	name     string
	program  string
	args     string
	old, new string
}

var writers = []writer{
	{name: "matrix", args: "matrix -q -in a.tsv -kernel $ -o k.npy -o-labels k.labels", old: "linear", new: "diffusion"},
	{name: "matrix text", args: "matrix -q -in a.tsv -kernel $ -o k.svm", old: "linear", new: "rbf"},
	{name: "train", args: "train -q -in a.tsv -kernel linear -c $ -o m.model", old: "1", new: "2"},
	{name: "landmarks", args: "train -q -in a.tsv -type landmark:m=8 -c $ -o m.model", old: "1", new: "2"},
	{name: "grid", args: "grid -q -in a.tsv -kernel linear -grid C=$ -o m.model", old: "1,2", new: "2,3"},
	{name: "grid page", args: "grid -q -in a.tsv -kernel linear -grid C=$ -report r.html", old: "1,2", new: "2,3"},
	{name: "predict", args: "predict -q -in a.tsv -model fixed.model -o $", old: "p.csv", new: "p.csv"},
	{name: "duplicates", args: "duplicates -q -in a.tsv -within $ -o d.tsv", old: "0.01", new: "0.9"},
	{name: "evaluate", args: "evaluate -q -in a.tsv -model fixed.model -o e.csv -report r.html -mistakes $", old: "1",
		new: "2"},
	{name: "index", program: "campaign", args: "child index x.index $", old: "a b", new: "c d e"},
}

// ways are how an operation goes wrong, in the words of tiles/atomicfile.
var ways = func() (list []string) {
	for _, e := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO} {
		list = append(list, fmt.Sprintf("fail %d", e))
	}
	return append(list, fmt.Sprintf("short %d", syscall.ENOSPC), "kill 0", "torn 0")
}()

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

// trialOf is a writer with the files before it and after it.
type trialOf struct {
	writer
	argv   []string
	inputs map[string][]byte // of writers of all kinds
	before map[string][]byte // what the folder holds at first
	after  map[string][]byte // and after a run without a fault
	count  int               // of operations
	syncs  map[int]bool      // which of them, from 1 on, are syncs
}

// faulty are the programs built with faults.
type faulty struct{ gram, campaign string }

func (t *trial) faulty(ctx context.Context) (f faulty, err error) {
	if f.gram, err = t.build(ctx, ".", "./cmd/gram", "-tags", "campaign"); err == nil {
		f.campaign, err = t.build(ctx, "lab", "./campaign", "-tags", "campaign")
	}
	return f, err
}

func (f faulty) argv(w *writer, value string) []string {
	program := f.gram
	if w.program == "campaign" {
		program = f.campaign
	}
	argv := []string{program}
	for word := range strings.FieldsSeq(w.args) {
		argv = append(argv, strings.ReplaceAll(word, "$", value))
	}
	if program == f.gram && !strings.HasPrefix(w.args, "evaluate") {
		argv = append(argv, "-workers", "1")
	}
	return argv
}

// trials runs each writer without a fault, where nothing is and where it replaces files.
func (t *trial) trials(ctx context.Context) (list []*trialOf, err error) {
	f, err := t.faulty(ctx)
	if err != nil {
		return nil, err
	}
	inputs := map[string][]byte{"a.tsv": []byte(corpusLines(24)), "a.svm": []byte(vectorLines(24))}
	folder, err := t.folder(inputs)
	if err != nil {
		return nil, err
	}
	first := writer{args: "train -q -in a.tsv -kernel linear -c $ -o fixed.model"}
	if r, err := t.start(ctx, job{folder: folder, argv: f.argv(&first, "1")}); err != nil || r.status != 0 {
		return nil, fmt.Errorf("a model: %w, %s", err, r.said())
	}
	inputs = contents(folder)
	for _, w := range writers {
		for _, replaces := range []bool{false, true} {
			one := &trialOf{writer: w, argv: f.argv(&w, w.new), inputs: inputs, before: inputs}
			folder, err := t.folder(inputs)
			if err != nil {
				return nil, err
			}
			if replaces {
				r, err := t.start(ctx, job{folder: folder, argv: f.argv(&w, w.old)})
				if err != nil || r.status != 0 {
					return nil, fmt.Errorf("%s: %w, %s", w.name, err, r.said())
				}
				one.before, one.name = contents(folder), w.name+", replacing"
			}
			log := filepath.Join(t.scratch, "operations")
			_ = os.Remove(log)
			r, err := t.start(ctx, job{folder: folder, argv: one.argv, env: []string{"GRAM_OPERATIONS=" + log}})
			if err != nil || r.status != 0 {
				return nil, fmt.Errorf("%s: %w, %s", one.name, err, r.said())
			}
			one.after = contents(folder)
			text, _ := os.ReadFile(log)
			one.syncs = map[int]bool{}
			for line := range bytes.Lines(text) {
				one.count++
				one.syncs[one.count] = bytes.HasPrefix(line, []byte(`{"Name":"sync"`))
			}
			if one.count == 0 && w.old != w.new {
				return nil, fmt.Errorf("%s does no operation on files", one.name)
			}
			list = append(list, one)
		}
	}
	return list, nil
}

// folder makes a folder with files.
func (t *trial) folder(files map[string][]byte) (string, error) {
	folder := filepath.Join(t.scratch, "work")
	if err := os.RemoveAll(folder); err != nil {
		return "", err
	}
	return folder, write(folder, files)
}

func write(folder string, files map[string][]byte) error {
	for name, data := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// comparable leaves out numbers of pages, in which times stand.
func comparable(name string, data []byte) []byte {
	if filepath.Ext(name) == ".html" {
		return varying.ReplaceAll(data, nil)
	}
	return data
}

// varying are times, and charts of them.
var varying = regexp.MustCompile(`(?s)<svg.*?</svg>|[0-9.]+`)

// contents returns the files below a folder.
func contents(folder string) map[string][]byte {
	files := map[string][]byte{}
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(folder, path)
			data, _ := os.ReadFile(path)
			files[name] = comparable(name, data)
		}
		return nil
	})
	return files
}

func prepareFaults(ctx context.Context, t *trial) (func(ctx context.Context, number int64) error, error) {
	list, err := t.trials(ctx)
	if err != nil {
		return nil, err
	}
	type fault struct {
		of  *trialOf
		how string
		n   int
	}
	var all []fault
	for _, one := range list {
		for n := 1; n <= one.count; n++ {
			for _, how := range ways {
				all = append(all, fault{one, how, n})
			}
		}
	}
	t.note("cases there are", fmt.Sprint(len(all)))
	step := int64(1)
	if t.short { // of what is too much, each of as many that share no factor with the number of ways
		step = 41
	}
	return func(ctx context.Context, number int64) error {
		if number*step >= int64(len(all)) {
			return errDone
		}
		f := all[number*step]
		return t.fault(ctx, f.of, f.how, f.n)
	}, nil
}

// fault runs a writer whose n-th operation goes wrong, and then again.
func (t *trial) fault(ctx context.Context, w *trialOf, how string, n int) error {
	folder, err := t.folder(w.before)
	if err != nil {
		return err
	}
	where := fmt.Sprintf("%s, operation %d of %d: %s", w.name, n, w.count, how)
	env := []string{fmt.Sprintf("GRAM_FAULT=%d %s", n, how)}
	r, err := t.start(ctx, job{folder: folder, argv: w.argv, env: env})
	if err != nil {
		return err
	}
	t.count("operations that went wrong", 1)
	died := strings.HasPrefix(how, "kill") || strings.HasPrefix(how, "torn")
	if r.crashed() || died != (r.status == -1) {
		t.find("%s: %s", where, r.said())
	}
	now := contents(folder)
	for name := range w.after {
		is, there := now[name]
		old, was := w.before[name]
		before := there == was && bytes.Equal(is, old)
		if whole := there && bytes.Equal(is, w.after[name]); !whole && (!before || r.status == 0) {
			t.find("%s: %s has %d bytes, neither the file before (%d) nor the new one (%d); %s", where, name, len(is),
				len(old), len(w.after[name]), r.said())
		}
	}
	if r.status == 0 && w.syncs[n] && how == fmt.Sprintf("fail %d", syscall.EIO) {
		t.find("%s: a disk that can't sync is no error", where)
	}
	if r.status > 0 && !w.named(r.stderr) {
		t.find("%s: no file is named: %s", where, r.said())
	}
	for name := range now {
		_, known := w.after[name]
		if _, was := w.before[name]; !died && !known && !was {
			t.count("temporary files left since they couldn't be removed", 1)
			if how != "fail 5" && how != "fail 28" && how != "fail 30" && how != "fail 122" {
				t.find("%s: leaves %s", where, name)
			}
		}
	}
	if r, err = t.start(ctx, job{folder: folder, argv: w.argv}); err != nil {
		return err
	}
	t.count("runs after them", 1)
	t.sameFiles(where+": the next run", r, w.after, contents(folder))
	return nil
}

// named reports whether a text names a file that the writer writes.
func (w *trialOf) named(text string) bool {
	for name := range w.after {
		if _, input := w.inputs[name]; !input && strings.Contains(text, filepath.Base(name)) {
			return true
		}
	}
	return false
}

// sameFiles checks that a run succeeded and that a folder holds what it must and no more.
func (t *trial) sameFiles(where string, r ran, want, got map[string][]byte) {
	for name, data := range want {
		if is, there := got[name]; !there || !bytes.Equal(is, data) {
			t.find("%s: %s has %d bytes, expected others (%d)", where, name, len(is), len(data))
		}
	}
	for name := range got {
		if _, known := want[name]; !known {
			t.find("%s: %s is left", where, filepath.Base(name))
		}
	}
	if r.status != 0 {
		t.find("%s: %s", where, r.said())
	}
}
