package corpus

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gramengine/gram/corpus/internal/charset"
	"github.com/gramengine/gram/internal/run"
)

type fileDocument struct {
	path  string // path to open
	name  string // path relative to the root, with slashes
	class string // class of the document; "" for none
	size  int64
}

// readFolder reads a folder with one sub-folder per class. Every file in a sub-folder, at any
// depth, is a document. Documents are sorted by name. Files outside the sub-folders, binary files,
// hidden files, and links to folders are skipped with a warning. If there are no files in
// sub-folders, the files outside are documents without a class.
func readFolder(ctx context.Context, root string, opt *Options, m *progressMeter) (*Corpus, error) {
	files, loose, warn, err := listFiles(ctx, root, "")
	switch {
	case err != nil:
		return nil, err
	case len(files) > 0:
		warn.addLooseFiles(loose)
	case len(loose) > 0:
		files = loose
		warn.add("file outside a class folder, read as a document without a class", int64(len(loose)), loose[0].path)
	default:
		return nil, newSyntaxError("no documents", "one sub-folder per class with one file per document").withPosition(root,
			0)
	}
	c := &Corpus{Source: root, Warnings: warn}
	return c, c.readFiles(ctx, files, opt, m, false)
}

func (w *warnings) addLooseFiles(loose []fileDocument) {
	if len(loose) > 0 {
		w.add("file outside the class folders, skipped", int64(len(loose)), loose[0].path)
	}
}

// listFiles returns the files in the folders of root, and the loose files directly in root. Both
// lists are sorted by name. If suffix is empty, hidden files are omitted. Otherwise, only names
// with the suffix are listed.
func listFiles(ctx context.Context, root, suffix string) (files, loose []fileDocument, warn warnings, err error) {
	real, err := filepath.EvalSymlinks(root) // WalkDir doesn't follow root if root is a symbolic link
	if err != nil {
		return nil, nil, nil, fmt.Errorf("corpus: %w", err)
	}
	err = filepath.WalkDir(real, func(path string, entry fs.DirEntry, err error) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err != nil {
			return fmt.Errorf("corpus: %w", err)
		}
		relative, err := filepath.Rel(real, path)
		if err != nil || relative == "." {
			return err
		}
		name := filepath.ToSlash(relative)
		class, _, inFolder := strings.Cut(name, "/")
		shown := filepath.Join(root, relative)
		switch {
		case suffix == "" && strings.HasPrefix(entry.Name(), "."):
			warn.add("hidden file or folder, skipped", 1, shown)
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case entry.IsDir() || !strings.HasSuffix(name, suffix):
			return nil
		}
		info, err := os.Stat(path)
		switch {
		case entry.Type()&fs.ModeSymlink != 0 && (err != nil || !info.Mode().IsRegular()):
			warn.add("link to a folder or special file, skipped", 1, shown)
			return nil
		case err != nil:
			return fmt.Errorf("corpus: %w", err)
		case !info.Mode().IsRegular():
			warn.add("neither file nor folder, skipped", 1, shown)
			return nil
		case !inFolder:
			loose = append(loose, fileDocument{path: shown, name: name, size: info.Size()})
		default:
			files = append(files, fileDocument{path: shown, name: name, class: class, size: info.Size()})
		}
		return nil
	})
	for _, list := range [][]fileDocument{files, loose} {
		slices.SortFunc(list, func(a, b fileDocument) int { return cmp.Compare(a.name, b.name) })
	}
	return files, loose, warn, err
}

// fileEntryBytes is the size in bytes of an entry in a list of files, without its path and name.
const fileEntryBytes = 128

// readFiles reads one document per file. Binary files are skipped unless all or Options.Strict is
// set. It returns the error of the first file that fails, independent of scheduling.
func (c *Corpus) readFiles(ctx context.Context, files []fileDocument, opt *Options, m *progressMeter, all bool) error {
	counters, err := newCounters(ctx, opt)
	if err != nil {
		return err
	}
	readers := make([]fileReader, len(counters))
	for w, counter := range counters {
		readers[w] = fileReader{
			counter: counter, meter: m, opt: opt, readBinary: all || opt.Strict,
			buf: make([]byte, 0, 64<<10), bufReader: bufio.NewReaderSize(nil, 64<<10),
		}
	}
	for _, f := range files {
		m.totalBytes.Add(f.size)
		opt.memory.add(fileEntryBytes + int64(len(f.path)+len(f.name)))
	}
	documents := make([]countedDocument, len(files))
	binary, bad := make([]bool, len(files)), make([]int64, len(files))
	err = run.ForEach(ctx, opt.Workers, len(files), func(w, i int) (err error) {
		if binary[i], bad[i], err = readers[w].read(ctx, files[i].path); err != nil {
			return err
		}
		if err = opt.memory.check(files[i].path); err != nil {
			return err
		}
		documents[i] = counters[w].endDocument()
		m.documents.Add(1)
		return nil
	})
	if err != nil {
		return err
	}
	classes := newClassTable()
	warn, kept := c.warningList(), 0
	for i, f := range files {
		if binary[i] {
			warn.addWithOption("binary file, skipped", 1, f.path, "Strict", "makes it an error")
			continue
		}
		if f.class == "" {
			classes.labels.Add()
		} else {
			classes.add(f.class)
		}
		c.Names = append(c.Names, f.name)
		warn.addBadBytes(bad[i], f.path)
		files[kept], documents[kept] = f, documents[i]
		kept++
	}
	if kept == 0 {
		return newSyntaxError("only binary files", "files of text").withPosition(c.Source, 0)
	}
	c.Classes, c.Labels = classes.list, classes.labels
	return c.setDocuments(ctx, opt, counters, documents[:kept], func(i int) string { return files[i].path })
}

