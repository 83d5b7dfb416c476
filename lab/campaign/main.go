// Command campaign tries for hours what tests try for seconds: it makes operations on files fail, kills the program,
// damages what it stores, and gives it random and hostile inputs, within bounds of time and memory.
//
//	campaign [-only PART,…] [-short] [-seed N] [-time D] [-case N] [-fresh]
//	campaign report     writes docs/reliability.md of what was found
//	campaign selftest   plants a fault for each part in a copy of the repository, which the part must find
//
// Each part is a file with a function that prepares one numbered case after the other. A case draws from a generator
// of its own, of the seed and its number, so that any can be run again. What was tried is added to campaign/results,
// which is in git, so that any checkout goes on there; -fresh begins anew. What -short tries goes to build/campaign.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// part is one way of trying the program.
type part struct {
	name, about string
	short, long time.Duration

	// prepare returns what runs a case. That returns errDone where there is no such case any more, and other errors
	// where it couldn't be run; what the program did wrong are findings.
	prepare func(ctx context.Context, t *trial) (func(ctx context.Context, number int64) error, error)
}

// results is the folder of what was tried, of the repository.
const results = "lab/campaign/results"

var errDone = errors.New("no case is left")

var parts = []part{
	faultsPart, powerPart, flipsPart, fuzzPart, accuracyPart, solverPart, concurrencyPart,
	levelsPart, memoryPart, storesPart, growthPart, dependenciesPart, targetsPart,
}

// children are what the campaign runs as processes of its own.
var children = map[string]func(ctx context.Context, args []string) error{}

// trial is what parts share: where they are, the generator of the case, and what they find.
type trial struct {
	root    string // of the repository
	scratch string // a folder of this run's own, where programs that were built are shared by parts
	seed    uint64
	short   bool
	r       *rand.Rand
	*result
}

func main() { os.Exit(run()) }

// Exit statuses other than 0, where nothing was found.
const (
	failed   = 1
	findings = 3
)

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := command(ctx, os.Args[1:])
	var found *foundError
	switch {
	case errors.As(err, &found):
		fmt.Fprintln(os.Stderr, "campaign:", err)
		return findings
	case err != nil:
		fmt.Fprintln(os.Stderr, "campaign:", err)
		return failed
	}
	return 0
}

type foundError struct{ n int }

func (e *foundError) Error() string { return fmt.Sprintf("%d findings", e.n) }

func command(ctx context.Context, args []string) error {
	if len(args) > 1 && args[0] == "child" {
		return children[args[1]](ctx, args[2:])
	}
	out, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	root := strings.TrimSpace(string(out))
	if given := os.Getenv("GRAM_ROOT"); given != "" { // a copy that isn't under version control
		root, err = given, nil
	}
	if err != nil {
		return fmt.Errorf("the repository's folder: %w", err)
	}
	f := flag.NewFlagSet("campaign", flag.ExitOnError)
	only := f.String("only", "", "run the parts `NAME,…`")
	short := f.Bool("short", false, "take three minutes in all")
	seed := f.Uint64("seed", 1, "seed `N` of every random choice")
	limit := f.Duration("time", 0, "take the time `D` for each part")
	one := f.Int64("case", -1, "run case `N` alone, and add it to no results")
	fresh := f.Bool("fresh", false, "begin anew instead of going on")
	if err := f.Parse(args); err != nil {
		return err
	}
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	switch f.Arg(0) {
	case "report":
		return writeReport(root)
	case "selftest":
		return selftest(ctx, root, chosen)
	case "":
	default:
		return fmt.Errorf("command %q, expected none, report or selftest", f.Arg(0))
	}
	scratch, err := os.MkdirTemp("", "gram-campaign-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	found := 0
	for _, p := range chosen {
		o := options{scratch: scratch, seed: *seed, limit: *limit, short: *short, one: *one, fresh: *fresh}
		n, err := p.run(ctx, root, o)
		if found += n; err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	if found > 0 {
		return &foundError{found}
	}
	return nil
}

func choose(only string) ([]part, error) {
	if only == "" {
		return parts, nil
	}
	var chosen []part
	for name := range strings.SplitSeq(only, ",") {
		at := slices.IndexFunc(parts, func(p part) bool { return p.name == name })
		if at < 0 {
			return nil, fmt.Errorf("no part %q", name)
		}
		chosen = append(chosen, parts[at])
	}
	return chosen, nil
}

type options struct {
	scratch string

	seed  uint64
	limit time.Duration
	one   int64
	short bool
	fresh bool
}

// run runs a part for its time, and returns the number of findings.
func (p part) run(ctx context.Context, root string, o options) (int, error) {
	file := filepath.Join(root, results, p.name+".json")
	if o.short {
		file = filepath.Join(root, "build", "campaign", p.name+".json")
	}
	res, err := openResult(root, file, o)
	if err != nil {
		return 0, err
	}
	t := &trial{root: root, scratch: o.scratch, seed: o.seed, short: o.short, result: res}
	t.r = rand.New(rand.NewPCG(o.seed, 0))
	limit := p.long
	if o.short {
		limit = p.short
	}
	if o.limit > 0 {
		limit = o.limit
	}
	fmt.Printf("%s: %s, seed %d, from case %d, for %v\n", p.name, p.about, o.seed, res.Next, limit)
	one, err := p.prepare(ctx, t)
	if err != nil {
		return 0, err
	}
	before := len(res.Findings)
	err = t.cases(ctx, one, limit, o.one, file)
	if errors.Is(err, errDone) {
		err, t.Next = nil, 0 // the next run tries all again, as the program is then
	}
	fmt.Printf("%s: %s\n", p.name, res.line())
	if o.one < 0 {
		err = errors.Join(err, res.save(file))
	}
	return len(res.Findings) - before, err
}

// cases runs one case after the other until the time is over, and at least one.
func (t *trial) cases(
	ctx context.Context, one func(context.Context, int64) error, limit time.Duration, number int64, file string,
) error {
	begin, saved := time.Now(), time.Now()
	seconds := t.Seconds
	if number >= 0 {
		t.Next = number
	}
	for {
		t.r = rand.New(rand.NewPCG(t.seed, uint64(t.Next)))
		if err := one(ctx, t.Next); err != nil {
			return errors.Join(err, ctx.Err())
		}
		t.Next++
		t.Seconds = seconds + time.Since(begin).Seconds()
		if number >= 0 || ctx.Err() != nil || time.Since(begin) > limit {
			return ctx.Err()
		}
		if time.Since(saved) > 10*time.Second {
			saved = time.Now()
			if err := t.save(file); err != nil {
				return err
			}
		}
	}
}
