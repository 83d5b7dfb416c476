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

// No command overwrites its input. A flag that names files is declared by InputVar, RegisterInput,
// OutputVar, BinaryOutputVar or SVGOutputVar. checkFiles compares all these files before any is
// opened for writing.

type input struct {
	flag  string
	value *string
	files func(ctx context.Context) []string // paths to open; missing files are skipped
}

// output is a flag that names a file to write, or a standard stream that is redirected to a file.
type output struct {
	flag         string
	value        *string
	streamInfo   os.FileInfo   // file of a redirected stream; nil for a flag
	binaryFormat func() string // name of the binary format, or "" if the output is text; nil if it is always text
}

// InputVar declares a flag that names a file to read.
func (f *Flags) InputVar(path *string, name, usage string) {
	f.StringVar(path, name, "", usage)
	f.RegisterInput(path, name, func(context.Context) []string { return []string{*path} })
}

// RegisterInput registers files to read for a flag that is declared elsewhere.
func (f *Flags) RegisterInput(value *string, name string, files func(ctx context.Context) []string) {
	f.inputs = append(f.inputs, input{"-" + name, value, files})
}

// OutputVar declares a flag that names a file to write. The file is written under a temporary name
// first.
func (f *Flags) OutputVar(path *string, name, usage string) {
	f.declareOutput(path, name, usage, nil)
}

// BinaryOutputVar is like OutputVar, for output that may be binary. Binary output isn't written to
// a terminal. binary returns the name of the format, or "" for text.
func (f *Flags) BinaryOutputVar(path *string, name, usage string, binary func() string) {
	f.declareOutput(path, name, usage, binary)
}

// SVGOutputVar declares a flag that names an SVG file to write.
func (f *Flags) SVGOutputVar(path *string, name, usage string) {
	f.OutputVar(path, name, usage)
	f.checkExtension(path, name, ".svg")
}

// DeclareReport declares -report, the file of the report's HTML page.
func (f *Flags) DeclareReport() {
	f.OutputVar(&f.ReportPath, "report", "write an HTML report to `FILE` (.html)")
	f.checkExtension(&f.ReportPath, "report", ".html")
}

// WriteReportPage writes r as an HTML page if -report is set.
func (f *Flags) WriteReportPage(r report.Report) error {
	if f.ReportPath == "" {
		return nil
	}
	_, err := matrixio.WriteFile(f.ReportPath, func(w io.Writer) error { return report.WriteHTML(w, f.Name(), r) })
	return err
}

func (f *Flags) checkExtension(path *string, name string, endings ...string) {
	f.AddCheck(func() error {
		if *path != "" && !slices.Contains(endings, strings.ToLower(filepath.Ext(*path))) {
			return Usagef("-%s %s: the file name must end in %s", name, *path, strings.Join(endings, " or "))
		}
		return nil
	})
}

// tableExtensions are extensions of files that other programs open as tables, or unpack.
var tableExtensions = []string{"csv", "tsv", "json", "jsonl", "parquet", "arrow", "feather", "xlsx", "xls", "ods",
	"gz", "zst", "zip", "bz2", "xz"}

// Extension returns a file's extension, in lower case and without the dot.
func Extension(path string) string {
	return strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
}

// CheckTableExtension returns an error if a file's extension is in tableExtensions but not in
// written. others is a hint at the end of the error.
func CheckTableExtension(flag, path, others string, written ...string) error {
	ending := Extension(path)
	if slices.Contains(written, ending) || !slices.Contains(tableExtensions, ending) {
		return nil
	}
	return Usagef("%s %s: .%s is not supported; use a name that ends in .%s%s", flag, path, ending,
		strings.Join(written, " or ."), others)
}

func (f *Flags) declareOutput(value *string, name, usage string, binary func() string) {
	f.StringVar(value, name, "", usage)
	f.outputs = append(f.outputs, output{flag: "-" + name, value: value, binaryFormat: binary})
}

type existingFile struct {
	path string
	info os.FileInfo
}

// existingFiles returns the paths of existing files, and follows links. It omits character devices,
// because output to a terminal overwrites nothing.
func existingFiles(paths ...string) []existingFile {
	var out []existingFile
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode()&fs.ModeCharDevice == 0 {
			out = append(out, existingFile{path, info})
		}
	}
	return out
}

func (o *output) existingFiles() []existingFile {
	if o.streamInfo != nil {
		return []existingFile{{"", o.streamInfo}}
	}
	return existingFiles(*o.value)
}

