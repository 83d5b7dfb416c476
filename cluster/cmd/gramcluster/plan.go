package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/shards"
	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/source"
)

type planFlags struct {
	hostFlags
	documents source.Documents
	tokenizer string
	kind      job.Kind
	planner   job.Planner
	isa       string
}

func planCommand() *cli.Command {
	return &cli.Command{
		Name: "plan", Summary: "print the tasks of a job: " + strings.Join(kindNames("plan"), ", "),
		Help: kindHelp("plan", `
Reads documents, stores them, and prints the tasks of a job, a line each, for gramcluster work. The
same documents and flags are the same job: planned twice, nothing is stored again.`),
		NoJSON: true,
		Setup: func(f *cli.Flags) cli.RunFunc {
			p := &planFlags{}
			p.declare(f)
			f.Lookup("q").Usage = "print only task lines"
			selectKind(f, "plan", "-store URL -in SOURCE [flags]", p.setKind)
			return p.run
		},
	}
}

func (p *planFlags) setKind(k job.Kind, with job.Planner) { p.kind, p.planner = k, with }

// declare declares the flags that the commands plan and drive share.
func (p *planFlags) declare(f *cli.Flags) {
	p.declareStore(f)
	p.declareComputing(f)
	f.StringVar(&p.isa, "isa", "", "compute with the instruction set `NAME`, which affects rounding (default: "+
		string(asm.BestKernels().ISA)+")")
	f.AddCheck(func() error {
		if _, err := asm.KernelsFor(asm.ISA(p.isa)); p.isa != "" && err != nil {
			return cli.Usagef("-isa: %w", err)
		}
		return nil
	})
	p.documents.Declare(f, "", &p.limits)
	f.StringVar(&p.tokenizer, "tokenizer", "", "tokenizer `SPEC`, such as word:ngrams=1..2,digits; used instead of "+
		"the text flags")
	f.AddCheck(func() error {
		if _, err := corpus.ParseTokenizer(p.tokenizer); p.tokenizer != "" && err != nil {
			return cli.Usagef("-tokenizer: %w", err)
		}
		return nil
	})
}

func (p *planFlags) run(ctx context.Context, e *cli.Env) error {
	h, planning, err := p.prepare(ctx, e)
	if err != nil {
		return err
	}
	defer h.Store.Close()
	spec, tasks, err := p.planner.Plan(ctx, planning)
	if err != nil {
		return err
	}
	if _, ok := p.planner.(job.DocumentSplitter); !ok && planning.Corpus != nil {
		if planning.CorpusDigest, err = shards.Write(ctx, h.Store, planning.Corpus); err != nil {
			return err
		}
	}
	d := job.Description{Version: job.Version, Kind: p.kind.Name, CorpusDigest: planning.CorpusDigest, ISA: p.isa,
		NumTasks: tasks}
	if err := d.SetSpec(spec); err != nil {
		return err
	}
	j, err := h.Save(ctx, d)
	if err != nil {
		return err
	}
	if c := planning.Corpus; c != nil {
		logUnlessQuiet(e, "%s: %d documents, %d values", c.Source, c.Documents.Rows(), c.Documents.NNZ())
	}
	logUnlessQuiet(e, "job %s: %s, %d tasks, %s", j.Digest, j.Kind, j.NumTasks, j.ISA)
	w := bufio.NewWriter(e.Stdout)
	for t := range j.NumTasks {
		fmt.Fprintln(w, job.TaskLine{Job: j.Digest, Task: t})
		if t%1000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return w.Flush()
}

// prepare opens the store and reads the documents. The caller must close the store.
func (p *planFlags) prepare(ctx context.Context, e *cli.Env) (*job.Host, *job.PlanArgs, error) {
	if p.isa == "" {
		p.isa = string(asm.BestKernels().ISA)
	}
	h, err := p.openWith(ctx, store.Create)
	if err != nil {
		return nil, nil, err
	}
	planning := &job.PlanArgs{Host: h, Source: p.documents.Source, Warnf: e.Warnf}
	if p.documents.Source != "" {
		planning.Corpus, err = p.read(ctx, h, e)
	}
	if err != nil {
		return nil, nil, errors.Join(err, h.Store.Close())
	}
	return h, planning, nil
}

func (p *planFlags) read(ctx context.Context, h *job.Host, e *cli.Env) (*corpus.Corpus, error) {
	p.documents.AdjustOptions = func(opt *corpus.Options) error {
		opt.MemoryBytes = (2*h.FreeMemory(nil) + 4) / 5 // later steps need three fifths of the free memory
		var err error
		if p.tokenizer != "" {
			opt.Tokenizer, err = corpus.ParseTokenizer(p.tokenizer)
		}
		if r, ok := p.planner.(job.ReadConfigurer); ok && err == nil {
			err = r.ConfigureRead(ctx, opt)
		}
		return err
	}
	c, err := p.documents.Read(ctx, e, e.NewProgress(false))
	if memory := (*corpus.MemoryError)(nil); errors.As(err, &memory) && h.MemoryLimit > 0 {
		return nil, h.CheckMemory(nil, memory.NeedBytes*5/2, "reading and processing %s", memory.Source)
	}
	return c, err
}