// fileReader reads files with one document each, one block of lines at a time.
type fileReader struct {
	counter    *termCounter
	meter      *progressMeter
	opt        *Options
	readBinary bool // true if binary files are read, false if they are skipped
	buf        []byte
	bufReader  *bufio.Reader
}

// read adds the terms of a file to the open document. binary reports whether the file is binary and
// was skipped. bad is the number of invalid bytes. If the memory limit is exceeded, read stops
// early without an error.
func (r *fileReader) read(ctx context.Context, path string) (binary bool, bad int64, err error) {
	in, err := openInput(ctx, path, r.opt.decoding, r.meter, r.bufReader)
	if err != nil {
		return false, 0, err
	}
	defer in.close()
	if !r.readBinary && in.isBinary() {
		if in.isCompressed { // read on: a valid checksum shows that the file isn't damaged
			defer context.AfterFunc(ctx, in.close)()
			if _, err := io.Copy(io.Discard, in.r); err != nil {
				return false, 0, in.readError(0, err)
			}
		}
		return true, 0, nil
	}
	check, most := newTextCheck(in, r.opt), r.opt.MaxLineBytes
	cutter := blockReader{in: in, maxLine: most}
	for !r.counter.memory.exceeded() {
		firstLine := in.line
		data, behind := cutter.next(ctx, r.buf)
		if cap(data) > cap(r.buf) && cap(data) <= 2*blockBytes {
			r.buf = data[:0]
		}
		clean := check.isClean(data)
		if !clean && check.strict || len(data) > most {
			fault := eachLine(data, most, func(l []byte, _ int32) *SyntaxError { return check.errorFor(l) })
			if fault != nil {
				return false, bad, fault.withPosition(path, firstLine)
			}
		}
		if !clean {
			bad += check.countInvalid(data)
		}
		r.counter.add(data)
		switch behind {
		case nil:
		case io.EOF:
			return false, bad, nil
		default:
			return false, bad, behind
		}
	}
	return false, bad, nil
}

// readGoroot reads the .go files in the folders of root/src as documents labelled by the top
// folder. Some of Go's test files contain invalid bytes, which separate terms and cause a warning.
func readGoroot(ctx context.Context, root string, opt *Options, m *progressMeter) (*Corpus, error) {
	if root == "" {
		return nil, newSyntaxError("no Go installation", "GOROOT or the go command in PATH").withPosition("goroot", 0)
	}
	files, loose, warn, err := listFiles(ctx, filepath.Join(root, "src"), ".go")
	if err != nil {
		return nil, err
	}
	warn.addLooseFiles(loose)
	c := &Corpus{Source: "goroot", Warnings: warn}
	own := *opt
	own.Strict, own.decoding.charset = false, charset.Charset{}
	return c, c.readFiles(ctx, files, &own, m, true)
}

// findGoroot returns the folder of the Go installation, or "". It tries the environment variable
// GOROOT, then the go command. The command runs outside of modules, because a go.mod may require
// another Go version.
func findGoroot(ctx context.Context) string {
	cmd := exec.CommandContext(ctx, "go", "env", "GOROOT")
	cmd.Dir = os.TempDir()
	cmd.Env = append(os.Environ(), "GOROOT=", "GOTOOLCHAIN=local", "GOWORK=off", "GOFLAGS=")
	for _, find := range []func() ([]byte, error){
		func() ([]byte, error) { return []byte(os.Getenv("GOROOT")), nil }, cmd.Output,
	} {
		out, _ := find()
		root := strings.TrimSpace(string(out))
		if _, err := os.Stat(filepath.Join(root, "src", "fmt", "print.go")); root != "" && err == nil {
			return root
		}
	}
	return ""
}
