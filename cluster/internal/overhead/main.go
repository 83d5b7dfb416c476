// Command overhead prints the table in docs/cluster.md: the CPU time of gram and gramcluster for a
// Gram matrix. Each round runs `gram matrix`, `gramcluster plan`, several `gramcluster work` and
// `gramcluster gather`, one process at a time, and checks that the output files are equal. The
// table has medians, minima and maxima over the rounds. See `make bench-cluster`.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/gramengine/gram/tiles"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o := &options{}
	flag.StringVar(&o.gram, "gram", "../bin/gram", "`PROGRAM` that runs on one computer")
	flag.StringVar(&o.gramcluster, "gramcluster", "../bin/gramcluster", "`PROGRAM` that runs on several computers")
	flag.StringVar(&o.in, "in", "synthetic:docs=20000,terms=60000,length=150,classes=20,seed=1",
		"`SOURCE` of the documents")
	flag.StringVar(&o.dir, "dir", "", "write files to a new folder in `DIR` (default: the temporary directory)")
	flag.IntVar(&o.processes, "processes", 4, "number of processes `N` that share the tasks")
	flag.IntVar(&o.rounds, "rounds", 5, "number of measurements `N`")
	flag.IntVar(&o.warmups, "warm", 3072, "allocate and free `N` MiB of memory before each process, because a virtual\n"+
		"machine may charge the process for the time its host takes to find memory")
	flag.Parse()
	if err := o.run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "overhead:", err)
		os.Exit(1)
	}
}

type options struct {
	gram, gramcluster, in, dir string
	processes, rounds, warmups int
}

// Indices of a round's measurements: gram alone, then the three steps of gramcluster.
const (
	stepGram = iota
	stepPlan
	stepWork
	stepGather
	numSteps
)

type cpuTime struct{ user, system float64 }

func (a cpuTime) plus(b cpuTime) cpuTime { return cpuTime{a.user + b.user, a.system + b.system} }

func (a cpuTime) sum() float64 { return a.user + a.system }

type round [numSteps]cpuTime

func (o *options) run(ctx context.Context, w io.Writer) error {
	if flag.NArg() > 0 || o.processes < 1 || o.rounds < 1 || o.warmups < 0 {
		return errors.New("-processes and -rounds must be positive, -warm must be nonnegative, and arguments are not allowed")
	}
	var rounds []round
	for i := range o.rounds {
		r, err := o.measureRound(ctx, i%2 == 1)
		if err != nil {
			return err
		}
		rounds = append(rounds, r)
	}
	_, err := io.WriteString(w, formatTable(rounds, o.processes))
	return err
}

// measureRound measures gram and gramcluster once, in a new folder. clusterFirst is true if
// gramcluster runs before gram.
func (o *options) measureRound(ctx context.Context, clusterFirst bool) (r round, err error) {
	dir, err := os.MkdirTemp(o.dir, "gram-overhead-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	want, got, store := filepath.Join(dir, "want.npy"), filepath.Join(dir, "got.npy"), filepath.Join(dir, "store")
	steps := []func() error{
		func() error {
			_, err := o.measure(ctx, &r[stepGram], "", o.gram, "matrix", "-q", "-workers", "1", "-in", o.in, "-o", want)
			return err
		},
		func() error {
			lines, err := o.measure(ctx, &r[stepPlan], "", o.gramcluster, "plan", "gram", "-q", "-workers", "1", "-store", store,
				"-in", o.in)
			shares := make([]strings.Builder, o.processes)
			at := 0
			for line := range strings.Lines(lines) {
				shares[at%len(shares)].WriteString(line)
				at++
			}
			for i := range shares {
				if err == nil {
					_, err = o.measure(ctx, &r[stepWork], shares[i].String(), o.gramcluster, "work", "-workers", "1", "-store", store)
				}
			}
			if err == nil {
				_, err = o.measure(ctx, &r[stepGather], "", o.gramcluster, "gather", "-q", "-workers", "1", "-store", store, "-o",
					got)
			}
			return err
		},
	}
	if clusterFirst {
		steps[0], steps[1] = steps[1], steps[0]
	}
	for _, do := range steps {
		if err := do(); err != nil {
			return r, err
		}
	}
	return r, compareFiles(want, got)
}

// measure runs a program and returns the program's output. It adds the program's CPU time to *to.
func (o *options) measure(ctx context.Context, to *cpuTime, stdin, program string, args ...string) (string, error) {
	for at, memory := 0, tiles.MakeFloats(o.warmups<<18); at < len(memory); at += 1024 {
		memory[at] = 1
	}
	debug.FreeOSMemory()
	var out, problems bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &problems
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", program, args[0], err, &out, &problems)
	}
	*to = to.plus(cpuTime{cmd.ProcessState.UserTime().Seconds(), cmd.ProcessState.SystemTime().Seconds()})
	return out.String(), nil
}

func compareFiles(a, b string) error {
	f, err := os.Open(a)
	if err != nil {
		return err
	}
	defer f.Close()
	g, err := os.Open(b)
	if err != nil {
		return err
	}
	defer g.Close()
	x, y := make([]byte, 1<<20), make([]byte, 1<<20)
	for {
		n, err := io.ReadFull(f, x)
		m, err2 := io.ReadFull(g, y)
		if !bytes.Equal(x[:n], y[:m]) {
			return fmt.Errorf("%s and %s differ", a, b)
		}
		if err != nil || err2 != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return nil
			}
			return err
		}
	}
}
