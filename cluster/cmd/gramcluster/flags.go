package main

import (
	"context"
	"runtime"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
)

// programFileBytes is the memory of the mapped program file in bytes. Go's memory limit doesn't
// include it.
const programFileBytes = 46 << 20

// minMemoryBytes is the minimum memory for a command in bytes, in addition to the program.
const minMemoryBytes = 1 << 20

type hostFlags struct {
	limits    backend.Limits
	store     string
	cache     string
	cacheSize cli.ByteSize
}

func (h *hostFlags) declareStore(f *cli.Flags) {
	f.StartGroup("Store", "")
	f.StringVar(&h.store, "store", "", "use the object store at `URL`: a folder, file:///…, s3://…, gs://… or azblob://…")
	f.AddCheck(func() error {
		if h.store == "" {
			return cli.Usagef("-store URL is required: a folder, s3://…, gs://… or azblob://…")
		}
		return nil
	})
}

func (h *hostFlags) declareComputing(f *cli.Flags) {
	f.StartGroup("Computing", "")
	h.limits.NonGoBytes = programFileBytes
	h.limits.DeclareWorkers(f)
	f.Var(&h.limits.Memory, "m", "use at most `SIZE` of memory, such as 500M or 4G; a plain number means MB")
}

func (h *hostFlags) declareCache(f *cli.Flags) {
	f.StringVar(&h.cache, "cache", "", "cache documents and models in the local folder `DIR`")
	h.cacheSize = 4 << 30
	f.Var(&h.cacheSize, "cache-size", "maximum `SIZE` of the cache; the least recently used files are evicted")
}

func (h *hostFlags) open(ctx context.Context) (*job.Host, error) { return h.openWith(ctx, store.Open) }

func (h *hostFlags) openWith(
	ctx context.Context, open func(ctx context.Context, address string) (*store.Store, error),
) (*job.Host, error) {
	out := &job.Host{Workers: h.limits.NumWorkers(), MemoryLimit: int64(h.limits.Memory)}
	runtime.GOMAXPROCS(min(out.Workers, runtime.GOMAXPROCS(0)))
	if out.MemoryLimit > 0 {
		h.limits.SetMemoryLimit()
	}
	if err := out.CheckMemory(nil, minMemoryBytes, "a command"); err != nil {
		return nil, err
	}
	var err error
	if out.Store, err = open(ctx, h.store); err != nil {
		return nil, err
	}
	if h.cache != "" {
		if out.Cache, err = store.NewCache(h.cache, int64(h.cacheSize)); err != nil {
			return nil, err
		}
	}
	return out, nil
}
