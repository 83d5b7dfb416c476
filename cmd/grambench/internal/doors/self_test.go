package doors

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// selfCases are doors with the defects that the program is to find.
func selfCases() map[string]testCase {
	return map[string]testCase{
		"self.Error": {run: func(p *program) {
			p.good("of good arguments", func() error { return errors.New("self: refused") })
		}},
		"self.Fault": {run: func(p *program) {
			p.any("that reads beyond a slice", func() error { return readBeyond(p) })
		}},
		"self.Hangs": {run: func(p *program) {
			p.any("that waits for ever", func() error { time.Sleep(time.Hour); return nil })
		}},
		"self.Index": {run: func(p *program) {
			p.any("that looks beyond a slice", func() error { return fmt.Errorf("%d", []int{1}[1+p.IntN(2)]) })
		}},
		"self.NaN":    {run: func(p *program) { p.quiet("of NaN", func() { finite(p, "values", poisoned(p, 3)) }) }},
		"self.Silent": {run: func(p *program) { p.bad("of bad arguments", func() error { return nil }) }},
		"self.Thread": {run: func(p *program) {
			p.any("that panics on a goroutine", func() error {
				go func() { panic(ownPanic) }()
				time.Sleep(time.Hour)
				return nil
			})
		}},
		"self.Undocumented": {run: func(p *program) {
			p.bad("that panics", func() error { panic("self: found 1, expected 2") })
		}},

		"self.Fine": {run: func(p *program) {
			p.good("of good arguments", func() error { return nil })
			p.bad("of bad ones", func() error { return errors.New("self: found 1") })
		}},
		"self.Documented": {panics: true, run: func(p *program) {
			p.bad("that panics", func() error { panic("self: found 1, expected 2") })
		}},
		"self.Passes": {run: func(p *program) { p.bad("whose caller panics", func() error { panic(ownPanic) }) }},
	}
}

// readBeyond reads as assembly would: the value behind a slice, or the one before it.
func readBeyond(p *program) error {
	s := guarded[float32](p, 1024) // a page
	first := unsafe.Pointer(unsafe.SliceData(s))
	sum := *(*float32)(unsafe.Add(first, 4*1024)) + *(*float32)(unsafe.Add(first, -4))
	return fmt.Errorf("self: %v", sum)
}

// TestProgram checks that the program finds each kind of defect, and nothing where there is none.
func TestProgram(t *testing.T) {
	if *child != "" {
		t.Skip("in a process of TestDoors")
	}
	found := map[string][]string{}
	report := func(format string, a ...any) {
		text := fmt.Sprintf(format, a...)
		for name := range selfCases() {
			if strings.Contains(text, name) {
				found[name] = append(found[name], text)
				return
			}
		}
		t.Error(text)
	}
	defer func(all uint64, patient time.Duration, one string) {
		*seeds, *patience, *only = all, patient, one
	}(*seeds, *patience, *only)
	*seeds, *patience, *only = 1, 10*time.Second, ""
	list := jobs("self", selfCases())
	for from := 0; from < len(list); {
		from = runProcess(report, "self", list, from)
	}
	for name, want := range map[string]string{
		"self.Error": "expected no error", "self.Fault": "beyond every slice", "self.Hangs": "didn't return",
		"self.Index": "index out of range", "self.NaN": "is NaN",
		"self.Silent": "expected one", "self.Thread": "ended the process", "self.Undocumented": "panicked",
		"self.Fine": "", "self.Documented": "", "self.Passes": "",
	} {
		if name == "self.Fault" && runtime.GOOS != "linux" {
			continue // no guarded memory
		}
		texts := strings.Join(found[name], "\n")
		if want == "" && texts != "" || !strings.Contains(texts, want) {
			t.Errorf("%s: the program reports %q, expected %q", name, texts, want)
		}
	}
}
