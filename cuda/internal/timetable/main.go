// Command timetable prints what package timemodel expects of corpora on an H100, and what NVIDIA's assembler
// makes of the kernels: the tables of cuda/BENCHMARKS.md.
//
//	timetable [-sass PTX] [SOURCE...]
//
// A SOURCE is a corpus as corpus.Read takes it. -sass counts what ptxas makes of a file of PTX and
// nvdisasm reads of that (PTXAS and NVDISASM name others).
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/cuda/internal/timemodel"
	"github.com/gramengine/gram/sparse"
)

// perChunk is how many terms fit into 227 KiB of shared memory beside a line of zeros, and
// mostChunks how many chunks there are at most.
const (
	perChunk   = 227<<10/(4*timemodel.Width) - 1
	mostChunks = 16
)

func main() {
	ptx := flag.String("sass", "", "count the instructions of this `file` of PTX")
	flag.Parse()
	err := error(nil)
	if *ptx != "" {
		err = sass(os.Stdout, *ptx)
	}
	if err == nil && flag.NArg() > 0 {
		err = corpora(context.Background(), os.Stdout, flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "timetable:", err)
		os.Exit(1)
	}
}

// corpora prints the counts of each corpus and the times that the model gives.
func corpora(ctx context.Context, out io.Writer, sources []string) error {
	fmt.Fprintln(out, "| corpus | documents | values | dense terms | head terms | chunks | in head | in tail "+
		"| matches | tailAdd ms | panelDot ms | panelTensor ms | closePairs ms | digest ms | sum | pairs/s |\n|"+
		strings.Repeat(" --- |", 16))
	for _, source := range sources {
		c, err := corpus.Read(ctx, source, corpus.Options{})
		if err != nil {
			return err
		}
		x, err := sparse.Sphere.Fit(c.Documents).Transform(c.Documents)
		if err != nil {
			return err
		}
		rank := sparse.Ranks(sparse.Order(x.DocumentFrequency()))
		byRank, err := sparse.ByRank(ctx, nil, &x.CSR, rank, runtime.GOMAXPROCS(0))
		if err != nil {
			return err
		}
		n, docs := x.Rows(), float64(x.Rows())
		for _, share := range []int64{0, timemodel.ByModel} {
			dense := timemodel.Measured.Terms(byRank.Offsets, n, share)
			if share != 0 && dense == 0 {
				continue
			}
			first := byRank.Offsets[dense:]
			head := timemodel.Measured.Head(first, n, perChunk, mostChunks, timemodel.H100.Rows)
			w := timemodel.Of(first, n, head, perChunk)
			w.Steps = math.Ceil(float64(dense) / timemodel.DenseStep)
			t := timemodel.H100.Times(&timemodel.Measured, w)
			fmt.Fprintf(out, "| %s | %d | %.0f | %d | %d | %.0f | %.1f | %.1f | %.0f |"+
				strings.Repeat(" %.2g |", 7)+"\n",
				source, n, float64(x.NNZ())/docs, dense, head, w.Chunks, w.HeadValues/docs, w.TailValues/docs,
				w.Matches/docs, 1e3*t.Tail, 1e3*t.Panel, 1e3*t.Tensor, 1e3*t.Close, 1e3*t.Digest, 1e3*t.Sum(),
				docs*(docs-1)/2/t.Sum())
		}
	}
	return nil
}
