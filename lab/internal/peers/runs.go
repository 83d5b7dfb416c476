package peers

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

	"github.com/gramengine/gram/internal/report"
)

// Ran is a run of a program.
type Ran struct {
	Stdout, Stderr string
	Seconds        float64
	Cores          float64 // processor time by elapsed time
	Processor      float64 // seconds of processor time, of the whole process
	Version        string  // as a script says it
}

// Execute runs a program.
func (b *Bench) Execute(ctx context.Context, name string, args ...string) (r Ran, err error) {
	c := exec.CommandContext(ctx, name, args...)
	threads := strconv.Itoa(b.Threads)
	c.Env = append(os.Environ(), "OMP_NUM_THREADS="+threads, "OPENBLAS_NUM_THREADS="+threads)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	c.WaitDelay = time.Second // for what it has started itself, when ctx ends
	begin := time.Now()
	err = c.Run()
	r.Seconds = time.Since(begin).Seconds()
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	if err != nil {
		said := strings.TrimSpace(errs.String() + "\n" + out.String())
		return r, fmt.Errorf("%s: %w: %s", name, err, said[max(0, len(said)-2000):])
	}
	r.Stdout, r.Stderr = out.String(), errs.String()
	r.Processor = (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
	r.Cores = r.Processor / r.Seconds
	return r, nil
}

// Own runs a command of gram and reads what it prints as JSON.
func (b *Bench) Own(ctx context.Context, into any, args ...string) (Ran, error) {
	r, err := b.Execute(ctx, b.Grambench, append(args, "-workers", strconv.Itoa(b.Threads), "-json")...)
	return r, r.read(err, into)
}

// Script runs a script of Python and reads what it prints as JSON. Seconds and cores are those that
// it prints, where it does: of what is measured alone, without its start.
func (b *Bench) Script(ctx context.Context, into any, script string, args ...string) (Ran, error) {
	r, err := b.Execute(ctx, b.Python, append([]string{"-c", script}, args...)...)
	said := struct {
		Seconds, Cores *float64
		Version        *string
	}{&r.Seconds, &r.Cores, &r.Version}
	if err = r.read(err, &said); err == nil && into != nil {
		err = r.read(nil, into)
	}
	return r, err
}

// read reads what a program printed, unless it failed.
func (r Ran) read(err error, into any) error {
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(r.Stdout), into); err != nil {
		return fmt.Errorf("it printed %.200q: %w", r.Stdout, err)
	}
	return nil
}

// Runs are the runs of one program.
type Runs []Ran

// Median returns the median, least and greatest seconds, and the median of cores.
func (r Runs) Median() (seconds, least, most, cores float64) {
	var all, used []float64
	for _, one := range r {
		all, used = append(all, one.Seconds), append(used, one.Cores)
	}
	return report.Median(all), slices.Min(all), slices.Max(all), report.Median(used)
}

// Vectors writes the documents of a source as vectors with numbers for classes, embedded, before
// they are scaled to length 1; like is the source of the training documents of tests, or "".
func (b *Bench) Vectors(ctx context.Context, source, like, embedding, file string, flags ...string) error {
	args := append([]string{"corpus", "-q", "-in", source, "-embed", embedding, "-o", file}, flags...)
	if like != "" {
		args = append(args, "-like", like)
	}
	_, err := b.Execute(ctx, b.Grambench, args...)
	return err
}
