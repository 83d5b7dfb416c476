package landmarks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/jobs/jobtest"
	"github.com/gramengine/gram/cluster/shards"
	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/cluster/work"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/landmark"
	"github.com/gramengine/gram/internal/musttest"
)

func TestMain(m *testing.M) { jobtest.RunTests(m) }

// source has three blocks of documents; the last block is short.
const source = "synthetic:docs=1300,terms=900,length=40,classes=4,seed=5"

type driven struct {
	t      *testing.T
	folder string
	path   string
	done   map[string]int // number of tasks by final state
	jobs   []string       // digests in the order of the passes
	before func(pass int) error
	after  func(j *job.Job) // called after each job
}

func newDriven(t *testing.T) *driven {
	return &driven{t: t, folder: t.TempDir(), path: filepath.Join(t.TempDir(), "a.model"), done: map[string]int{}}
}

// drive runs the driver. Two hosts share the tasks of each pass, and run the last task first.
func (d *driven) drive(ctx context.Context, source string, flags ...string) error {
	s, err := store.Create(ctx, d.folder)
	if err != nil {
		return err
	}
	defer s.Close()
	f := flag.NewFlagSet("", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	p := Kind.DeclareFlags(f)
	if err := f.Parse(flags); err != nil {
		return err
	}
	c, err := corpus.Read(ctx, source, corpus.Options{})
	if err != nil {
		return err
	}
	hosts := []*job.Host{{Store: s, Workers: 1}, {Store: s, Workers: 3}}
	digest, err := shards.Write(ctx, s, c)
	if err != nil {
		return err
	}
	d.jobs = nil
	return p.(job.Driver).Drive(ctx, &job.DriveArgs{
		PlanArgs: job.PlanArgs{Host: hosts[0], Source: source, Corpus: c, CorpusDigest: digest},
		ISA:      string(asm.BestKernels().ISA),
		Output:   &job.Output{Path: d.path},
		RunJob: func(ctx context.Context, j *job.Job) error {
			if d.before != nil {
				if err := d.before(len(d.jobs)); err != nil {
					return err
				}
			}
			d.jobs = append(d.jobs, j.Digest)
			for task := j.NumTasks - 1; task >= 0; task-- {
				var out bytes.Buffer
				r := work.NewRunner(hosts[task%2], []job.Kind{Kind}, &out)
				if err := errors.Join(r.Run(ctx, job.TaskLine{Job: j.Digest, Task: task}), r.Close()); err != nil {
					return err
				}
				var report work.TaskReport
				if err := json.Unmarshal(out.Bytes(), &report); err != nil {
					return err
				}
				if d.done[report.State]++; report.State == work.StateFailed {
					return errors.New(report.Reason)
				}
			}
			if d.after != nil {
				d.after(j)
			}
			return nil
		},
	})
}

func (d *driven) model() []byte {
	return musttest.Get(os.ReadFile(d.path))(d.t)
}

// Jobs write the same model file as `gram train`.
func TestLikeGrambench(t *testing.T) {
	for _, c := range []struct {
		tasks  string
		flags  []string
		source string
	}{
		{"2", []string{"-kernel", "diffusion:t=0.3", "-c", "10"}, source},
		{"64", []string{"-loss", "logistic", "-c", "3"}, source},
		{"3", []string{"-loss", "hinge2", "-kernel", "rbf:gamma=0.5"}, source},
		{"3", []string{"-loss", "hinge2", "-scheme", "labels", "-kernel", "linear"}, source},
		{"64", []string{"-loss", "logistic"}, strings.Replace(source, "classes=4", "classes=2", 1)},
		{"1", []string{"-loss", "logistic"}, strings.Replace(source, "docs=1300", "docs=100", 1)},
	} {
		t.Run(strings.Join(c.flags, " "), func(t *testing.T) {
			t.Parallel()
			d := newDriven(t)
			flags := append([]string{"-landmarks", "150", "-tasks", c.tasks}, c.flags...)
			kind := "landmark:m=150"
			musttest.NoError(t, d.drive(t.Context(), c.source, flags...))
			args := []string{"train", "-q", "-in", c.source}
			for i := 0; i < len(c.flags); i += 2 {
				if c.flags[i] == "-loss" {
					kind += ",loss=" + c.flags[i+1]
				} else {
					args = append(args, c.flags[i:i+2]...)
				}
			}
			want := jobtest.RunGram(t, "a.model", append(args, "-type", kind)...)
			if got := d.model(); !bytes.Equal(got, want) {
				t.Errorf("the model differs from that of gram train after %d passes", len(d.jobs))
			}
			if len(d.jobs) < 2 {
				t.Errorf("%d passes, expected several", len(d.jobs))
			}
		})
	}
}

// A driver that is killed before any pass leaves no model. A restarted driver repeats no task and
// writes the same model. Damaged results are computed again.
func TestStartedAgain(t *testing.T) {
	flags := []string{"-landmarks", "60", "-loss", "logistic", "-tasks", "2"}
	whole := newDriven(t)
	musttest.NoError(t, whole.drive(t.Context(), source, flags...))
	d, killed := newDriven(t), errors.New("killed")
	for at := range whole.jobs {
		d.before = func(pass int) error {
			if pass == at {
				return killed
			}
			return nil
		}
		musttest.WantError(d.drive(t.Context(), source, flags...))(t, fmt.Sprintf("killed before pass %d", at), killed)
		musttest.WantError(os.Stat(d.path))(t, fmt.Sprintf("the model of a run killed before pass %d", at))
	}
	d.before = nil
	musttest.NoError(t, d.drive(t.Context(), source, flags...))
	if !bytes.Equal(d.model(), whole.model()) || !reflect.DeepEqual(d.jobs, whole.jobs) {
		t.Error("started again, the model or the passes differ")
	}
	if d.done[work.StateDone] != 2*len(whole.jobs) {
		t.Errorf("%d tasks done, expected %d, each once", d.done[work.StateDone], 2*len(whole.jobs))
	}

	rot := func(job string) {
		objects, err := filepath.Glob(filepath.Join(d.folder, "results", job, "*.a0"))
		if err != nil || len(objects) != 2 {
			t.Fatalf("results %v, error %v", objects, err)
		}
		b := musttest.Get(os.ReadFile(objects[0]))(t)
		b[len(b)/2] ^= 1
		musttest.NoError(t, os.WriteFile(objects[0], b, 0o600))
	}
	rot(whole.jobs[1])
	last := whole.jobs[len(whole.jobs)-1]
	d.after = func(j *job.Job) {
		if j.Digest == last {
			d.after = nil
			rot(last)
		}
	}
	musttest.NoError(t, errors.Join(os.Remove(d.path), d.drive(t.Context(), source, flags...)))
	if !bytes.Equal(d.model(), whole.model()) || d.done[work.StateDone] != 2*len(whole.jobs)+2 {
		t.Errorf("after two rotten results %d tasks were done, or another model came out", d.done[work.StateDone])
	}
}

// Damaged jobs, requests and results are rejected.
func TestDamaged(t *testing.T) {
	d := newDriven(t)
	musttest.NoError(t, d.drive(t.Context(), source, "-landmarks", "20", "-passes", "1"))
	s := musttest.Get(store.Create(t.Context(), d.folder))(t)
	defer s.Close()
	j := musttest.Get((&job.Host{Store: s, Workers: 1}).Load(t.Context(), d.jobs[0]))(t)
	for _, tasks := range []int{0, 4} {
		opened, _ := jobtest.CheckChangedRejected(t, Kind, j, func(d *job.Description) { d.NumTasks = tasks })
		if opened == nil || !strings.Contains(opened.Error(), "must be between 1 and 3") {
			t.Errorf("%d tasks: error %v", tasks, opened)
		}
	}
	for text, want := range map[string]string{
		`{"rows":-1}`: "must be between 0 and", `{"rows":1} 1`: "data after the JSON value", `{"more":1}`: "unknown field",
	} {
		musttest.WantError(parseRequest([]byte(text)))(t, "request "+text, want)
	}
	q := &landmark.Request{Rows: 600, Landmarks: []int{4, 2}, Classes: []int{0}, Points: []float64{1, 2}}
	for n := range 12 {
		musttest.WantError(decodeSums(make([]byte, n), q, 0, 1))(t, fmt.Sprintf("a result of %d bytes", n), "ends in block 0")
	}
}

// Invalid flags are rejected before the first pass.
func TestRefused(t *testing.T) {
	for _, flags := range [][]string{
		{"-tasks", "0"}, {"-c", "-1"}, {"-landmarks", "0"}, {"-loss", "x"}, {"-scheme", "x"},
		{"-kernel", "x"}, {"-kernel", "ngd"}, {"-tolerance", "0"}, {"-passes", "0"}, {"-embed", "x"},
	} {
		d := newDriven(t)
		if err := d.drive(t.Context(), source, flags...); err == nil || len(d.jobs) > 0 {
			t.Errorf("%v: error %v after %d passes", flags, err, len(d.jobs))
		} else {
			t.Log(flags, err)
		}
	}
}

// Any bytes are either rejected or decoded to sums that encode to the same bytes.
func FuzzDecode(f *testing.F) {
	q := &landmark.Request{Rows: 600, Landmarks: []int{4, 2}, Classes: []int{0}, Points: []float64{1, 2}}
	a := encodeSums(&landmark.Sums{Products: []float64{0.1, math.Inf(1)}, Ranges: []landmark.RangeSums{
		{FirstRow: 0, Sums: []float64{1, 2, 3}}, {FirstRow: 500, Sums: []float64{4, math.Copysign(0, -1), 6}}}})
	b := encodeSums(&landmark.Sums{Products: []float64{3, 4},
		Ranges: []landmark.RangeSums{{FirstRow: 512, Sums: []float64{7, 8, 9}}}})
	good := append(a, b...)
	musttest.Get(decodeSums(good, q, 0, 2))(f)
	for i, bad := range [][]byte{good[:len(good)-1], append(b, a...), append(good, 0), a, {}} {
		if _, err := decodeSums(bad, q, 0, 2); err == nil {
			f.Errorf("bad result %d passes", i)
		}
		f.Add(bad)
	}
	f.Add(good)
	f.Add(bytes.Repeat([]byte{255}, 40))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := decodeSums(b, q, 0, 2)
		if err != nil {
			return
		}
		if again := append(encodeSums(all[0]), encodeSums(all[1])...); !bytes.Equal(again, b) {
			t.Fatalf("%x is written as %x", b, again)
		}
	})
}

// Any text is either rejected or parsed to a request that encodes to the same text.
func FuzzParse(f *testing.F) {
	f.Add(`{"rows":3,"landmarks":[1,0],"classes":[0],"at":[0.1,-0],"step":[1,2],"of":[0]}`)
	f.Add(`{"rows":-1}`)
	f.Add(`{"rows":1,"more":2} 3`)
	f.Fuzz(func(t *testing.T, text string) {
		q, err := parseRequest([]byte(text))
		if err != nil {
			return
		}
		b := musttest.Get(json.Marshal(q))(t)
		if again, err := parseRequest(b); err != nil || again.Rows != q.Rows || len(again.Directions) != len(q.Directions) {
			t.Fatalf("%q reads as %+v and then as %+v, error %v", text, q, again, err)
		}
	})
}
