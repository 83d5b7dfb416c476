package doors

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

var (
	seeds = flag.Uint64("doors.seeds", 12, "how many seeds TestDoors tries at each door")
	only  = flag.String("doors.only", "", "the door that TestDoors tries, such as sparse.CSR.Row; all if empty")
	child = flag.String("doors.child", "", "for TestDoors itself: package and first job of a process of its own")
)

// digits are what calls of one kind differ in.
var digits = regexp.MustCompile(`[0-9+-]+`)

// patience is how long one call may take before it counts as one that doesn't return.
var patience = flag.Duration("doors.patience", time.Minute, "how long a call may take")

// door cases: run makes the calls at one door from what a seed draws.
type testCase struct {
	run func(p *program)

	// panics says that the door's comment makes some arguments the caller's duty: it answers them
	// with a panic that says what was found and expected.
	panics bool

	// index says that the door looks one element up by its number, as a slice does, and panics as a
	// slice does where there is none.
	index bool
}

// ownPanic is what functions panic with that cases hand over: where a door calls them on the
// caller's goroutine it may let that pass. What no caller could recover from, a panic on another
// goroutine, ends the process.
const ownPanic = "doors: a function of the caller's panics"

// program is one run of a case.
type program struct {
	*rand.Rand
	ctx    context.Context
	door   string
	what   testCase
	before func(call string)             // is told each call before it is made
	report func(format string, a ...any) // is told each failure
	memory guards
	wait   []func() // run at the end
}

// runCase runs the case of a door with one seed.
func runCase(door string, what testCase, seed uint64, before func(string), report func(string, ...any)) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	h := uint64(14695981039346656037) // so that doors draw differently
	for _, c := range []byte(door) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	p := &program{Rand: rand.New(rand.NewPCG(seed, h)), ctx: ctx, door: door, what: what, before: before,
		report: report}
	defer p.memory.free()
	defer func() {
		for _, f := range p.wait {
			f()
		}
		if r := recover(); r != nil {
			report("%s, seed %d: the case itself panicked: %v\n%s", door, seed, r, debug.Stack())
		}
	}()
	what.run(p)
}

// attempt makes a call and returns its error, or as an error what it panicked with, which it must
// be allowed to.
func (p *program) attempt(call string, f func() error) (err error, refused bool) {
	p.before(call)
	defer func() {
		debug.SetPanicOnFault(false)
		r := recover()
		if r == nil {
			return
		}
		message, stack := fmt.Sprint(r), debug.Stack()
		if fault, ok := r.(interface{ Addr() uintptr }); ok {
			message = fmt.Sprintf("memory at %#x, beyond every slice", fault.Addr())
		}
		_, crash := r.(runtime.Error)
		switch {
		case !crash && p.what.panics && strings.Contains(message, ": "):
		case r == any(ownPanic): // of a function of the caller's, on the caller's own goroutine
		case crash && p.what.index && (strings.Contains(message, "index out of range") ||
			strings.Contains(message, "slice bounds out of range")):
		default:
			p.report("%s: %s: panicked: %s\n%s", p.door, call, message, frames(stack))
		}
		err, refused = fmt.Errorf("%s", message), true
	}()
	debug.SetPanicOnFault(true)
	err = f()
	return err, err != nil
}

// frames shortens a stack to the places in the packages under test where it happened.
func frames(stack []byte) string {
	var places []string
	for line := range strings.Lines(string(stack)) {
		if line = strings.TrimSpace(line); strings.Contains(line, ".go:") && !strings.Contains(line, "/doors/") &&
			!strings.Contains(line, "/src/runtime/") && !strings.Contains(line, "/src/testing/") {
			places = append(places, "\t"+line)
		}
	}
	return strings.Join(places[:min(len(places), 5)], "\n")
}

// good makes a call with arguments that the door takes.
func (p *program) good(call string, f func() error) bool {
	err, refused := p.attempt(call, f)
	if refused {
		p.report("%s: %s: %v, expected no error", p.door, call, err)
	}
	return !refused
}

// bad makes a call with arguments that the door refuses.
func (p *program) bad(call string, f func() error) {
	if err, refused := p.attempt(call, f); !refused {
		p.report("%s: %s: no error, expected one", p.door, call)
	} else if err.Error() == "" {
		p.report("%s: %s: an error that says nothing", p.door, call)
	}
}

// any makes a call with arguments that the door may take or refuse, but may not fail at.
func (p *program) any(call string, f func() error) bool {
	_, refused := p.attempt(call, f)
	return !refused
}

// quiet is any for doors without an error.
func (p *program) quiet(call string, f func()) bool {
	return p.any(call, func() error { f(); return nil })
}

// fails reports a wrong result.
func (p *program) fails(format string, a ...any) {
	p.report("%s: %s", p.door, fmt.Sprintf(format, a...))
}

// finite checks that a result has no NaN and no infinity.
func finite[T float32 | float64](p *program, call string, values []T) {
	for i, v := range values {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			p.fails("%s: value %d is %v without an error", call, i, v)
			return
		}
	}
}

