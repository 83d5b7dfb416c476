package sparse

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"
)

// textPiece is what one block of label<TAB>text lines becomes.
type textPiece struct {
	labels    labelPiece
	documents []countedDocument
	lines     []int32 // line of each document, from 0 in the block
	blank     tally
}

// bytes returns the memory of the piece beside the terms, which their counter counts itself.
func (p *textPiece) bytes() int64 { return p.labels.bytes() }

// tsvParser parses lines label[,label...]<TAB>text; further TABs are white space of the text.
type tsvParser struct {
	maxLine int
	counter *termCounter
}

func (p *tsvParser) parse(data []byte) (*textPiece, *SyntaxError) {
	out := &textPiece{}
	clean := isText(data)
	return out, eachLine(data, p.maxLine, func(l []byte, line int32) *SyntaxError {
		if !clean {
			if bad := textFault(l); bad != nil {
				return bad
			}
		}
		return p.parseLine(l, line, out)
	})
}

func (p *tsvParser) parseLine(l []byte, line int32, out *textPiece) *SyntaxError {
	label, text, tab := bytes.Cut(l, []byte{'\t'})
	if !tab && len(bytes.TrimSpace(l)) == 0 {
		out.blank.add(1, line)
		return nil
	}
	if !tab {
		return fault(quote(l)+" has no TAB", "label<TAB>text")
	}
	if bad := out.labels.add(label); bad != nil {
		return bad
	}
	p.counter.add(text)
	out.documents = append(out.documents, p.counter.endDocument())
	out.lines = append(out.lines, line)
	return nil
}

// isText reports whether all lines of data are text; see textFault.
func isText(data []byte) bool { return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 }

// textFault says why a line isn't text: a byte that is not UTF-8, or a NUL, as binary files and
// UTF-16 have it.
func textFault(l []byte) *SyntaxError {
	for i := 0; i < len(l); {
		if l[i] == 0 {
			return fault(fmt.Sprintf("a NUL byte at byte %d of the line", i+1), "UTF-8 text")
		}
		r, size := utf8.DecodeRune(l[i:])
		if r == utf8.RuneError && size == 1 {
			return fault(fmt.Sprintf("byte %#02x, which is not UTF-8, at byte %d of the line", l[i], i+1), "UTF-8 text")
		}
		i += size
	}
	return nil
}

