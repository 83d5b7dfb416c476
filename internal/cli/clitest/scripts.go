// Package clitest contains code for tests of command-line programs: script commands, signals to a
// running program, and CPU time.
package clitest

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// RunScripts runs scripts with the commands of this package, each script in its own folder.
func RunScripts(t *testing.T, p testscript.Params) {
	// Under nohup, child processes would ignore SIGHUP, too. Notify resets this.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	p.Cmds = map[string]func(*testscript.TestScript, bool, []string){
		"exits": checkExitStatus, "npy": npyToText, "json": checkJSON, "only": checkFolder, "positive": checkJSONPositive,
		"close": checkClose, "below": checkJSONBelow,
	}
	p.RequireExplicitExec, p.RequireUniqueNames = true, true
	testscript.Run(t, p)
}

// checkExitStatus implements "exits STATUS COMMAND ARG...", which runs a command and checks its
// exit status.
func checkExitStatus(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var status *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &status) {
		got = status.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status is %d, want %d", got, want)
	}
}

// npyToText implements "npy FILE OUT", which reads a NumPy file, independently of the code that
// wrote the file, and writes its shape and values as text.
func npyToText(ts *testscript.TestScript, _ bool, args []string) {
	data := ts.ReadFile(args[0])
	if len(data) < 10 || data[:8] != "\x93NUMPY\x01\x00" {
		ts.Fatalf("%s is not a NumPy file of version 1.0", args[0])
	}
	m := regexp.MustCompile(`^\{'descr': '<f4', 'fortran_order': False, 'shape': \((\d+), (\d+)\), \} *\n`).
		FindStringSubmatch(data[10:])
	if m == nil {
		ts.Fatalf("%s has no header for a C-ordered <f4 matrix", args[0])
	}
	length := 10 + int(binary.LittleEndian.Uint16([]byte(data[8:10])))
	rows, _ := strconv.Atoi(m[1])
	cols, _ := strconv.Atoi(m[2])
	if length != 10+len(m[0]) || len(data) != length+4*rows*cols {
		ts.Fatalf("%s: header has %d bytes, but declares %d; file has %d bytes for %d x %d values", args[0],
			10+len(m[0]), length, len(data), rows, cols)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d %d\n", rows, cols)
	for i := range rows {
		for j := range cols {
			v := math.Float32frombits(binary.LittleEndian.Uint32([]byte(data[length+4*(i*cols+j):])))
			fmt.Fprintf(&b, "%v%c", v, map[bool]rune{false: ' ', true: '\n'}[j == cols-1])
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(b.String()), 0o644))
}

// checkJSON implements "json FILE PATH VALUE", which checks that a file has one JSON object with
// the value (formatted by fmt.Sprint) at a path such as rows.0.isa. If VALUE is missing, the path
// must exist.
func checkJSON(ts *testscript.TestScript, _ bool, args []string) {
	var v any
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(d.Decode(&v))
	if d.More() {
		ts.Fatalf("more than one JSON value")
	}
	for step := range strings.SplitSeq(args[1], ".") {
		ok := false
		switch at := v.(type) {
		case map[string]any:
			v, ok = at[step]
		case []any:
			if i, err := strconv.Atoi(step); err == nil && i < len(at) {
				v, ok = at[i], true
			}
		}
		if !ok {
			ts.Fatalf("nothing at %s of %s", step, args[1])
		}
	}
	if len(args) > 2 && fmt.Sprint(v) != args[2] {
		ts.Fatalf("%s is %v, want %s", args[1], v, args[2])
	}
}

// checkFolder implements "only FOLDER NAME...", which checks that a folder contains exactly the
// named files, including hidden files.
func checkFolder(ts *testscript.TestScript, _ bool, args []string) {
	list, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	if got, want := strings.Join(names, " "), strings.Join(args[1:], " "); got != want {
		ts.Fatalf("%s contains %q, want %q", args[0], got, want)
	}
}

// checkJSONPositive implements "positive FILE KEY...", which checks that each object in the list
// "rows" of a JSON file has a finite positive number for each key.
func checkJSONPositive(ts *testscript.TestScript, _ bool, args []string) {
	var report struct{ Rows []map[string]any }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &report))
	if len(report.Rows) == 0 {
		ts.Fatalf("no rows")
	}
	for i, row := range report.Rows {
		for _, key := range args[1:] {
			if v, ok := row[key].(float64); !ok || !(v > 0 && v < math.MaxFloat64) {
				ts.Fatalf("row %d (%v %v): %s must be a positive number, got %v", i, row["isa"], row["kernel"], key, row[key])
			}
		}
	}
}

// checkClose implements "close FILE FILE TOLERANCE", which checks that two files have the same
// fields, with numbers equal within a tolerance.
func checkClose(ts *testscript.TestScript, _ bool, args []string) {
	a, b := strings.Fields(ts.ReadFile(args[0])), strings.Fields(ts.ReadFile(args[1]))
	tolerance, err := strconv.ParseFloat(args[2], 64)
	ts.Check(err)
	if len(a) != len(b) {
		ts.Fatalf("%d fields in %s, %d in %s", len(a), args[0], len(b), args[1])
	}
	for i := range a {
		x, errX := strconv.ParseFloat(a[i], 64)
		y, errY := strconv.ParseFloat(b[i], 64)
		if errX != nil || errY != nil {
			if a[i] != b[i] {
				ts.Fatalf("field %d is %q and %q", i+1, a[i], b[i])
			}
		} else if !(math.Abs(x-y) <= tolerance) {
			ts.Fatalf("field %d is %v and %v", i+1, x, y)
		}
	}
}

// checkJSONBelow implements "below FILE KEY BOUND", which checks that the number for KEY in a JSON
// object is positive and at most the number for the key BOUND.
func checkJSONBelow(ts *testscript.TestScript, _ bool, args []string) {
	var v map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &v))
	x, _ := v[args[1]].(float64)
	bound, _ := v[args[2]].(float64)
	if !(x > 0 && x <= bound) {
		ts.Fatalf("%s is %v, but must be positive and at most %s, which is %v", args[1], v[args[1]], args[2], v[args[2]])
	}
}
