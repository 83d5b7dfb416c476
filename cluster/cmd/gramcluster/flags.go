package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/sparse"
)

// byteSize is a flag in bytes, such as 500M; a plain number means MB.
type byteSize int64

func (b *byteSize) String() string {
	if *b == 0 {
		return ""
	}
	return sparse.FormatBytes(int64(*b))
}

func (b *byteSize) Set(s string) error {
	number, unit := strings.TrimRight(strings.ToUpper(s), "KMGTIB"), 1.0
	switch suffix := strings.ToUpper(s)[len(number):]; strings.TrimSuffix(strings.TrimSuffix(suffix, "B"), "I") {
	case "K":
		unit = 1 << 10
	case "", "M":
		unit = 1 << 20
	case "G":
		unit = 1 << 30
	case "T":
		unit = 1 << 40
	default:
		return fmt.Errorf("expected a size such as 500M or 4G")
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v > 0) || v*unit >= math.MaxInt64 {
		return fmt.Errorf("expected a size such as 500M or 4G")
	}
	*b = byteSize(v * unit)
	return nil
}

// fileBytes is what Go's runtime doesn't count: the pages of the program's file.
const fileBytes = 46 << 20

// host is the flags of what a process works with.
type host struct {
	store   string
	workers int
	memory  byteSize
	cache   string
	most    byteSize
}

func (h *host) declareStore(f *flag.FlagSet) {
	f.StringVar(&h.store, "store", "", "the store `URL`: a folder, file:///…, s3://…, gs://… or azblob://…")
}

func (h *host) declareComputing(f *flag.FlagSet) {
	f.IntVar(&h.workers, "workers", 0, "work with `N` goroutines (default: all processors)")
	f.Var(&h.memory, "m", "use at most `SIZE` of memory, such as 500M or 4G; a plain number means MB")
}

func (h *host) declareCache(f *flag.FlagSet) {
	f.StringVar(&h.cache, "cache", "", "keep copies of documents and models in the folder `DIR` of this machine")
	h.most = 4 << 30
	f.Var(&h.most, "cache-size", "bound the copies by `SIZE`; those that were read longest ago go")
}

// open opens the store that is there.
func (h *host) open(ctx context.Context) (*job.Host, error) { return h.with(ctx, store.Open) }

// with opens the store by a function.
func (h *host) with(
	ctx context.Context, open func(ctx context.Context, address string) (*store.Store, error),
) (*job.Host, error) {
	if h.store == "" {
		return nil, usagef("-store URL is missing: a folder, or s3://…, gs://…, azblob://…")
	}
	if h.workers < 0 {
		return nil, usagef("-workers %d is below 0", h.workers)
	}
	if h.workers == 0 {
		h.workers = runtime.GOMAXPROCS(0)
	}
	runtime.GOMAXPROCS(min(h.workers, runtime.GOMAXPROCS(0)))
	if h.memory > 0 {
		debug.SetMemoryLimit(int64(h.memory) - min(fileBytes, int64(h.memory)/4))
	}
	s, err := open(ctx, h.store)
	if err != nil {
		return nil, err
	}
	out := &job.Host{Store: s, Workers: h.workers, Memory: int64(h.memory)}
	if h.cache != "" {
		if out.Cache, err = store.NewCache(h.cache, int64(h.most)); err != nil {
			return nil, err
		}
	}
	return out, nil
}