// hasSameName reports whether two outputs, existing or not, have the same name and folder.
func (o *output) hasSameName(other *output) bool {
	if o.streamInfo != nil || other.streamInfo != nil || filepath.Base(*o.value) != filepath.Base(*other.value) {
		return false
	}
	a, errA := os.Stat(filepath.Dir(*o.value))
	b, errB := os.Stat(filepath.Dir(*other.value))
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// commonFile returns an element of a and an element of b that name the same file.
func commonFile(a, b []existingFile) (x, y existingFile, ok bool) {
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
// link, and that outputs can be written. It must be called before any file is opened for writing.
// It also sets the writer for reports.
func (f *Flags) checkFiles(ctx context.Context, e *Env) error {
	e.reportWriter = e.Stdout
	var outputs []*output
	var stdout *output
	for i := range f.outputs {
		o := &f.outputs[i]
		switch {
		case *o.value == "":
			continue
		case f.Quiet && !f.JSON && o.flag == "-o":
			e.reportWriter = io.Discard
		}
		if o.binaryFormat != nil && o.binaryFormat() != "" && e.isTerminal(*o.value) {
			return Usagef("%s %s is a terminal, but %s is binary; use a file or a pipe", o.flag, *o.value, o.binaryFormat())
		}
		if !matrixio.IsStdout(*o.value) {
			outputs = append(outputs, o)
			continue
		}
		if stdout != nil {
			return Usagef("%s and %s cannot both write to standard output", stdout.flag, o.flag)
		}
		if stdout = o; e.reportWriter == e.Stdout {
			e.reportWriter = e.Stderr
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
	if _, lost := e.Stdout.(closedOutput); lost {
		// Fail before the work if the result would be lost. A lost report is accepted.
		if o := f.Lookup("o"); o != nil && (o.Value.String() == "-" || f.PrintsResult && o.Value.String() == "") {
			return errClosed
		}
		e.Stdout, e.reportWriter = io.Discard, io.Discard
	}
	if err := f.checkOverwriting(ctx, append(outputs, e.redirectedStreams()...)); err != nil {
		f.keepMessagesOut(ctx, e)
		return err
	}
	for _, o := range outputs {
		if !matrixio.IsStream(*o.value) { // a FIFO's reader would take the probe for the end of the data
			if err := checkWritable(*o.value); err != nil {
				return err
			}
		}
	}
	return nil
}

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
	var read []existingFile
	for _, in := range f.inputs {
		if *in.value != "" {
			read = append(read, existingFiles(in.files(ctx)...)...)
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
		_, _, ok = commonFile([]existingFile{{info: info}}, read)
		return ok
	}
	if reads(e.Stderr) {
		if e.Stderr = e.Stdout; reads(e.Stdout) {
			e.Stderr = io.Discard
		}
	}
}

// redirectedStreams returns the standard streams that are redirected to files, for example by a
// shell's >>.
func (e *Env) redirectedStreams() []*output {
	var out []*output
	for _, s := range []struct {
		name string
		w    io.Writer
	}{{"standard output", e.Stdout}, {"standard error", e.Stderr}} {
		if file, ok := s.w.(*os.File); ok {
			if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
				out = append(out, &output{flag: s.name, streamInfo: info})
			}
		}
	}
	return out
}

func (f *Flags) checkOverwriting(ctx context.Context, outputs []*output) error {
	files := make([][]existingFile, len(outputs)) // existing files of each output
	some := false
	for i, o := range outputs {
		files[i] = o.existingFiles()
		some = some || len(files[i]) > 0
	}
	for _, in := range f.inputs {
		if !some || *in.value == "" { // if no output file exists, no input can be overwritten
			continue
		}
		read := existingFiles(in.files(ctx)...)
		for i, o := range outputs {
			if written, from, ok := commonFile(files[i], read); ok {
				return o.overwriteError(written.path, from.path, "which "+in.flag+" reads")
			}
		}
	}
	for i, o := range outputs {
		for j, other := range outputs[:i] {
			if o.streamInfo != nil && other.streamInfo != nil {
				continue // results and messages may share a file
			}
			if x, y, ok := commonFile(files[i], files[j]); ok {
				return o.overwriteError(x.path, y.path, "which is "+other.flag)
			}
			if o.hasSameName(other) {
				return o.overwriteError("", *other.value, "which is "+other.flag)
			}
		}
	}
	return nil
}

// overwriteError returns the error for an output that would overwrite a file. written is the path
// of the existing output file, if any.
func (o *output) overwriteError(written, file, which string) error {
	name := o.flag
	if o.value != nil {
		name += " " + *o.value
		if written != "" && written != *o.value && written != file {
			name += " (" + written + ")"
		}
	}
	return Usagef("%s would overwrite %s, %s", name, file, which)
}

// checkWritable checks that a file can be written, so that a missing or read-only folder is noticed
// before the work.
func checkWritable(path string) error {
	probe, err := matrixio.Create(path)
	if err == nil {
		probe.Abort()
	}
	return err
}

// FileFlags lists the flags that name files.
func (f *Flags) FileFlags() []string {
	var names []string
	for _, in := range f.inputs {
		names = append(names, in.flag)
	}
	for _, out := range f.outputs {
		names = append(names, out.flag)
	}
	return names
}
