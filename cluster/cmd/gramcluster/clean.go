package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/shards"
	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/cluster/work"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
)

var cleanCommand = cli.Command{
	Name: "clean", Summary: "delete the results of a job, and objects that no job uses",
	Help: `
Nothing else deletes anything. -job deletes a job with its results; -unused deletes documents,
models and results that belong to no job, and what killed processes left half-written. Both may be
given. No work, plan or gather of that job may be under way, and with -unused none in this store.`,
	Examples: `
gramcluster clean -store run -unused
gramcluster clean -store run -job 3f2a -unused`,
	NoJSON: true,
	Setup: func(f *cli.Flags) cli.RunFunc {
		c := &cleanFlags{}
		f.Usage = "gramcluster clean -store URL [-job JOB] [-unused]"
		c.declareStore(f)
		f.StringVar(&c.job, "job", "", "delete the job whose digest begins with `JOB`")
		f.BoolVar(&c.unused, "unused", false, "delete objects that no job refers to")
		f.AddCheck(func() error {
			if c.job == "" && !c.unused {
				return cli.Usagef("nothing to delete; set -job JOB, -unused or both")
			}
			return nil
		})
		return c.run
	},
}

type cleanFlags struct {
	hostFlags
	job    string
	unused bool
}

var digestPattern = regexp.MustCompile(`[0-9a-f]{64}`)

func (c *cleanFlags) run(ctx context.Context, e *cli.Env) error {
	h, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer h.Store.Close()
	objects, bytes := 0, int64(0)
	remove := func(prefix string) error {
		n, size, err := h.Store.Delete(ctx, prefix)
		objects, bytes = objects+n, bytes+size
		return err
	}
	if c.job != "" {
		digest, err := work.FindDigest(ctx, h.Store, c.job)
		if err != nil {
			return err
		}
		// Remove the description first, so that an interruption leaves only unused results.
		for _, prefix := range []string{job.DescriptionPrefix + digest, job.JobResultsPrefix(digest)} {
			if err := remove(prefix); err != nil {
				return err
			}
		}
	}
	if c.unused {
		if err := c.removeUnused(ctx, h, remove); err != nil {
			return err
		}
		if err := h.Store.Sweep(); err != nil {
			return err
		}
	}
	logUnlessQuiet(e, "deleted %d objects, %s", objects, report.FormatBytes(bytes))
	return nil
}

// removeUnused removes inputs that no job's description refers to, and results without a job.
func (c *cleanFlags) removeUnused(ctx context.Context, h *job.Host, remove func(prefix string) error) error {
	used := map[string]bool{}
	jobs, err := work.JobDigests(ctx, h.Store, "")
	if err != nil {
		return err
	}
	for _, digest := range jobs {
		used[digest] = true
		// Fail if a description can't be read, because the job's inputs are then unknown.
		text, err := h.Store.Get(ctx, job.DescriptionPrefix+digest, nil)
		if err != nil {
			return fmt.Errorf("cannot read job %.12s, so the objects that it needs are unknown (plan it again, or delete it "+
				"with -job %.12s): %w", digest, digest, err)
		}
		for _, d := range digestPattern.FindAllString(string(text), -1) {
			used[d] = true
		}
	}
	var prefixes []string
	for _, prefix := range []string{shards.Prefix, job.FilePrefix, job.ResultsPrefix} {
		last := ""
		err := h.Store.List(ctx, prefix, func(o store.Object) error {
			digest, rest, nested := strings.Cut(strings.TrimPrefix(o.Name, prefix), "/")
			if digest == last || !job.IsDigest(digest) || used[digest] {
				return nil
			}
			last = digest
			if nested && rest != "" {
				digest += "/"
			}
			prefixes = append(prefixes, prefix+digest)
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, prefix := range prefixes {
		if err := remove(prefix); err != nil {
			return err
		}
	}
	return nil
}
