package cli

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/report"
)

// No command overwrites its input. A flag that names files is declared by Reads, ReadsFiles, Writes
// or Draws. checkFiles compares all these files before any is opened for writing.

// input is a flag that names files to read.
type input struct {
	flag  string
	value *string
	files func(ctx context.Context) []string // paths to open; missing files are skipped
}

// output is a flag that names a file to write, or a stream.
type output struct {
	flag   string
	value  *string
	info   os.FileInfo   // stream without a path
	binary func() string // name of the binary format, or "" if the output is text; nil if it is always text
}

// Reads declares a flag that names a file to read.
func (f *Flags) Reads(path *string, name, usage string) {
	f.StringVar(path, name, "", usage)
	f.ReadsFiles(path, name, func(context.Context) []string { return []string{*path} })
}

// ReadsFiles registers files to read for a flag that is declared elsewhere.
func (f *Flags) ReadsFiles(value *string, name string, files func(ctx context.Context) []string) {
	f.inputs = append(f.inputs, input{"-" + name, value, files})
}

// Writes declares a flag that names a file to write. The file is written under a temporary name
// first.
func (f *Flags) Writes(path *string, name, usage string) {
	f.output(path, name, usage, nil)
}

// WritesBinary is like Writes, for output that may be binary. Binary output isn't written to a
// terminal. binary returns the name of the format, or "" for text.
func (f *Flags) WritesBinary(path *string, name, usage string, binary func() string) {
	f.output(path, name, usage, binary)
}

// Draws declares a flag that names an SVG file to write.
func (f *Flags) Draws(path *string, name, usage string) {
	f.Writes(path, name, usage)
	f.checkEnding(path, name, ".svg")
}

// Pages declares -report, the file of the report's HTML page.
func (f *Flags) Pages() {
	f.Writes(&f.Page, "report", "write an HTML report to `FILE` (.html)")
	f.checkEnding(&f.Page, "report", ".html")
}

// WritePage writes the page of a report if -report is set.
func (f *Flags) WritePage(r report.Report) error {
	if f.Page == "" {
		return nil
	}
	_, err := matrixio.Make(f.Page, func(w io.Writer) error { return report.WriteHTML(w, f.Name(), r) })
	return err
}

func (f *Flags) checkEnding(path *string, name string, endings ...string) {
	f.Check(func() error {
		if *path != "" && !slices.Contains(endings, strings.ToLower(filepath.Ext(*path))) {
			return Usagef("-%s %s: the file name must end in %s", name, *path, strings.Join(endings, " or "))
		}
		return nil
	})
}

// tables are extensions of files that other programs open as tables, or unpack.
var tables = []string{"csv", "tsv", "json", "jsonl", "parquet", "arrow", "feather", "xlsx", "xls", "ods",
	"gz", "zst", "zip", "bz2", "xz"}

// Ending returns a file's extension, in lower case and without the dot.
func Ending(path string) string { return strings.ToLower(strings.TrimPrefix(filepath.Ext(path), ".")) }

// CheckTable returns an error if a file's extension is in tables but not in written. others is a
// hint at the end of the error.
func CheckTable(flag, path, others string, written ...string) error {
	ending := Ending(path)
	if slices.Contains(written, ending) || !slices.Contains(tables, ending) {
		return nil
	}
	return Usagef("%s %s: .%s is not supported; use a name that ends in .%s%s", flag, path, ending,
		strings.Join(written, " or ."), others)
}

func (f *Flags) output(value *string, name, usage string, binary func() string) {
	f.StringVar(value, name, "", usage)
	f.outputs = append(f.outputs, output{flag: "-" + name, value: value, binary: binary})
}

// named is an existing file.
type named struct {
	path string
	info os.FileInfo
}

// there returns the paths that exist, with links followed. Devices are ignored, because output to a
// terminal overwrites nothing.
func there(paths ...string) []named {
	var out []named
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode()&fs.ModeCharDevice == 0 {
			out = append(out, named{path, info})
		}
	}
	return out
}

// there returns the existing file of an output, if any.
func (o *output) there() []named {
	if o.info != nil {
		return []named{{"", o.info}}
	}
	return there(*o.value)
}