// chance is true once in n times.
func (p *program) chance(n int) bool { return p.IntN(n) == 0 }

func pick[T any](p *program, from ...T) T { return from[p.IntN(len(from))] }

// job is a door and a seed.
type job struct {
	door string
	seed uint64
}

func jobs(pkg string, table map[string]testCase) []job {
	var list []job
	for _, door := range slices.Sorted(maps.Keys(table)) {
		if strings.HasPrefix(door, pkg+".") && (*only == "" || door == *only) {
			for seed := range *seeds {
				list = append(list, job{door, seed})
			}
		}
	}
	return list
}

// TestDoors runs all cases, those of a package in a process of their own: whatever ends it is
// reported with door, call and seed, and the next door has its turn.
func TestDoors(t *testing.T) {
	table := cases()
	if *child != "" {
		if strings.HasPrefix(*child, "self,") {
			table = selfCases()
		}
		runJobs(table)
		return
	}
	if testing.Short() {
		*seeds = min(*seeds, 3)
	}
	for _, path := range packages {
		pkg := path[strings.LastIndex(path, "/")+1:]
		t.Run(pkg, func(t *testing.T) {
			list := jobs(pkg, table)
			for from := 0; from < len(list); {
				from = runProcess(t.Errorf, pkg, list, from)
			}
		})
	}
}

// runJobs is TestDoors in the other process. It writes a line for each job, call and failure.
func runJobs(table map[string]testCase) {
	pkg, first, _ := strings.Cut(*child, ",")
	from, _ := strconv.Atoi(first)
	out := os.NewFile(3, "report")
	for i, j := range jobs(pkg, table)[from:] {
		fmt.Fprintf(out, "> %d\n", from+i)
		runCase(j.door, table[j.door], j.seed,
			func(call string) { fmt.Fprintf(out, ". %q\n", call) },
			func(format string, a ...any) { fmt.Fprintf(out, "! %q\n", fmt.Sprintf(format, a...)) })
	}
	fmt.Fprintln(out, "end")
}

// runProcess runs jobs from one on in a process, and returns where to go on.
func runProcess(report func(format string, a ...any), pkg string, list []job, from int) int {
	r, w, err := os.Pipe()
	if err != nil {
		report("%v", err)
		return len(list)
	}
	defer r.Close()
	c := exec.Command(os.Args[0], "-test.run=^TestDoors$", fmt.Sprintf("-doors.child=%s,%d", pkg, from),
		fmt.Sprintf("-doors.seeds=%d", *seeds), "-doors.only="+*only, fmt.Sprint("-doors.patience=", *patience))
	c.ExtraFiles = []*os.File{w}
	var output bytes.Buffer
	c.Stdout, c.Stderr = &output, &output
	if err := c.Start(); err != nil {
		report("%v", err)
		return len(list)
	}
	w.Close()
	var hung atomic.Bool
	watch := time.AfterFunc(max(*patience, time.Minute), func() { // to start takes long where much else runs
		hung.Store(true)
		c.Process.Signal(syscall.SIGQUIT) // the runtime writes all stacks
	})
	at, call, ended, failures := from, "", false, map[string]int{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		watch.Reset(*patience)
		kind, text, _ := strings.Cut(lines.Text(), " ")
		switch kind {
		case ">":
			at, _ = strconv.Atoi(text)
			call = ""
		case ".":
			call, _ = strconv.Unquote(text)
		case "!":
			message, _ := strconv.Unquote(text)
			kind := list[at].door + ": " + digits.ReplaceAllString(call, "#")
			if failures[kind]++; failures[kind] == 1 { // one of a kind is enough
				report("seed %d: %s", list[at].seed, shorten(message, 40))
			}
		case "end":
			ended = true
		}
	}
	watch.Stop()
	err = c.Wait()
	if ended {
		if err != nil {
			report("package %s: %v\n%s", pkg, err, shorten(output.String(), 60)) // such as what the race detector says
		}
		return len(list)
	}
	how := "ended the process"
	if hung.Load() {
		how = fmt.Sprintf("didn't return within %v", *patience)
	}
	report("%s, seed %d: %s: %s: %v\n%s", list[at].door, list[at].seed, call, how, err, shorten(output.String(), 60))
	for next := at; next < len(list); next++ {
		if list[next].door != list[at].door {
			return next
		}
	}
	return len(list)
}

func shorten(text string, lines int) string {
	all := strings.SplitAfter(text, "\n")
	return strings.Join(all[:min(len(all), lines)], "")
}

// FuzzDoors runs cases in this process, where the fuzzer reports what ends it.
func FuzzDoors(f *testing.F) {
	table := cases()
	names := slices.Sorted(maps.Keys(table))
	for i := range names {
		f.Add(uint16(i), uint64(1))
	}
	f.Fuzz(func(t *testing.T, which uint16, seed uint64) {
		door := names[int(which)%len(names)]
		runCase(door, table[door], seed, func(string) {}, func(format string, a ...any) { t.Errorf(format, a...) })
	})
}
