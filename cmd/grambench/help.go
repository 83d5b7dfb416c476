package main

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/gramengine/gram/engine"
)

// writeOverview prints what the program is and which commands it has.
func writeOverview(w io.Writer) {
	fmt.Fprint(w, `grambench computes Gram matrices of kernels on sparse documents, verifies them, measures how fast that goes, and trains support vector machines.

Usage: grambench COMMAND [flags]

Commands:
`)
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-8s %s\n", c.name, c.summary)
	}
	fmt.Fprint(w, `  help     this text, or that of a command: grambench help gram

Examples:
  grambench verify                                    every back end and kernel against the reference, on Go's own source files
  grambench train -in mail/ -o mail.model             a support vector machine on a folder of texts, a sub-folder a class
  grambench predict -in new.tsv -model mail.model
  grambench grid -in mail/                            the best kernel and parameters for it, by cross-validation
  grambench corpus -in train.svm                      what is in a file
  grambench gram -in train.svm -kernel diffusion:t=0.5 -o K.npy
  grambench bench -in synthetic:docs=5000,terms=20000

Results go to standard output, progress and diagnostics to standard error.
Exit status: 0 done, 1 failed, 2 wrong usage.
`)
}

// sourcesHelp says what -in takes; %s is for whether goroot is the default.
const sourcesHelp = `
Sources for -in (files may be gzipped):
  FILE              svmlight/LIBSVM vectors (label index:value ...), label<TAB>text lines, MatrixMarket, or idx images (MNIST); see -format
  FOLDER            one sub-folder a class, one file a document; or files alone, documents without a class; or idx files: train-images-idx3-ubyte
  goroot            the Go source files of the local installation, labelled by top folder%s
  synthetic:...     docs=N,terms=N,length=N,classes=N,seed=N: random documents with Zipfian word frequencies
Several labels of a document are separated by commas.
`

// kernelsHelp says what -kernel takes.
func kernelsHelp(sets bool) string {
	var b strings.Builder
	b.WriteString("\nKernels for -kernel, NAME or NAME:KEY=VALUE,... (c = 1 - cosine), or made of others, nested at will:\n")
	writeKernels(&b, engine.Catalogue())
	b.WriteString("Sums may also be written 0.5*diffusion:t=0.5 + 0.5*linear. The parts of a kernel share one embedding, by default that of the first.\n")
	b.WriteString("Every kernel also takes embed=EMBEDDING: tf or tfidf, then optionally -l1 or -l2, then optionally -sqrt or a power such as -pow0.75; or -l1 and -chi2\n" +
		"or -js, with which c is 1 less that similarity of histograms, for these and for all other kernels. By default it is tf-l1-chi2 for chi2, tf-l1-js for js, tf-l1-sqrt for the other kernels of\n" +
		"information geometry (probability-product: tf-l1 with the power rho), and tf, the counts themselves, for linear, polynomial, rbf, sigmoid and arccos.\n")
	if sets {
		b.WriteString("With -sets:\n")
		writeKernels(&b, engine.SetKernels())
	}
	return b.String()
}

// writeKernels lists kernels with their keys.
func writeKernels(b *strings.Builder, kernels []engine.Info) {
	for _, k := range kernels {
		name := k.Name
		if k.Parts != "" {
			name += "(…)"
		}
		fmt.Fprintf(b, "  %s %s\n", pad(name, 15), k.Summary)
		for _, q := range k.Params {
			if q.Key != "embed" { // said once, below
				fmt.Fprintf(b, "  %15s %s=%s: %s; %s\n", "", q.Key, q.Default, q.Summary, q.Allowed)
			}
		}
	}
}

// pad fills a name with spaces to a number of columns.
func pad(name string, columns int) string {
	return name + strings.Repeat(" ", max(columns-utf8.RuneCountInString(name), 0))
}

// writeCommandHelp prints the help of one command: usage, text, flags, and what sources and kernels there are where they apply.
func writeCommandHelp(w io.Writer, c command, f *flags) {
	usage := "Usage: grambench " + c.name + " [flags]"
	if c.args != "" {
		usage += " " + c.args
	}
	if f.usage != "" {
		usage = "Usage: " + f.usage
	}
	help := c.help
	if f.help != "" {
		help = f.help
	}
	fmt.Fprintf(w, "%s\n\n%s\nFlags:\n", usage, strings.TrimLeft(help, "\n"))
	f.set.VisitAll(func(fl *flag.Flag) {
		arg, text := flag.UnquoteUsage(fl)
		name := "-" + fl.Name
		if arg != "" {
			name += " " + arg
		}
		if fl.DefValue != "" && fl.DefValue != "0" && fl.DefValue != "false" {
			text += " (default: " + fl.DefValue + ")"
		}
		writeWrapped(w, fmt.Sprintf("  %-20s ", name), text, 110)
	})
	if in := f.set.Lookup("in"); in != nil {
		taken := " (the default)"
		if in.DefValue == "" {
			taken = "" // a source must be named
		}
		fmt.Fprintf(w, sourcesHelp, taken)
	}
	if f.set.Lookup("kernel") != nil {
		fmt.Fprint(w, kernelsHelp(f.set.Lookup("sets") != nil))
	}
}

// writeWrapped prints text after head, broken into lines of at most width columns that are indented as deep as head.
func writeWrapped(w io.Writer, head, text string, width int) {
	line := head
	indent := strings.Repeat(" ", utf8.RuneCountInString(head))
	begun := false
	for _, word := range strings.Fields(text) {
		if begun && len(line)+1+len(word) > width {
			fmt.Fprintln(w, line)
			line, begun = indent, false
		}
		if begun {
			line += " "
		}
		line += word
		begun = true
	}
	fmt.Fprintln(w, line)
}
