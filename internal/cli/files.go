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

// No command overwrites what it reads. Each flag that names files says so where it is declared, by
// Reads, ReadsFiles, Writes, Keeps or Draws, and checkFiles compares all of them before
// anything is opened for writing.

// input is what a flag names to be read.
type input struct {
	flag  string
	value *string
	files func(ctx context.Context) []string // paths that are opened; those that aren't there are passed over
}

// output is what a flag names to be written: files of one folder.
type output struct {
	flag  string
	value *string
	place func() (folder string, owns func(name string) bool) // which files may be replaced or removed
	probe bool                                                // it is a file that matrixio writes
	alone bool                                                // place's file may be any, and is named by the flag
	info  os.FileInfo                                         // of a stream, which has no path

	binary func() string // what is written that isn't text, "" where it is; nil for text
}

// Reads declares a flag that names a file to be read.
func (f *Flags) Reads(path *string, name, usage string) {
	f.StringVar(path, name, "", usage)
	f.ReadsFiles(path, name, func(context.Context) []string { return []string{*path} })
}

// ReadsFiles adds that a flag, which is declared elsewhere, leads to files to be read.
func (f *Flags) ReadsFiles(value *string, name string, files func(ctx context.Context) []string) {
	f.inputs = append(f.inputs, input{"-" + name, value, files})
}

// Writes declares a flag that names a file to be written, through a temporary name.
func (f *Flags) Writes(path *string, name, usage string) {
	f.output(path, name, usage, output{place: onlyFile(path), probe: true, alone: true})
}

// WritesBinary is Writes for what may be no text, which no terminal can show: binary names it, or is
// empty where it is text.
func (f *Flags) WritesBinary(path *string, name, usage string, binary func() string) {
	f.output(path, name, usage, output{place: onlyFile(path), probe: true, alone: true, binary: binary})
}

// Draws declares a flag that names a picture, PNG or SVG, to be written.
func (f *Flags) Draws(path *string, name, usage string) {
	f.Writes(path, name, usage)
	f.checkEnding(path, name, ".svg")
}

// Pages declares -report, which names a page of the command's report.
func (f *Flags) Pages() {
	f.Writes(&f.Page, "report", "write a page to `FILE`, an .html")
	f.checkEnding(&f.Page, "report", ".html")
}

// WritePage writes the page of a report if -report asks for it.
func (f *Flags) WritePage(r report.Report) error {
	if f.Page == "" {
		return nil
	}
	_, err := matrixio.Make(f.Page, func(w io.Writer) error { return report.WriteHTML(w, f.Name(), r) })
	return err
}

// DrawsSeveral declares a flag that names a picture, PNG or SVG, to be written, or several whose names begin
// with its own.
func (f *Flags) DrawsSeveral(path *string, name, usage string) {
	f.output(path, name, usage, output{probe: true, place: func() (string, func(string) bool) {
		base := filepath.Base(*path)
		ending := filepath.Ext(base)
		stem := strings.TrimSuffix(base, ending) + "-"
		return filepath.Dir(*path), func(name string) bool {
			return name == base || strings.HasPrefix(name, stem) && strings.HasSuffix(name, ending)
		}
	}})
	f.checkEnding(path, name, ".svg")
}

func (f *Flags) checkEnding(path *string, name string, endings ...string) {
	f.Check(func() error {
		if *path != "" && !slices.Contains(endings, strings.ToLower(filepath.Ext(*path))) {
			return Usagef("-%s %s, expected a name that ends in %s", name, *path, strings.Join(endings, " or "))
		}
		return nil
	})
}

// tables are endings of files that programs open as tables, or unpack.
var tables = []string{".csv", ".tsv", ".json", ".jsonl", ".parquet", ".arrow", ".feather", ".xlsx", ".xls", ".ods",
	".gz", ".zst", ".zip", ".bz2", ".xz"}

// CheckTable refuses a name for a flag whose ending promises a table of another form than those that are written.
// others says what helps beside another name.
func CheckTable(flag, path, others string, written ...string) error {
	ending := strings.ToLower(filepath.Ext(path))
	if slices.Contains(written, ending) || !slices.Contains(tables, ending) {
		return nil
	}
	return Usagef("%s %s: no %s is written, expected a name that ends in %s%s", flag, path, ending,
		strings.Join(written, " or "), others)
}