// names reports whether two outputs, existing or not, have the same name and folder.
func (o *output) names(other *output) bool {
	if o.info != nil || other.info != nil || filepath.Base(*o.value) != filepath.Base(*other.value) {
		return false
	}
	a, errA := os.Stat(filepath.Dir(*o.value))
	b, errB := os.Stat(filepath.Dir(*other.value))
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// common returns an element of a and an element of b that name the same file.
func common(a, b []named) (x, y named, ok bool) {
	for _, x = range a {
		for _, y = range b {
			if os.SameFile(x.info, y.info) {
				return x, y, true
			}
		}
	}
	return x, y, false
}

// checkFiles checks that no output is an input or another output, even through a symbolic or hard
// link, and that outputs can be written. It is called before any file is opened for writing. It
// also decides whether reports go to standard output or standard error.
func (f *Flags) checkFiles(ctx context.Context, e *Env) error {
	e.reports = e.Stdout
	var outputs []*output
	var stdout *output
	for i := range f.outputs {
		o := &f.outputs[i]
		switch {
		case *o.value == "":
			continue
		case f.Quiet && !f.JSON && o.flag == "-o":
			e.reports = io.Discard
		}
		if o.binary != nil && o.binary() != "" && e.isTerminal(*o.value) {
			return Usagef("%s %s is a terminal, but %s is binary; use a file or a pipe", o.flag, *o.value,
				o.binary())
		}
		if !matrixio.IsStdout(*o.value) {
			outputs = append(outputs, o)
			continue
		}
		if stdout != nil {
			return Usagef("%s and %s cannot both write to standard output", stdout.flag, o.flag)
		}
		if stdout = o; e.reports == e.Stdout {
			e.reports = e.Stderr
		}
	}
	stdin := ""
	for _, in := range f.inputs {
		if *in.value != "-" && *in.value != "/dev/stdin" {
			continue
		}
		if stdin != "" {
			return Usagef("%s and %s cannot both read standard input", stdin, in.flag)
		}
		stdin = in.flag
	}
	if _, lost := e.Stdout.(closed); lost {
		// Fail before the work if the result would be lost. A lost report is accepted.
		if o := f.Lookup("o"); o != nil && (o.Value.String() == "-" || f.Prints && o.Value.String() == "") {
			return errClosed
		}
		e.Stdout, e.reports = io.Discard, io.Discard
	}
	if err := f.checkOverwriting(ctx, append(outputs, e.streams()...)); err != nil {
		f.keepMessagesOut(ctx, e)
		return err
	}
	for _, o := range outputs {
		if !matrixio.IsStream(*o.value) { // a FIFO's reader would take the probe for the end of the data
			if err := writable(*o.value); err != nil {
				return err
			}
		}
	}
	return nil
}

// isTerminal reports whether a path names a terminal.
func (e *Env) isTerminal(path string) bool {
	if matrixio.IsStdout(path) {
		file, ok := e.Stdout.(*os.File)
		return ok && term.IsTerminal(int(file.Fd()))
	}
	if info, err := os.Stat(path); err != nil || info.Mode()&fs.ModeCharDevice == 0 {
		return false
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return false
	}
	defer file.Close()
	return term.IsTerminal(int(file.Fd()))
}

// keepMessagesOut redirects messages that would be appended to an input, for example by a shell's
// 2>>. Messages then go to standard output, or are discarded if standard output is an input, too.
func (f *Flags) keepMessagesOut(ctx context.Context, e *Env) {
	var read []named
	for _, in := range f.inputs {
		if *in.value != "" {
			read = append(read, there(in.files(ctx)...)...)
		}
	}
	reads := func(w io.Writer) bool {
		file, ok := w.(*os.File)
		if !ok {
			return false
		}
		info, err := file.Stat()
		if err != nil {
			return false
		}
		_, _, ok = common([]named{{info: info}}, read)
		return ok
	}
	if reads(e.Stderr) {
		if e.Stderr = e.Stdout; reads(e.Stdout) {
			e.Stderr = io.Discard
		}
	}
}

// streams returns the standard streams that are redirected to files, for example by a shell's >>.
func (e *Env) streams() []*output {
	var out []*output
	for _, s := range []struct {
		name string
		w    io.Writer
	}{{"standard output", e.Stdout}, {"standard error", e.Stderr}} {
		if file, ok := s.w.(*os.File); ok {
			if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
				out = append(out, &output{flag: s.name, info: info})
			}
		}
	}
	return out
}

func (f *Flags) checkOverwriting(ctx context.Context, outputs []*output) error {
	files := make([][]named, len(outputs)) // existing files
	some := false
	for i, o := range outputs {
		files[i] = o.there()
		some = some || len(files[i]) > 0
	}
	for _, in := range f.inputs {
		if !some || *in.value == "" { // a missing file isn't an input
			continue
		}
		read := there(in.files(ctx)...)
		for i, o := range outputs {
			if written, from, ok := common(files[i], read); ok {
				return o.overwrites(written.path, from.path, "which "+in.flag+" reads")
			}
		}
	}
	for i, o := range outputs {
		for j, other := range outputs[:i] {
			if o.info != nil && other.info != nil {
				continue // results and messages may share a file
			}
			if x, y, ok := common(files[i], files[j]); ok {
				return o.overwrites(x.path, y.path, "which is "+other.flag)
			}
			if o.names(other) {
				return o.overwrites("", *other.value, "which is "+other.flag)
			}
		}
	}
	return nil
}

// overwrites returns the error for an output that would overwrite a file. written is the path of
// the existing output file, if any.
func (o *output) overwrites(written, file, which string) error {
	name := o.flag
	if o.value != nil {
		name += " " + *o.value
		if written != "" && written != *o.value && written != file {
			name += " (" + written + ")"
		}
	}
	return Usagef("%s would overwrite %s, %s", name, file, which)
}

// writable checks that a file can be written, so that a missing or read-only folder is noticed
// before the work.
func writable(path string) error {
	probe, err := matrixio.Create(path)
	if err == nil {
		probe.Abort()
	}
	return err
}

// Guarded lists the flags that name files.
func (f *Flags) Guarded() []string {
	var names []string
	for _, in := range f.inputs {
		names = append(names, in.flag)
	}
	for _, out := range f.outputs {
		names = append(names, out.flag)
	}
	return names
}
