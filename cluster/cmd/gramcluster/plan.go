package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/cluster/corpus"
	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/sparse"
)

// plan is one run of plan.
type plan struct {
	host
	documents
	kind    job.Kind
	planner job.Planner
	isa     string
	quiet   bool
}

func planCommand(k job.Kind) *command {
	return &command{
		name: "plan " + k.Name(), args: "-store URL -in SOURCE [flags]",
		summary: k.Summary(), help: k.Help(),
		setup: func(f *flag.FlagSet) func(context.Context, *env) error {
			p := &plan{kind: k}
			p.declare(f)
			f.BoolVar(&p.quiet, "q", false, "print task lines alone")
			return p.run
		},
	}
}

// declare declares the flags that drive has, too.
func (p *plan) declare(f *flag.FlagSet) {
	p.declareStore(f)
	p.documents.declare(f)
	p.planner = p.kind.Declare(f)
	f.StringVar(&p.isa, "isa", "", "work wants the instruction set `NAME`, on which bits depend (default: "+
		string(asm.Best().ISA)+")")
	p.declareComputing(f)
}

func (p *plan) run(ctx context.Context, e *env) error {
	h, planning, isa, err := p.prepare(ctx, e)
	if err != nil {
		return err
	}
	defer h.Store.Close()
	spec, tasks, err := p.planner.Plan(ctx, planning)
	if err != nil {
		return err
	}
	if _, ok := p.planner.(job.Divider); !ok && planning.Corpus != nil {
		if planning.Digest, err = corpus.Write(ctx, h.Store, planning.Corpus); err != nil {
			return err
		}
	}
	d := job.Description{Version: job.Version, Kind: p.kind.Name(), Corpus: planning.Digest, ISA: isa, Tasks: tasks}
	if err := d.SetSpec(spec); err != nil {
		return err
	}
	j, err := h.Save(ctx, d)
	if err != nil {
		return err
	}
	if !p.quiet {
		if c := planning.Corpus; c != nil {
			e.say("%s: %d documents, %d values", c.Source, c.Documents.Rows(), c.Documents.NNZ())
		}
		e.say("job %s: %s, %d tasks, %s", j.Digest, j.Kind, j.Tasks, j.ISA)
	}
	w := bufio.NewWriter(e.stdout)
	for t := range j.Tasks {
		fmt.Fprintln(w, job.Line{Job: j.Digest, Task: t})
		if t%1000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return w.Flush()
}

// prepare opens the store and reads the documents. The caller closes the store.
func (p *plan) prepare(ctx context.Context, e *env) (h *job.Host, planning *job.Planning, isa string, err error) {
	kernels := asm.Best()
	if p.isa != "" {
		if kernels, err = asm.For(asm.ISA(p.isa)); err != nil {
			return nil, nil, "", usagef("-isa: %v", err)
		}
	}
	if h, err = p.with(ctx, store.Create); err != nil {
		return nil, nil, "", err
	}
	warn := func(format string, args ...any) {
		if !p.quiet {
			e.say("gramcluster: warning: "+format, args...)
		}
	}
	planning = &job.Planning{Host: h, Source: p.in, Warn: warn}
	if p.in != "" {
		planning.Corpus, err = p.read(ctx, p.planner, h, e, warn)
	}
	if err != nil {
		return nil, nil, "", errors.Join(err, h.Store.Close())
	}
	return h, planning, string(kernels.ISA), nil
}

// documents are the flags that say what documents are read and how, as those of grambench.
type documents struct {
	in, format                                                 string
	minDF, maxDF                                               int
	signed                                                     bool
	tokenizer                                                  string
	encoding, labels                                           string
	strict                                                     bool
	labelColumn, textColumn, labelKey, textKey, labelSeparator string
}

func (d *documents) declare(f *flag.FlagSet) {
	f.StringVar(&d.in, "in", "", "the documents of `SOURCE`: a file, a folder, - (standard input), synthetic:…")
	f.StringVar(&d.format, "format", "", "`FORMAT` of a file (default: from the name and the first bytes)")
	f.IntVar(&d.minDF, "min-df", 0,
		"leave out terms that fewer than `N` documents have (default: 2 for text, 1 for vectors)")
	f.IntVar(&d.maxDF, "max-df", 0, "leave out terms that more than `N` documents have (default: no limit)")
	f.BoolVar(&d.signed, "signed", false, "accept negative values")
	f.StringVar(&d.tokenizer, "tokenizer", "", "cut text by `SPEC`, such as word:ngrams=1..2,digits")
	f.StringVar(&d.encoding, "encoding", "", "`NAME` of the encoding of text")
	f.BoolVar(&d.strict, "strict", false, "refuse bytes that are not text")
	f.StringVar(&d.labels, "labels", "", "read the labels from `FILE`, one line per document")
	f.StringVar(&d.labelColumn, "label-column", "", "the labels of a table are in this `COLUMN`")
	f.StringVar(&d.textColumn, "text-column", "", "the texts of a table are in this `COLUMN`")
	f.StringVar(&d.labelKey, "label-key", "", "the labels of JSON lines have this `KEY`")
	f.StringVar(&d.labelSeparator, "label-separator", "", "the separator of labels, or none: each field is one `LABEL`")
	f.StringVar(&d.textKey, "text-key", "", "the texts of JSON lines have this `KEY`")
}

// leastReading is what reading a few documents takes.
const leastReading = 1 << 20

// flagOf returns the flag for a field of [sparse.Options].
func flagOf(field string) string {
	return map[string]string{
		"Signed": "-signed", "MaxLineBytes": "-m", "Format": "-format", "Encoding": "-encoding", "Strict": "-strict",
		"LabelColumn": "-label-column", "TextColumn": "-text-column", "LabelKey": "-label-key", "TextKey": "-text-key",
		"LabelSeparator": "-label-separator", "MinDF": "-min-df", "Groups": "grambench's -sets qid",
	}[field]
}

// read reads the documents.
func (d *documents) read(
	ctx context.Context, p job.Planner, h *job.Host, e *env, warn func(string, ...any),
) (*sparse.Corpus, error) {
	format := sparse.Format(d.format)
	switch d.format {
	case "auto":
		format = sparse.FormatAuto
	case "libsvm":
		format = sparse.FormatSVMLight
	}
	opt := sparse.Options{
		Format: format, Workers: h.Workers, MinDF: d.minDF, MaxDF: d.maxDF, Signed: d.signed,
		Encoding: d.encoding, Strict: d.strict, Labels: d.labels, LabelColumn: d.labelColumn, TextColumn: d.textColumn,
		LabelKey: d.labelKey, TextKey: d.textKey, LabelSeparator: d.labelSeparator,
		MemoryBytes: (2*h.Left(nil) + 4) / 5, // one and a half times as much for what follows
	}
	if d.tokenizer != "" {
		t, err := sparse.ParseTokenizer(d.tokenizer)
		if err != nil {
			return nil, usagef("-tokenizer: %v", err)
		}
		opt.Tokenizer = t
	}
	if r, ok := p.(job.Reader); ok {
		if err := r.Reading(ctx, &opt); err != nil {
			return nil, err
		}
	}
	var c *sparse.Corpus
	var err error
	if err := h.Fits(nil, leastReading, "reading documents"); err != nil {
		return nil, err
	}
	if d.in == "-" {
		c, err = sparse.ReadFrom(ctx, os.Stdin, "standard input", opt)
	} else {
		c, err = sparse.Read(ctx, d.in, opt)
	}
	if memory := (*sparse.MemoryError)(nil); errors.As(err, &memory) && h.Memory > 0 {
		return nil, h.Fits(nil, memory.Need*5/2, "reading %s and what follows", memory.Place)
	}
	if bad := (*sparse.SyntaxError)(nil); errors.As(err, &bad) {
		return nil, errors.New(bad.Describe(flagOf))
	}
	if err != nil {
		return nil, err
	}
	for _, w := range c.Warnings {
		warn("%s, %d times, first at %s", w.Describe(flagOf), w.Count, w.First)
	}
	return c, nil
}