func (f *Flags) output(value *string, name, usage string, o output) {
	f.StringVar(value, name, "", usage)
	o.flag, o.value = "-"+name, value
	f.outputs = append(f.outputs, o)
}

func onlyFile(path *string) func() (string, func(string) bool) {
	return func() (string, func(string) bool) {
		base := filepath.Base(*path)
		return filepath.Dir(*path), func(name string) bool { return name == base }
	}
}

// named is a file that is there.
type named struct {
	path string
	info os.FileInfo
}

// there returns those of some paths that are there, links followed. Devices don't count: what is
// written to a terminal overwrites nothing that is read from it.
func there(paths ...string) []named {
	var out []named
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode()&fs.ModeCharDevice == 0 {
			out = append(out, named{path, info})
		}
	}
	return out
}

// there returns the files of an output that are there.
func (o *output) there() []named {
	switch {
	case o.info != nil:
		return []named{{"", o.info}}
	case o.alone:
		return there(*o.value)
	}
	folder, owns := o.place()
	entries, _ := os.ReadDir(folder) // one that isn't there, or can't be read, is reported when it is opened
	var paths []string
	for _, entry := range entries {
		if owns(entry.Name()) {
			paths = append(paths, filepath.Join(folder, entry.Name()))
		}
	}
	return there(paths...)
}

// names reports whether the only file of another output, which needn't be there yet, is one of o.
func (o *output) names(other *output) bool {
	if o.info != nil || !other.alone {
		return false
	}
	folder, owns := o.place()
	a, errA := os.Stat(folder)
	b, errB := os.Stat(filepath.Dir(*other.value))
	return errA == nil && errB == nil && os.SameFile(a, b) && owns(filepath.Base(*other.value))
}

// common returns a pair of names of one file.
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

// checkFiles checks, before anything is opened for writing, that no output is an input or another
// output, by whatever name, symbolic and hard links included, and that files can be written where
// they are to be. Of reports it decides where they go.
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
			return Usagef("%s %s is a terminal, and %s is binary: expected a file or a pipe", o.flag, *o.value,
				o.binary())
		}
		if !o.probe || !matrixio.IsStdout(*o.value) {
			outputs = append(outputs, o)
			continue
		}
		if stdout != nil {
			return Usagef("%s and %s are both standard output, expected one of them", stdout.flag, o.flag)
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
			return Usagef("%s and %s are both standard input, expected one of them", stdin, in.flag)
		}
		stdin = in.flag
	}
	if _, lost := e.Stdout.(closed); lost {
		// Early: nothing else has the result. A mere report may go.
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
		if o.probe && !matrixio.IsStream(*o.value) { // a FIFO's reader would take the probe for the end
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

// keepMessagesOut sees to it that what is said of files isn't written to one that is read, such as
// that of a shell's 2>>: it goes to standard output then, or nowhere if that is such a file, too.
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

// streams are the standard streams that go to files, such as those of a shell's >>.
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
	files := make([][]named, len(outputs)) // that are there
	some := false
	for i, o := range outputs {
		files[i] = o.there()
		some = some || len(files[i]) > 0
	}
	for _, in := range f.inputs {
		if !some || *in.value == "" { // what isn't there is no input
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
				continue // results and messages may go to one file
			}
			if x, y, ok := common(files[i], files[j]); ok {
				return o.overwrites(x.path, y.path, "which is "+other.flag)
			}
			switch {
			case o.names(other):
				return o.overwrites("", *other.value, "which is "+other.flag)
			case other.names(o):
				return other.overwrites("", *o.value, "which is "+o.flag)
			}
		}
	}
	return nil
}

// overwrites is the error for an output that would overwrite a file, by the name written where this
// isn't the one that the flag gives.
func (o *output) overwrites(written, file, which string) error {
	name := o.flag
	if o.value != nil {
		name += " " + *o.value
		if written != "" && written != *o.value && written != file {
			name += " (" + written + ")"
		}
	}
	return Usagef("%s would overwrite %s, %s, expected another file", name, file, which)
}

// writable tries out whether a file can be written, so that a folder that is missing or not
// writable is noticed before the work and not after it.
func writable(path string) error {
	probe, err := matrixio.Create(path)
	if err == nil {
		probe.Abort()
	}
	return err
}

// Guarded lists the flags that name files, as the guard knows them.
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