func readTSV(ctx context.Context, in *input, opt *Options, m *meter) (*Corpus, error) {
	counters, err := newCounters(ctx, opt)
	if err != nil {
		return nil, err
	}
	var documents []countedDocument
	var lines []int64
	var warn warnings
	classes := newClassTable()
	err = scanBlocks(ctx, in, opt, func(w int) parser[*textPiece] {
		return (&tsvParser{maxLine: opt.MaxLineBytes, counter: counters[w]}).parse
	}, func(p *textPiece, firstLine int64) error {
		documents = append(documents, p.documents...)
		for _, line := range p.lines {
			lines = append(lines, firstLine+int64(line))
		}
		warn.lines(blankMessage, p.blank, in.name, firstLine)
		classes.append(&p.labels)
		m.documents.Store(int64(len(documents)))
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(documents) == 0 {
		return nil, fault("no documents", "lines label<TAB>text").at(in.name, 0)
	}
	c := &Corpus{Source: in.name, Classes: classes.list, Labels: classes.labels, Warnings: warn}
	return c, c.fillText(ctx, opt, counters, documents, func(i int) string { return place(in.name, lines[i]) })
}

// fileDocument is a file that is one document.
type fileDocument struct {
	path  string // to open
	name  string // relative to the root, with slashes
	class string // "" for none
	size  int64
}

// readFolder reads a folder with one sub-folder per class. Every file in a sub-folder, at any
// depth, is one document of UTF-8 text, in the order of names. Files outside the sub-folders, names
// that begin with a dot, and links to folders are left out with a warning. If there are no files in
// sub-folders, those outside are documents without a class.
func readFolder(ctx context.Context, root string, opt *Options, m *meter) (*Corpus, error) {
	files, loose, warn, err := listFiles(ctx, root, "")
	switch {
	case err != nil:
		return nil, err
	case len(files) > 0:
		warn.leaveOut(loose)
	case len(loose) > 0:
		files = loose
		warn.add("no class folders: file that is a document without a class", int64(len(loose)), loose[0].path)
	default:
		return nil, fault("no documents", "one sub-folder a class with one file a document").at(root, 0)
	}
	c := &Corpus{Source: root, Warnings: warn}
	return c, c.readFiles(ctx, files, opt, m, strictText)
}

// leaveOut warns of files outside the class folders.
func (w *warnings) leaveOut(loose []fileDocument) {
	if len(loose) > 0 {
		w.add("file outside the class folders, left out", int64(len(loose)), loose[0].path)
	}
}

// listFiles lists the files in the folders of root, and apart from them the loose ones in root
// itself, sorted by name: those with the suffix, or without a suffix those that aren't hidden.
func listFiles(ctx context.Context, root, suffix string) (files, loose []fileDocument, warn warnings, err error) {
	real, err := filepath.EvalSymlinks(root) // WalkDir doesn't follow a link, as Debian's src of Go is
	if err != nil {
		return nil, nil, nil, fmt.Errorf("sparse: %w", err)
	}
	err = filepath.WalkDir(real, func(path string, entry fs.DirEntry, err error) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err != nil {
			return fmt.Errorf("sparse: %w", err)
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
			warn.add("name that begins with a dot, left out", 1, shown)
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
			warn.add("link to something other than a file, left out", 1, shown)
			return nil
		case err != nil:
			return fmt.Errorf("sparse: %w", err)
		case !info.Mode().IsRegular():
			warn.add("neither file nor folder, left out", 1, shown)
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

// aFileBytes is the memory of a file in lists, beside its path and name.
const aFileBytes = 128

// textRule says what to do with bytes that are not UTF-8 text.
type textRule bool

const (
	strictText  textRule = false // they are an error
	lenientText textRule = true  // they separate terms, and the document is counted in a warning
)

// readFiles reads one document per file. The error is that of the first bad file, whatever the
// scheduling of workers.
func (c *Corpus) readFiles(ctx context.Context, files []fileDocument, opt *Options, m *meter, rule textRule) error {
	counters, err := newCounters(ctx, opt)
	if err != nil {
		return err
	}
	readers := make([]fileReader, len(counters))
	for w, counter := range counters {
		readers[w] = fileReader{
			counter: counter, meter: m, maxLine: opt.MaxLineBytes, rule: rule,
			buf: make([]byte, 0, 64<<10), buffer: bufio.NewReaderSize(nil, 64<<10),
		}
	}
	for _, f := range files {
		m.total.Add(f.size)
		opt.memory.add(aFileBytes + int64(len(f.path)+len(f.name)))
	}
	documents := make([]countedDocument, len(files))
	dirty := make([]bool, len(files))
	err = run(ctx, opt.Workers, len(files), func(w, i int) (err error) {
		if dirty[i], err = readers[w].read(ctx, files[i].path); err != nil {
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
	warn := warnings(c.Warnings)
	for i, f := range files {
		if f.class == "" {
			classes.labels.Add()
		} else {
			classes.add(f.class)
		}
		c.Names = append(c.Names, f.name)
		if dirty[i] {
			warn.add("file with bytes that are not UTF-8 text, which separate terms", 1, f.path)
		}
	}
	c.Classes, c.Labels, c.Warnings = classes.list, classes.labels, warn
	return c.fillText(ctx, opt, counters, documents, func(i int) string { return files[i].path })
}

// fileReader reads documents that are files of their own, a block of lines at a time.
type fileReader struct {
	counter *termCounter
	meter   *meter
	maxLine int
	rule    textRule
	buf     []byte
	buffer  *bufio.Reader
}

// read counts the terms of a file in the open document. It reports whether the file holds bytes
// that are not UTF-8 text. It ends early, without an error, once memory is spent.
func (r *fileReader) read(ctx context.Context, path string) (dirty bool, err error) {
	in, err := openInput(ctx, path, r.meter, r.buffer)
	if err != nil {
		return false, err
	}
	defer in.close()
	cutter := lineCutter{in: in, most: r.maxLine}
	for !r.counter.memory.spent() {
		firstLine := in.line
		data, behind := cutter.next(ctx, r.buf)
		if cap(data) > cap(r.buf) && cap(data) <= 2*blockBytes {
			r.buf = data[:0]
		}
		clean := isText(data)
		if !clean && r.rule == strictText || len(data) > r.maxLine {
			bad := eachLine(data, r.maxLine, func(l []byte, _ int32) *SyntaxError {
				if r.rule == lenientText {
					return nil
				}
				return textFault(l)
			})
			if bad != nil {
				return true, bad.at(path, firstLine)
			}
		}
		dirty = dirty || !clean
		r.counter.add(data)
		switch behind {
		case nil:
		case io.EOF:
			return dirty, nil
		default:
			return dirty, behind
		}
	}
	return dirty, nil
}

// gorootFallback is what is read instead where no Go installation is found.
var gorootFallback = Synthetic{Documents: 7700, Terms: 64000, Length: 400, Classes: 54, Seed: 1}

// readGoroot reads the .go files in the folders of root/src, one per document, labelled by the top
// folder. In files of Go's tests that are not UTF-8 such bytes separate terms, with a warning. If
// root is "", since no installation was found, it reads [gorootFallback] with a warning.
func readGoroot(ctx context.Context, root string, opt *Options, m *meter) (*Corpus, error) {
	if root == "" {
		c, err := readSynthetic(ctx, gorootFallback.String(), gorootFallback, opt, m)
		if err != nil {
			return nil, err
		}
		fallback := Warning{"no Go installation found, so the corpus is " + c.Source, 1, "goroot"}
		c.Warnings = append([]Warning{fallback}, c.Warnings...)
		return c, nil
	}
	files, loose, warn, err := listFiles(ctx, filepath.Join(root, "src"), ".go")
	if err != nil {
		return nil, err
	}
	warn.leaveOut(loose)
	c := &Corpus{Source: "goroot", Warnings: warn}
	return c, c.readFiles(ctx, files, opt, m, lenientText)
}

// gorootPlaces are where a Go installation may be: by the environment variable GOROOT, by the go
// command, and where the program was built.
func gorootPlaces(ctx context.Context) []func() string {
	return []func() string{
		func() string { return os.Getenv("GOROOT") },
		func() string { return askGoCommand(ctx) },
		//lint:ignore SA1019 it is deprecated because it may be wrong, and findGoroot checks it
		runtime.GOROOT,
	}
}

// findGoroot returns the first of the places that holds the source of Go, or "".
func findGoroot(places []func() string) string {
	for _, place := range places {
		root := place()
		if _, err := os.Stat(filepath.Join(root, "src", "fmt", "print.go")); root != "" && err == nil {
			return root
		}
	}
	return ""
}

// askGoCommand returns what go env GOROOT says without the environment variable, which has been
// tried, and without a go.mod nearby, which could make it fetch another Go.
func askGoCommand(ctx context.Context) string {
	cmd := exec.CommandContext(ctx, "go", "env", "GOROOT")
	cmd.Dir = os.TempDir()
	cmd.Env = append(os.Environ(), "GOROOT=", "GOTOOLCHAIN=local", "GOWORK=off", "GOFLAGS=")
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
