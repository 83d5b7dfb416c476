package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sample is one run of a program.
type sample struct {
	seconds float64
	cores   float64 // processor time by elapsed time
}

// samples are the runs of one program.
type samples []sample

// add adds a run.
func (s *samples) add(v sample) { *s = append(*s, v) }

// median returns the median, least and greatest seconds, and the median of cores.
func (s samples) median() (seconds, least, most, cores float64) {
	of := func(value func(sample) float64) (v []float64, middle float64) {
		for _, one := range s {
			v = append(v, value(one))
		}
		slices.Sort(v)
		return v, (v[(len(v)-1)/2] + v[len(v)/2]) / 2
	}
	all, seconds := of(func(v sample) float64 { return v.seconds })
	_, cores = of(func(v sample) float64 { return v.cores })
	return seconds, all[0], all[len(all)-1], cores
}

// execute runs a program with the bench's number of threads and returns its time and both outputs.
func (b *bench) execute(ctx context.Context, name string, args ...string) (s sample, stdout, stderr string, err error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Env = append(os.Environ(), "OMP_NUM_THREADS="+strconv.Itoa(b.threads))
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	begin := time.Now()
	err = c.Run()
	s.seconds = time.Since(begin).Seconds()
	if err != nil {
		if ctx.Err() != nil {
			return s, "", "", ctx.Err()
		}
		said := strings.TrimSpace(errs.String() + "\n" + out.String())
		return s, "", "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, said[max(0, len(said)-2000):])
	}
	s.cores = (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds() / s.seconds
	return s, out.String(), errs.String(), nil
}

// own runs a command of grambench that prints JSON into report.
func (b *bench) ownRun(ctx context.Context, report any, args ...string) (sample, string, error) {
	s, stdout, stderr, err := b.execute(ctx, b.grambench, append(args, "-workers", strconv.Itoa(b.threads), "-json")...)
	if err == nil {
		err = json.Unmarshal([]byte(stdout), report)
	}
	return s, stderr, err
}
