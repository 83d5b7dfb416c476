//go:build campaign

// Package campaign runs fault tests for hours: file operations fail, processes are killed, files
// are damaged, inputs are random and hostile, and time and memory are limited.
//
//	go test -tags campaign -run TestCampaign -timeout 0 ./campaign -part kill,fuzz -time 1h
//
// A part of the campaign numbers its cases. The seed of a case is -seed and the case's number, so
// that -case repeats it. With -write the results go to results.tsv and the table in
// docs/reliability.md. TestPlanted checks that each part finds a planted fault.
package campaign

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gramengine/gram/internal/musttest"
)

var (
	only     = flag.String("part", "", "run the parts `NAME,…`")
	seed     = flag.Uint64("seed", 1, "seed `N` of every random choice")
	limit    = flag.Duration("time", 0, "run each part for the time `D`; default short or long by -short")
	caseFlag = flag.Int64("case", -1, "run case `N` alone")
	record   = flag.Bool("write", false, "write results.tsv and docs/reliability.md")
)

// root is the folder of the repository. binaries is the folder of built programs, which all parts
// share.
var (
	root, _  = filepath.Abs(filepath.Join("..", ".."))
	binaries string
)

// part is a kind of fault test, such as fuzz.
type part struct {
	name, about string
	short, long time.Duration

	// prepare returns the function that runs a case. It returns false, and does nothing, if there
	// is no such case.
	prepare func(t *trial) func(number int64) bool
}

var parts = []part{
	faultsPart, killPart, flipsPart, fuzzPart, accuracyPart, solverPart, concurrencyPart, memoryPart, growthPart,
}

// trial is a run of a part: the test, the generator of the current case, and counts.
type trial struct {
	*testing.T
	scratch string // scratch folder of the part
	r       *rand.Rand
	number  int64
	result
}

func (t *trial) find(format string, args ...any) {
	t.Helper()
	t.found++
	t.Errorf("FOUND case %d: %s", t.number, fmt.Sprintf(format, args...))
}

func generator(number int64) *rand.Rand { return rand.New(rand.NewPCG(*seed, uint64(number))) }

// children lists the functions that run in child processes of the test binary.
var children = map[string]func(args []string){"measure": measure, "index": writeIndex}

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "child" {
		children[os.Args[2]](os.Args[3:])
		return
	}
	os.Exit(m.Run())
}

func TestCampaign(t *testing.T) {
	for name := range strings.SplitSeq(*only, ",") {
		if name != "" && !slices.ContainsFunc(parts, func(p part) bool { return p.name == name }) {
			t.Fatalf("no part %q", name)
		}
	}
	binaries = t.TempDir()
	for _, p := range parts {
		if *only == "" || slices.Contains(strings.Split(*only, ","), p.name) {
			t.Run(p.name, p.run)
		}
	}
}

func newTrial(t *testing.T) *trial {
	r := result{counts: map[string]int64{}, largest: map[string]float64{}}
	return &trial{T: t, scratch: t.TempDir(), r: generator(0), result: r}
}

// run runs cases until the part's time is over, but at least one.
func (p part) run(test *testing.T) {
	t := newTrial(test)
	duration := p.long
	if testing.Short() {
		duration = p.short
	}
	if *limit > 0 {
		duration = *limit
	}
	one, begin := p.prepare(t), time.Now()
	for t.number = max(*caseFlag, 0); t.number == 0 || time.Since(begin) < duration; t.number++ {
		if t.r = generator(t.number); !one(t.number) || *caseFlag >= 0 {
			break
		}
	}
	t.seconds = time.Since(begin).Seconds()
	t.Logf("%s, seed %d: %s; %d found, %.0f s", p.about, *seed, t.tried(), t.found, t.seconds)
	if *record {
		t.write(p)
	}
}

type result struct {
	counts  map[string]int64
	largest map[string]float64
	found   int
	seconds float64
}

func (r *result) count(what string, n int64) { r.counts[what] += n }

func (r *result) raise(what string, v float64) {
	if old, known := r.largest[what]; !known || !(v <= old) {
		r.largest[what] = v
	}
}

func (r *result) tried() string {
	var out []string
	for _, what := range slices.Sorted(maps.Keys(r.counts)) {
		out = append(out, fmt.Sprintf("%d %s", r.counts[what], what))
	}
	for _, what := range slices.Sorted(maps.Keys(r.largest)) {
		out = append(out, fmt.Sprintf("%s %.3g", what, r.largest[what]))
	}
	return strings.Join(out, "; ")
}

// results is the path of a tab-separated table. page contains the same table in Markdown.
var results, page = "results.tsv", filepath.Join(root, "docs", "reliability.md")

// write replaces the part's row in results and the table in page.
func (t *trial) write(p part) {
	commit := musttest.Get(exec.Command("git", "rev-parse", "--short=12", "HEAD").Output())(t)
	row := fmt.Sprintf("%s\t%s\t%s\t%d\t%.0f s\t%d\t%s\t%s", p.name, p.about, t.tried(), t.found, t.seconds, *seed,
		time.Now().UTC().Format(time.DateOnly), bytes.TrimSpace(commit))
	before, _, after, rows := readPage(t)
	at := slices.IndexFunc(rows, func(row string) bool { return strings.HasPrefix(row, p.name+"\t") })
	if at < 0 {
		at, rows = len(rows), append(rows, "")
	}
	rows[at] = row
	musttest.NoError(t, os.WriteFile(results, []byte(strings.Join(rows, "\n")+"\n"), 0o666))
	musttest.NoError(t, os.WriteFile(page, []byte(before+markdown(rows)+after), 0o666))
}

func markdown(rows []string) string {
	lines := slices.Insert(slices.Clone(rows), 1, strings.Repeat("\t---", strings.Count(rows[0], "\t")+1)[1:])
	return "| " + strings.ReplaceAll(strings.Join(lines, " |\n| "), "\t", " | ") + " |\n"
}

// readPage returns the table in page, the text before and after it, and the rows of results.
func readPage(t testing.TB) (before, table, after string, rows []string) {
	text := string(musttest.Get(os.ReadFile(page))(t))
	from := strings.Index(text, "| part |")
	to := from + strings.Index(text[max(from, 0):], "\n\n") + 1
	if from < 0 || to <= from {
		t.Fatalf("%s has no table of parts", page)
	}
	rows = strings.Split(strings.TrimSpace(string(musttest.Get(os.ReadFile(results))(t))), "\n")
	return text[:from], text[from:to], text[to:], rows
}

// The table in page matches results.tsv.
func TestPage(t *testing.T) {
	if _, table, _, rows := readPage(t); table != markdown(rows) {
		t.Errorf("%s has\n%s, expected\n%s", page, table, markdown(rows))
	}
}

// must ends a child process if err isn't nil.
func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
