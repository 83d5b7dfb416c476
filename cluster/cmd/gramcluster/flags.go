package main

import (
	"context"
	"runtime"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
)

// fileBytes is the memory for the program file in bytes. Go's memory limit doesn't include it.
const fileBytes = 46 << 20

// minBytes is the minimum memory for a command in bytes, in addition to the program.
const minBytes = 1 << 20

// host holds the common flags for store, cache, workers and memory.
type host struct {
	limits backend.Limits
	store  string
	cache  string
	most   cli.ByteSize
}

func (h *host) declareStore(f *cli.Flags) {
	f.Group("Store", "")
	f.StringVar(&h.store, "store", "", "use the object store at `URL`: a folder, file:///…, s3://…, gs://… or azblob://…")
	f.Check(func() error {
		if h.store == "" {
			return cli.Usagef("-store URL is required: a folder, s3://…, gs://… or azblob://…")
		}
		return nil
	})
}

func (h *host) declareComputing(f *cli.Flags) {
	f.Group("Computing", "")
	h.limits.FileBytes = fileBytes
	h.limits.DeclareWorkers(f)
	f.Var(&h.limits.Memory, "m", "use at most `SIZE` of memory, such as 500M or 4G; a plain number means MB")
}

func (h *host) declareCache(f *cli.Flags) {
	f.StringVar(&h.cache, "cache", "", "cache documents and models in the local folder `DIR`")
	h.most = 4 << 30
	f.Var(&h.most, "cache-size", "maximum `SIZE` of the cache; the least recently used files are evicted")
}

func (h *host) open(ctx context.Context) (*job.Host, error) { return h.with(ctx, store.Open) }

func (h *host) with(
	ctx context.Context, open func(ctx context.Context, address string) (*store.Store, error),
) (*job.Host, error) {
	out := &job.Host{Workers: h.limits.NumWorkers(), Memory: int64(h.limits.Memory)}
	runtime.GOMAXPROCS(min(out.Workers, runtime.GOMAXPROCS(0)))
	if out.Memory > 0 {
		h.limits.Limit()
	}
	if err := out.Fits(nil, minBytes, "a command"); err != nil {
		return nil, err
	}
	var err error
	if out.Store, err = open(ctx, h.store); err != nil {
		return nil, err
	}
	if h.cache != "" {
		if out.Cache, err = store.NewCache(h.cache, int64(h.most)); err != nil {
			return nil, err
		}
	}
	return out, nil
}
